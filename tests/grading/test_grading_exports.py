"""Grades and feedback for Canvas, Moodle, Gradescope and Classroom 50: merged into their files, nothing overwritten."""

import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from coursework.grading import gather
from coursework.grading.extras import late, overrides
from coursework.grading.grade import empty_result
from coursework.grading.intake import people, slim
from coursework.grading.lms import exports, handback
from coursework.grading.lms.tables import Merge, Table

pytestmark = pytest.mark.quick

EXERCISE, OTHER = "07_vector_add", "08_matmul"
MOST = empty_result("x", EXERCISE, "graded")["max_points"]


def row_of(student, points, status="graded", exercise=EXERCISE, **who):
    result = empty_result(student, exercise, status) | {"points": points, "key": student, "who": who}
    result["tasks"][0] |= {"points": min(points, result["tasks"][0]["max_points"]), "text": "one index out"}
    (row,) = late.charge(None, overrides.apply([result], ())[0], {})
    return row | {"points": points, "final": points}


@pytest.fixture
def out(tmp_path):
    rows = [
        row_of("Ant, Anna", 20, email=["anna@x"]), row_of("ben", 7), row_of("Zoë Zed", 3.5), row_of("lost", 1),
        row_of("olga", 9), row_of("never", 0, "missing"), row_of("broken", 0, "unreadable: empty"), row_of("later", 0, "not graded"),
    ]  # fmt: skip
    (tmp_path / "grades").mkdir()
    (tmp_path / "grades" / "grades.json").write_text(json.dumps(rows))
    return tmp_path / "grades"


CANVAS = f"""Student,ID,SIS User ID,SIS Login ID,Section,Exercise 07 (4711),Essay (12),Exercise 07 Current Score
,,,,,Manual Posting,,
    Points Possible,,,,,{MOST},10,(read only)
"Ant, Anna",1,a1,anna@x,S1,,9,0
"Bee, Ben",2,b2,ben,S1,3,8,0
"Zed, Zoe",3,s3,zz,S1,,,0
"Other, Olga",4,o4,olga,S1,EX,,0
"Never, Nina",5,n5,never,S1,,,0
"Broken, Bea",6,n6,broken,S1,,,0
"Later, Lea",7,n7,later,S1,,,0
"Stranger, Sam",8,n8,sam,S1,,,0
"Student, Test",9,,abc,S1,,,0
"""


def run(*arguments, clock=None):
    """(exit status of an export,) and what it wrote to disk is looked at by the test."""
    with pytest.raises(SystemExit) as ended:
        exports.main([str(a) for a in arguments], clock)
    return ended.value.code


def column(path, place=5):
    return [row[place] for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")))]


# Canvas ---------------------------------------------------------------------------------------------------------------


def test_canvas_gets_its_file_back_with_empty_cells_filled_and_nothing_else_touched(out, tmp_path, capsys):
    (tmp_path / "c.csv").write_text("\ufeff" + CANVAS, encoding="utf-8")
    assert run(out, "--canvas", tmp_path / "c.csv") == 1  # somebody with a grade is not in it
    written = out / "export" / "canvas.csv"
    assert column(written) == [
        "Exercise 07 (4711)",
        "Manual Posting",
        str(MOST),
        "20",
        "3",
        "3.5",
        "EX",
        "",
        "",
        "",
        "",
        "",
    ]
    before, after = (
        list(csv.reader(io.StringIO(CANVAS))),
        list(csv.reader(io.StringIO(written.read_text(encoding="utf-8-sig")))),
    )
    assert [r[:5] + r[6:] for r in after] == [r[:5] + r[6:] for r in before]
    assert written.read_text(encoding="utf-8").startswith("\ufeff")
    said = capsys.readouterr()
    assert "2 grades written, 0 there already." in said.out
    assert "ben, 07_vector_add: 3 stays, entered there; graded here 7" in said.out
    assert "olga, 07_vector_add: EX stays, entered there; graded here 9" in said.out
    assert "never, 07_vector_add: missing, no grade written" in said.out
    assert said.err == "not in that file: lost\n"


def test_a_grade_that_we_wrote_may_change_and_one_that_was_entered_since_may_not(out, tmp_path, capsys):
    (tmp_path / "c.csv").write_text(CANVAS)
    run(out, "--canvas", tmp_path / "c.csv")
    back = (
        (out / "export" / "canvas.csv").read_text().replace(",20,9,", ",20.00,9,").replace(",3.5,,", ",4,,")
    )  # as Canvas exports
    (tmp_path / "c.csv").write_text(back)
    rows = json.loads((out / "grades.json").read_text())
    for row in rows:
        row["final"] += 1
    (out / "grades.json").write_text(json.dumps(rows))
    run(out, "--canvas", tmp_path / "c.csv")
    assert column(out / "export" / "canvas.csv")[3:6] == ["21", "3", "4"]
    run(out, "--canvas", out / "export" / "canvas.csv")
    assert "0 grades written, 1 there already." in capsys.readouterr().out


def test_nothing_handed_in_is_0_only_where_that_is_asked_and_not_graded_never(out, tmp_path):
    (tmp_path / "c.csv").write_text(CANVAS)
    run(out, "--canvas", tmp_path / "c.csv", "--zero")
    assert column(out / "export" / "canvas.csv")[7:11] == ["0", "0", "", ""]


def test_other_points_are_refused_or_converted(out, tmp_path, capsys):
    (tmp_path / "c.csv").write_text(CANVAS.replace(f",,{MOST},10,", ",,100,10,").replace(f",,,,,{MOST},", ",,,,,100,"))
    assert run(out, "--canvas", tmp_path / "c.csv") == 2
    assert f"07_vector_add has {MOST} points, and the file gives 100" in capsys.readouterr().err
    assert not (out / "export").exists()
    assert run(out, "--canvas", tmp_path / "c.csv", "--scale") == 1
    assert column(out / "export" / "canvas.csv")[3] == f"{round(2000 / MOST, 2):g}"


def test_canvas_asks_which_column(out, tmp_path, capsys):
    (tmp_path / "c.csv").write_text(CANVAS.replace("Exercise 07", "Week one"))
    assert run(out, "--canvas", tmp_path / "c.csv") == 2
    assert "0 columns fit 07_vector_add: none. Say which with --column" in capsys.readouterr().err
    assert run(out, "--canvas", tmp_path / "c.csv", "--column", "07=Week one (4711)") == 1
    assert column(out / "export" / "canvas.csv")[3] == "20"


def test_an_exercise_that_nobody_handed_in_needs_no_column(out, tmp_path):
    rows = json.loads((out / "grades.json").read_text())
    rows += [row_of(r["student"], 0, "missing", OTHER) for r in rows]
    (out / "grades.json").write_text(json.dumps(rows))
    (tmp_path / "c.csv").write_text(CANVAS)
    run(out, "--canvas", tmp_path / "c.csv")
    assert column(out / "export" / "canvas.csv")[3] == "20"
    rows[-1] |= {"status": "graded"}
    (out / "grades.json").write_text(json.dumps(rows))
    assert run(out, "--canvas", tmp_path / "c.csv") == 2
    assert run(out, "--canvas", tmp_path / "c.csv", "--exercise", "7") == 1


def test_two_of_one_name_are_not_mixed_up(tmp_path):
    (tmp_path / "c.csv").write_text(CANVAS)
    rows = [row_of("Zoë Zed", 3), row_of("zed, zoe", 20), row_of("ben", 7)]
    text, lost, doubts = exports.canvas(rows, tmp_path / "c.csv", Merge("Canvas", {}))
    assert "Zed, Zoe,3,s3,zz,S1,,," in text.replace('"', "")
    assert lost == ["Zoë Zed", "zed, zoe"]
    assert "Zed, Zoe could be Zoë Zed or zed, zoe: left alone" in doubts


# Moodle ---------------------------------------------------------------------------------------------------------------

MOODLE = f"""Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 11,Anna Ant,anna@x,Submitted,,{MOST},-,
Participant 12,Ben Bee,ben@x,Submitted,1.00,{MOST},-,well done
Participant 13,Zoe Zed,z@x,Submitted,,{MOST},-,by hand
"""


def test_moodles_worksheet(out, tmp_path, capsys):
    (tmp_path / "w.csv").write_text(MOODLE)
    rows = json.loads((out / "grades.json").read_text())
    rows[0]["comments"] = ["see me"]
    rows[1]["who"] = {"moodle": ["12"]}
    rows[2]["comments"] = ["never seen"]
    (out / "grades.json").write_text(json.dumps(rows))
    assert run(out, "--moodle", tmp_path / "w.csv", "--exercise", "07") == 1
    lines = list(csv.DictReader((out / "export" / "moodle.csv").open()))
    assert [line["Grade"] for line in lines] == ["20", "1.00", "3.5"]
    assert [line["Feedback comments"] for line in lines] == ["see me", "well done", "by hand"]
    said = capsys.readouterr()
    assert "ben, 07_vector_add: 1.00 stays, entered there; graded here 7" in said.out
    assert said.err.splitlines() == ["not in that file: lost", "not in that file: olga"]


def test_a_worksheet_of_another_country_keeps_its_signs(out, tmp_path):
    (tmp_path / "w.csv").write_text(MOODLE.replace(",", ";").replace("Grade;", "Bewertung;", 1), encoding="utf-8")
    assert run(out, "--moodle", tmp_path / "w.csv", "--exercise", "07") == 2
    run(out, "--moodle", tmp_path / "w.csv", "--exercise", "07", "--column", "Bewertung")
    assert "Participant 11;Anna Ant;anna@x;Submitted;20;" in (out / "export" / "moodle.csv").read_text()


def test_a_table_to_map(out):
    assert run(out, "--table") == 0
    lines = list(csv.DictReader((out / "export" / "table.csv").open()))
    assert [(r["student"], r["email"], r[EXERCISE]) for r in lines][:2] == [
        ("Ant, Anna", "anna@x", "20"),
        ("ben", "", "7"),
    ]
    assert {r["student"]: r[EXERCISE] for r in lines}["never"] == ""


# feedback that is not released yet ------------------------------------------------------------------------------------

BEFORE, AFTER = (datetime.fromisoformat(f"2026-11-27T08:0{minute}:00+01:00") for minute in (0, 1))
RELEASED = "[feedback]\n07 = 2026-11-27T08:00:30+01:00\n"


def test_feedback_before_its_date_is_not_packed_and_the_date_is_told(out, capsys):
    rows = json.loads((out / "grades.json").read_text())
    rows.append(row_of("ben", 3, exercise=OTHER))
    (out / "grades.json").write_text(json.dumps(rows))
    (out / "policy.toml").write_text(RELEASED)
    pack = out / "export" / "feedback-plain.zip"
    assert back(out, clock=BEFORE) == 0
    told = f"{EXERCISE} is left out: its feedback is released 2026-11-27 08:00+01:00. ARGS=--now hands it back before."
    assert told in capsys.readouterr().out
    with zipfile.ZipFile(pack) as files:
        assert files.namelist() == ["ben.html"]
        assert OTHER in files.read("ben.html").decode()
        assert EXERCISE not in files.read("ben.html").decode()
    pack.unlink()
    assert back(out, "--exercise", "07", clock=BEFORE) == 2
    assert "There is no feedback to hand back yet" in capsys.readouterr().err
    assert not pack.exists()
    for more, clock in (((), AFTER), (("--now",), BEFORE)):
        assert back(out, *more, clock=clock) == 0
        assert EXERCISE in zipfile.ZipFile(pack).read("ben.html").decode()


def test_a_policy_elsewhere_holds_feedback_too_and_the_file_beside_the_grades_is_the_last_word(out):
    rows = json.loads((out / "grades.json").read_text())
    (out / "elsewhere.toml").write_text(RELEASED)
    rows = late.charge(late.read(out / "elsewhere.toml"), rows, {})
    assert list(late.held(out, rows, BEFORE)) == [EXERCISE]
    assert late.held(out, rows, AFTER) == {}
    (out / "policy.toml").write_text("penalty = 10")
    assert late.held(out, rows, BEFORE) == {}


def test_grades_are_exported_before_and_what_was_checked_is_not(out, tmp_path, capsys):
    (out / "policy.toml").write_text(RELEASED)
    rows = json.loads((out / "grades.json").read_text())
    rows[0]["comments"] = ["see me"]
    (out / "grades.json").write_text(json.dumps(rows))
    (tmp_path / "w.csv").write_text(MOODLE)

    def comments(clock):
        run(out, "--moodle", tmp_path / "w.csv", "--exercise", "07", clock=clock)
        shutil.copy(out / "export" / "moodle.csv", tmp_path / "w.csv")
        lines = list(csv.DictReader((tmp_path / "w.csv").open()))
        return lines[0]["Grade"], lines[0]["Feedback comments"]

    assert comments(BEFORE) == ("20", "")
    assert "Without comments. Feedback of 07_vector_add is released 2026-11-27 08:00+01:00" in capsys.readouterr().out
    assert comments(AFTER) == ("20", "see me")  # the grade stands there already, and the comment comes
    assert run(out, "--gradescope", clock=BEFORE) == 2
    assert not (out / "export" / "gradescope.zip").exists()
    assert run(out, "--gradescope", "--now", clock=BEFORE) == 0


# Gradescope -----------------------------------------------------------------------------------------------------------


def submit(tmp_path, autograder, notebook, **user):
    """As Gradescope runs an autograder: (exit status, results.json or None)."""
    base = tmp_path / "autograder"
    for name in ("source", "submission", "results"):
        (base / name).mkdir(parents=True, exist_ok=True)
    zipfile.ZipFile(io.BytesIO(autograder)).extractall(base / "source")
    (base / "submission" / "07.ipynb").write_text(notebook)
    (base / "submission_metadata.json").write_text(json.dumps({"users": [user]}))
    found = base / "results" / "results.json"
    found.unlink(missing_ok=True)
    environment = {"AUTOGRADER": str(base), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, base / "source" / "run_autograder"], env=environment, capture_output=True, text=True
    )
    return done.returncode, json.loads(found.read_text()) if found.exists() else done.stdout


def test_a_notebook_of_any_size_that_can_be_graded_is_known_again(tmp_path):
    path = tmp_path / "x.ipynb"
    for size in (0, 11 << 20):
        path.write_bytes(bytes(size))
        assert gather._digest(path) == hashlib.sha256(bytes(size)).hexdigest()
    os.truncate(path, slim.MAX_FILE + 1)  # takes no room on the disk
    assert gather._digest(path) == ""
    assert gather._digest(None) == ""


def test_gradescopes_autograder_hands_out_the_result_of_the_submission_that_was_graded(out, tmp_path):
    rows = json.loads((out / "grades.json").read_text())
    rows[0]["digest"] = hashlib.sha256(b"her notebook").hexdigest()
    rows[0]["late"] = {"days": 1, "free": 0, "lost": 2, "due": ""}
    (out / "grades.json").write_text(json.dumps(rows))
    assert run(out, "--gradescope", "--exercise", "07") == 0
    autograder = (out / "export" / "gradescope.zip").read_bytes()
    names = {i.filename: i.external_attr >> 16 for i in zipfile.ZipFile(io.BytesIO(autograder)).infolist()}
    assert {"setup.sh", "run_autograder"} <= names.keys()
    assert names["run_autograder"] & 0o111
    code, result = submit(tmp_path, autograder, "her notebook", email="ANNA@x", name="A. Ant")
    assert (code, result["score"]) == (0, 20)
    assert result["output"] == "Handed in 1 day late: 2 points less."
    assert set(result["tests"][0]) == {"name", "number", "score", "max_score", "status", "output"}
    assert sum(test["max_score"] for test in result["tests"]) == MOST
    code, said = submit(tmp_path, autograder, "a later notebook", email="anna@x")
    assert code == 1
    assert "has not been graded yet" in said
    assert submit(tmp_path, autograder, "her notebook", email="ben@x")[0] == 1  # nobody gets another's result


# Classroom 50 ---------------------------------------------------------------------------------------------------------


def submission(score):
    links = {name: f"https://x/{name}" for name in ("commit", "release", "review")}
    return {"schema": "classroom50/result/v1", "classroom": "c", "owner": "?", "submission": "submit/1", "score": score,
            "max-score": 0, "tests": [], "datetime": "2026-11-20T10:00:00Z", **links}  # fmt: skip


def test_classroom_50_keeps_what_is_marked_as_an_override(out, tmp_path, capsys):
    scores = {"schema": "classroom50/scores/v1", "assignments": {"w7": {"type": "individual", "entries": [
        {"owner": "ben", "submissions": [submission(0)]},
        {"owner": "olga", "override": True, "submissions": [submission(4), submission(0)]},
        {"owner": "aant", "email": "anna@x", "submissions": [submission(0)]},
    ]}}}  # fmt: skip
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    command = (out, "--classroom50", tmp_path / "scores.json", "--exercise", "07")
    assert run(*command) == 1
    entries = {
        e["owner"]: e
        for e in json.loads((out / "export" / "classroom50.json").read_text())["assignments"]["w7"]["entries"]
    }
    assert {o: (e["override"], e["submissions"][0]["score"]) for o, e in entries.items()} == {
        "ben": (True, 7),
        "olga": (True, 4),
        "aant": (True, 20),
    }
    record = entries["ben"]["submissions"][0]
    assert (record["schema"], record["commit"], record["max-score"]) == (
        "classroom50/result/v1",
        "https://x/commit",
        MOST,
    )
    assert all(type(test["score"]) is int for test in record["tests"])
    assert len(entries["ben"]["submissions"]) == 2
    assert "not in that file: Zoë Zed" in capsys.readouterr().err
    # once more, with other points: ours change, and the history does not grow
    (tmp_path / "scores.json").write_bytes((out / "export" / "classroom50.json").read_bytes())
    rows = json.loads((out / "grades.json").read_text())
    rows[1]["final"] = 6.5
    (out / "grades.json").write_text(json.dumps(rows))
    run(*command)
    entries = json.loads((out / "export" / "classroom50.json").read_text())["assignments"]["w7"]["entries"]
    assert [s["score"] for s in entries[0]["submissions"]] == [7, 0]  # 6.5, and points are whole numbers there
    assert "Which assignment?" in (run(*command, "--assignment", "w8"), capsys.readouterr().err)[1]


# refusals and files ---------------------------------------------------------------------------------------------------


def test_what_cannot_be_exported_is_a_sentence(out, tmp_path, capsys):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    for arguments, says in (
        ((tmp_path / "nowhere", "--table"), "has no grades.json that can be read"),
        ((out, "--canvas", tmp_path / "no.csv"), "cannot be read"),
        ((out, "--canvas", tmp_path / "x.csv"), "has no column Student"),
        ((out, "--moodle", tmp_path / "x.csv"), "lacks the columns Identifier, Grade"),
        ((out, "--classroom50", tmp_path / "x.csv"), "cannot be read"),
        ((out, "--table", "--exercise", "9"), "has no rows of the exercise 09"),
    ):
        assert run(*arguments) == 2
        assert says in capsys.readouterr().err
    assert not (out / "export").exists()


def test_short_rows_are_filled_up(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1\n\n2,3,4\n")
    table = Table.read(tmp_path / "t.csv")
    assert table.rows == [["a", "b", "c"], ["1", "", ""], [], ["2", "3", "4"]]
    assert table.text() == "a,b,c\n1,,\n\n2,3,4\n"


# feedback -------------------------------------------------------------------------------------------------------------


def back(*arguments, clock=None):
    with pytest.raises(SystemExit) as ended:
        handback.main([str(a) for a in arguments], clock)
    return ended.value.code


def test_feedback_goes_back_under_the_names_that_each_system_reads(out, tmp_path, capsys):
    rows = json.loads((out / "grades.json").read_text())
    path = Path("beeben_LATE_22_33_07_vector_add-1.ipynb")
    rows[1]["who"] = people.described("ben", None, path)
    rows[1]["told"] = ["changed cell setup"]
    rows[2]["who"] = people.described("Zoë Zed", None, Path("Zoë Zed_13_assignsubmission_file_/07_vector_add.ipynb"))
    (out / "grades.json").write_text(json.dumps(rows))
    (tmp_path / "w.csv").write_text(MOODLE.replace("Anna Ant", "Anna_Maria Ant"))
    assert back(out, "--moodle", tmp_path / "w.csv", "--exercise", "07") == 1
    files = zipfile.ZipFile(out / "export" / "feedback-moodle.zip").namelist()
    assert files == [
        "Anna Maria Ant_11_assignfeedback_file/feedback_07_vector_add.html",
        "Zoe Zed_13_assignfeedback_file/feedback_07_vector_add.html",
    ]
    assert "not in the zip: ben" in capsys.readouterr().err
    back(out, "--canvas", "--exercise", "07")
    (name,) = zipfile.ZipFile(out / "export" / "feedback-canvas.zip").namelist()
    assert [part for part in name.split("_") if part.isdigit()][:2] == [
        "22",
        "33",
    ]  # user and file: what Canvas looks for
    page = zipfile.ZipFile(out / "export" / "feedback-canvas.zip").read(name).decode()
    assert "Noted: changed cell setup." in page
    assert "one index out" in page
    assert back(out) == 0
    assert len(zipfile.ZipFile(out / "export" / "feedback-plain.zip").namelist()) == 6  # not for who handed in nothing
    assert back(tmp_path / "nowhere") == 2


@pytest.mark.parametrize("who", [{"moodle": ["77"]}, {"system": ["Moodle"]}])
def test_whoever_belongs_to_another_system_is_no_loss(out, tmp_path, capsys, who):
    file = out / "grades.json"
    rows = [row | {"who": who} if row["student"] == "lost" else row for row in json.loads(file.read_text())]
    file.write_text(json.dumps(rows))
    (tmp_path / "c.csv").write_text(CANVAS)
    assert run(out, "--canvas", tmp_path / "c.csv") == 0
    told = capsys.readouterr()
    assert "1 handed in by another system, and are not in that file." in told.out
    assert told.err == ""
