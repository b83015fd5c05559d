"""Whose notebook is it? Layouts, archives, names, rosters: every entry gets a row and a reason, nobody another's
work."""

import bz2
import contextlib
import io
import json
import os
import stat
import struct
import tarfile
import time
import tracemalloc
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import hostile
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursework import build
from coursework.grading import exchange
from coursework.grading.intake import archives, owners, people, reading, roster, slim, submissions

pytestmark = pytest.mark.quick

EXERCISE, OTHER = "07_vector_add", "08_matmul"
IDS = {EXERCISE: {"07-launch", "07-add"}, OTHER: {"08-naive", "08-tiled"}}


def notebook(*ids, **more):
    """The text of a notebook with these cells."""
    cells = [{"cell_type": "code", "id": i, "metadata": {}, "source": f"# {i}"} | more for i in ids]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def place(folder, names):
    """Files of a folder: {name: content}."""
    for name, content in names.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def zipped(names, date=(2026, 11, 3, 12, 0, 0)):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in names.items():
            info = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name, date)
            pack.writestr(info, content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tarred(names, mode="w:gz", date=1_700_000_000):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as pack:
        for name, content in names.items():
            info = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            info.mtime, info.size = date, len(content)
            pack.addfile(info, io.BytesIO(content.encode()))
    return out.getvalue()


@pytest.fixture
def found(tmp_path):
    """Calls find on {name: content}: rows as (student, exercise, content or None), and all by student."""

    def look(names, exercises=(EXERCISE,), rows=(), source=None):
        folder = source or place(tmp_path / "in", names)
        rows = roster._told_apart([row if isinstance(row, dict) else {"student": row} for row in rows])
        seen = submissions.find(folder, exercises, rows, tmp_path / "out", IDS)
        return {(s.student, s.exercise) if len(exercises) > 1 else s.student: s for s in seen}

    return look


def text(submission):
    return submission.path.read_text() if submission.path else None


# layouts -------------------------------------------------------------------------------------------------------------

LAYOUTS = {
    "folder per student": ["anna/07_vector_add.ipynb", "ben/07_vector_add.ipynb"],
    "deeper": ["anna/homework/07_vector_add.ipynb", "ben/x/y/07_vector_add (1).ipynb"],
    "flat": ["anna_07_vector_add.ipynb", "ben-07_vector_add.ipynb"],
    "flat, name last": ["07_vector_add_anna.ipynb", "07_vector_add-ben.ipynb"],
    "flat, another spelling": ["anna 7 Vector-Add.ipynb", "07VectorAdd ben (2).IPYNB"],
    "nbgrader": ["submitted/anna/07_vector_add/07_vector_add.ipynb", "submitted/ben/ps1/07_vector_add.ipynb", "release/x.txt"],
    "moodle": ["anna_1_assignsubmission_file_/07_vector_add.ipynb", "ben_2_assignsubmission_file_/07_vector_add.ipynb"],
    "moodle, flat": [
        "anna_1_assignsubmission_file_07_vector_add.ipynb",
        "ben_2_assignsubmission_file_07_vector_add.ipynb",
    ],
    "canvas": ["anna_123_456_07_vector_add.ipynb", "ben_LATE_124_457_07_vector_add-2.ipynb"],
    "one folder more": ["Class 3/anna/07_vector_add.ipynb", "Class 3/ben/07_vector_add.ipynb", "__MACOSX/Class 3/._anna"],
    "two folders more": ["x/y/anna/07_vector_add.ipynb", "x/y/ben/07_vector_add.ipynb", ".DS_Store"],
    "one folder more, flat": ["Class 3/anna_07_vector_add.ipynb", "Class 3/ben_07_vector_add.ipynb"],
    "one folder more, canvas": ["submissions/anna_1_2_07_vector_add.ipynb", "submissions/ben_3_4_07_vector_add.ipynb"],
    "folder per exercise": ["07_vector_add/anna/07_vector_add.ipynb", "07_vector_add/ben/07_vector_add.ipynb"],
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "packed", ["folder", "in.zip", "in.ZIP", "in.tar", "in.tar.gz", "in.tar.bz2", "in.tar.xz", "in.tgz"]
)
def test_layouts(tmp_path, found, layout, packed):
    names = {name: name for name in LAYOUTS[layout]}
    if packed == "folder":
        rows = found(names)
    else:
        mode = "w:" + {"tgz": "gz", "tar": ""}.get(packed.split(".")[-1], packed.split(".")[-1])
        (tmp_path / packed).write_bytes(zipped(names) if packed.lower() == "in.zip" else tarred(names, mode))
        rows = found({}, source=tmp_path / packed)
    assert list(rows) == ["anna", "ben"]
    assert [text(row) for row in rows.values()] == LAYOUTS[layout][:2]


def test_one_student_with_folders_of_exercises_stays_one(found):
    rows = found({"anna/ps1/07_vector_add.ipynb": "7", "anna/ps2/08_matmul.ipynb": "8"}, (EXERCISE, OTHER))
    assert {key: text(s) for key, s in rows.items()} == {("anna", EXERCISE): "7", ("anna", OTHER): "8"}


def test_the_roster_says_which_folder_is_a_student(found, tmp_path):
    names = {"hw/anna/07_vector_add.ipynb": "x"}
    assert text(found(names, rows=["anna", "ben"])["anna"]) == "x"
    assert text(found(names, rows=["hw", "ben"])["hw"]) == "x"


GRADESCOPE = """---
submission_101:
  :submitters:
  - :name: Anna Ant
    :sid: 's1'
    :email: anna@example.org
  :created_at: 2026-11-20 23:58:00.123456789 Z
submission_102:
  :submitters:
  - {":name": Ben Bee, ":sid": '0012', ":email": other@example.org}
  :created_at: 2026-11-21 00:30:00 Z
submission_103:
  :submitters:
  - {":name": Anna Ant, ":email": anna@example.org}
  - {":name": Cara Cho, ":email": cara@example.org}
submission_104:
  :submitters: []
"""
EXPORT = {f"submission_{n}/07_vector_add.ipynb": str(n) for n in (101, 102, 103, 104)}
EXPORT["submission_metadata.yml"] = GRADESCOPE


@pytest.mark.parametrize("around", ["", "assignment_9_export/"])
def test_an_export_of_gradescope(found, around):
    class_list = [
        {"student": "A. Ant", "email": "Anna@example.org"},
        {"student": "Bee, Ben", "id": "0012"},
        {"student": "Cara Cho"},
    ]
    rows = found({around + name: content for name, content in EXPORT.items()}, rows=class_list)
    assert [(name, text(row)) for name, row in rows.items()][:3] == [
        ("A. Ant", "101"),
        ("Bee, Ben", "102"),
        ("Cara Cho", None),
    ]
    assert rows["Bee, Ben"].date - rows["A. Ant"].date == pytest.approx(32 * 60, abs=1)
    assert "handed in by 2 students together: Anna Ant, Cara Cho" in rows["submission_103"].status
    assert "names no student" in rows["submission_104"].status
    assert len(rows) == 5


def test_an_export_of_gradescope_without_a_roster(found):
    rows = found(EXPORT)
    assert [(name, text(row)) for name, row in rows.items()][:2] == [("Anna Ant", "101"), ("Ben Bee", "102")]


@pytest.mark.parametrize("damaged", ["submission_101: [", "- a list", "\0"])
def test_a_damaged_file_of_gradescope_is_told(found, damaged):
    with pytest.raises(roster.BadSubmissions, match=r"submission_metadata\.yml"):
        found(EXPORT | {"submission_metadata.yml": damaged})


def test_a_student_cannot_say_whose_an_entry_is(found):
    claim = "anna:\n  :submitters:\n  - {':name': Ben}\nben:\n  :submitters:\n  - {':name': Ben}\n"
    names = {"anna/07_vector_add.ipynb": "x", "anna/submission_metadata.yml": claim}
    for others in ({}, {"ben/07_vector_add.ipynb": "y"}):
        rows = found(names | others, rows=["anna", "ben"])
        assert text(rows["anna"]) == "x"
        assert text(rows["ben"]) == others.get("ben/07_vector_add.ipynb")


def test_repositories_are_known_by_logins(found):
    class_list = [
        {"student": "Anna Ant", "login": "anna-a"},
        {"student": "Ben Bee", "login": "b"},
        {"student": "Cara Cho"},
    ]
    names = {f"week-7-{login}/07_vector_add.ipynb": login for login in ("anna-a", "b", "Cara Cho", "x")}
    rows = found(names, rows=class_list)
    assert text(rows["Anna Ant"]) == "anna-a"
    assert text(rows["Ben Bee"]) == "b"
    assert text(rows["Cara Cho"]) is None  # a name is no login: it could be another's
    assert "not in the roster" in rows["week-7-x"].flags
    alone = found({"ben-b/07_vector_add.ipynb": "whose?"}, rows=[{"student": "Bob", "login": "b"}])
    assert text(alone["Bob"]) is None  # b may be the end of another name


# archives ------------------------------------------------------------------------------------------------------------

HOMEWORK = {"deep/07_vector_add.ipynb": "mine"}
PACKED = {
    "work.zip": zipped(HOMEWORK), "WORK.ZIP": zipped(HOMEWORK), "work.tar": tarred(HOMEWORK, "w"),
    "work.tar.gz": tarred(HOMEWORK), "work.TGZ": tarred(HOMEWORK), "work.tar.bz2": tarred(HOMEWORK, "w:bz2"),
    "work.tar.xz": tarred(HOMEWORK, "w:xz"), "twice.zip": zipped({"inner.tar.gz": tarred(HOMEWORK)}),
}  # fmt: skip


@pytest.mark.parametrize("name", PACKED)
def test_a_student_may_hand_in_an_archive(found, name):
    rows = found({f"anna/{name}": PACKED[name], "ben/07_vector_add.ipynb": "ben's"})
    assert {student: (text(s), s.flags) for student, s in rows.items()} == {"anna": ("mine", ()), "ben": ("ben's", ())}


@pytest.mark.parametrize(
    "name", ["anna", "anna_07_vector_add", "Anna Ant_12_assignsubmission_file_work", "antanna_12_34_work"]
)
def test_an_archive_beside_others_is_called_as_its_student(found, name):
    (row,) = found({f"{name}.zip": PACKED["work.zip"]}).values()
    assert (text(row), row.student) == ("mine", name.split("_")[0])


def test_halves_of_files_that_macos_packs_are_left_out(found):
    names = {
        "work/07_vector_add.ipynb": "mine",
        "__MACOSX/work/._07_vector_add.ipynb": "no",
        "work/._07_vector_add.ipynb": "no",
    }
    late = zipped(names, (2030, 1, 1, 0, 0, 0))
    assert text(found({"anna/work.zip": late})["anna"]) == "mine"


def encrypted():
    """A zip whose entry says that it is encrypted."""
    data = bytearray(zipped(HOMEWORK))
    data[6] |= 1  # of the entry itself
    data[data.index(b"PK\x01\x02") + 8] |= 1  # of the list at the end
    return bytes(data)


def entry(name, kind):
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o777) << 16
    return info


REFUSED = {
    "damaged": (zipped(HOMEWORK)[:-60], "work.zip is damaged"),
    "broken inside": (zipped(HOMEWORK).replace(b"PK\x03\x04", b"PK\x03\x05"), "work.zip is damaged"),
    "empty": (b"", "work.zip is damaged"),
    "no zip": (b"hello" * 100, "work.zip is damaged"),
    "encrypted": (encrypted(), "encrypted; ask for an archive without a password"),
    "link": (zipped({entry("07_vector_add.ipynb", stat.S_IFLNK): "/etc/passwd"}), "is a link"),
    "outside": (zipped({"../07_vector_add.ipynb": "x"}), "a path that leads outside"),
    "bomb": (zipped({"07_vector_add.ipynb": "\0" * (50 << 20)}), "grows to more than 200 times its size"),
    "no notebook": (
        zipped({"essay.pdf": "x", "data.csv": "y"}),
        "no notebook in work.zip; there is essay.pdf, data.csv",
    ),
    "too deep": (
        zipped({"a.zip": zipped({"b.zip": zipped({"c.zip": zipped(HOMEWORK)})})}),
        "3 archives within each other",
    ),
    "many entries": (zipped({f"{i}.txt": "" for i in range(20_001)}), "has more than 20000 entries"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_archive_is_a_row_with_its_reason(found, name):
    data, why = REFUSED[name]
    rows = found({"anna/work.zip": data, "ben/07_vector_add.ipynb": "ben's"})
    assert (rows["anna"].path, rows["anna"].status) == (None, "missing")
    assert why in "; ".join(rows["anna"].flags)
    assert text(rows["ben"]) == "ben's"


def tar_link():
    info = tarfile.TarInfo("07_vector_add.ipynb")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return info


REFUSED_TARS = {
    "damaged": (tarred(HOMEWORK)[:40], "is damaged"),
    "bomb": (bz2.compress(bz2.decompress(tarred({"zeros": "\0" * (64 << 20)}, "w:bz2"))), ""),
    "link": (tarred({tar_link(): ""}), "is a link"),
    "outside": (tarred({"../../07_vector_add.ipynb": "x"}), "a path that leads outside"),
}


@pytest.mark.parametrize("name", REFUSED_TARS)
def test_a_refused_tar_is_a_row_with_its_reason(found, name, monkeypatch):
    monkeypatch.setattr(archives, "MAX_TAR", 32 << 20)
    data, why = REFUSED_TARS[name]
    row = found({"anna/work.tar.gz": data})["anna"]
    assert row.path is None
    assert (why or "unpacks to more than") in "; ".join(row.flags)


def test_slips_links_and_bombs_leave_nothing_outside(tmp_path):
    evil = [
        "../up.ipynb",
        "/abs.ipynb",
        "anna/../../up2.ipynb",
        "..\\win.ipynb",
        "C:\\x.ipynb",
        "a\x07b.ipynb",
        "x/" * 30 + "deep.ipynb",
    ]
    names = dict.fromkeys(evil, "evil") | {
        entry("anna/link.ipynb", stat.S_IFLNK): "/etc/passwd",
        "anna/good.ipynb": "good",
    }
    target = tmp_path / "a" / "b" / "target"
    for name, data in (
        ("evil.zip", zipped(names)),
        ("evil.tar", tarred({k: v for k, v in names.items() if isinstance(k, str)}, "w")),
    ):
        (tmp_path / name).write_bytes(data)
        refused, _ = archives.unpack(tmp_path / name, target / name)
        assert len(refused) == len(evil) + (name == "evil.zip")
        assert [p.name for p in (target / name).rglob("*") if p.is_file()] == ["good.ipynb"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "evil.tar", "evil.zip"]


def test_a_zips_list_of_entries_is_not_read_where_it_is_huge(tmp_path):
    data = bytearray(zipped(HOMEWORK))
    struct.pack_into("<L", data, data.rindex(b"PK\x05\x06") + 12, 1 << 30)
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(archives.BadArchive, match="more than 20000 entries"):
        archives.unpack(tmp_path / "x.zip", tmp_path / "t")


def test_a_tars_long_names_do_not_fill_the_memory(tmp_path, monkeypatch):
    """The header of a name may say that it is as long as it likes; tarfile reads it at once."""
    monkeypatch.setattr(archives, "MAX_TAR", 16 << 20)
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 32
    (tmp_path / "x.tar.gz").write_bytes(__import__("gzip").compress(info.tobuf() + bytes(64 << 20)))
    tracemalloc.start()
    with pytest.raises(archives.BadArchive, match="unpacks to more than"):
        archives.unpack(tmp_path / "x.tar.gz", tmp_path / "t")
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


@given(
    st.integers(0, 400), st.binary(min_size=1, max_size=8), st.sampled_from(["x.zip", "x.tar", "x.tar.gz", "x.tar.xz"])
)
def test_fuzzed_archives_are_read_or_refused(tmp_path_factory, where, noise, name):
    folder = tmp_path_factory.mktemp("fuzz")
    kinds = {
        "x.zip": zipped(HOMEWORK),
        "x.tar": tarred(HOMEWORK, "w"),
        "x.tar.gz": tarred(HOMEWORK),
        "x.tar.xz": tarred(HOMEWORK, "w:xz"),
    }
    data = bytearray(kinds[name])
    data[where : where + len(noise)] = noise
    (folder / name).write_bytes(data)
    with contextlib.suppress(archives.BadArchive):
        archives.unpack(folder / name, folder / "t")


def test_other_kinds_of_archives_are_named(found):
    assert "anna.rar is of a kind that is not unpacked; ask for a zip" in found({"anna.rar": b"Rar!"})["anna"].flags
    assert "work.7z is of a kind that is not unpacked; ask for a zip" in found({"ben/work.7z": b"7z"})["ben"].flags


# dates ---------------------------------------------------------------------------------------------------------------


def test_dates_inside_archives_decide_which_is_the_newest(found):
    old, new = (2026, 11, 1, 8, 0, 0), (2026, 11, 2, 8, 0, 0)
    for pack, early, late in ((zipped, old, new), (tarred, 1_000_000_000, 1_000_000_100)):
        ending = "zip" if pack is zipped else "tar.gz"
        options = [{"date": early}, {"date": late}]
        files = [
            pack({"07_vector_add.ipynb": word}, **more) for word, more in zip(("old", "new"), options, strict=True)
        ]
        for first, second in ((0, 1), (1, 0)):
            row = found({f"{ending}{first}/1.{ending}": files[first], f"{ending}{first}/2.{ending}": files[second]})[
                f"{ending}{first}"
            ]
            assert (text(row), row.flags) == ("new", ("2 notebooks; graded the newest",))


def test_a_date_inside_an_archive_makes_no_late_work_early(found, tmp_path):
    set_back = zipped({"07_vector_add.ipynb": "late"}, date=(2026, 11, 1, 8, 0, 0))
    place(
        tmp_path / "in",
        {"anna/work.zip": set_back, "ben/outer.zip": zipped({"inner.zip": set_back}, date=(2026, 11, 9, 8, 0, 0))},
    )
    handed_in = datetime(2026, 11, 20, 8, tzinfo=UTC).timestamp()
    for name in ("anna/work.zip", "ben/outer.zip"):
        os.utime(tmp_path / "in" / name, (handed_in, handed_in))
    rows = found({})
    for name in ("anna", "ben"):
        assert rows[name].date == handed_in


def test_the_notebook_of_another_chapter_is_no_puzzle_and_json_is_a_notebook(found):
    rows = found({"anna/07_vector_add.json": "mine", "anna/10_recurrent.ipynb": "{}", "anna/settings.json": "{}"})
    assert (text(rows["anna"]), rows["anna"].flags) == ("mine", ())


def test_one_archive_does_not_change_the_dates_of_others(found, tmp_path):
    place(
        tmp_path / "in",
        {"anna/07_vector_add.ipynb": "old", "anna/b/07_vector_add.ipynb": "new", "ben/w.zip": PACKED["work.zip"]},
    )
    for name, date in (("anna/07_vector_add.ipynb", 2000), ("anna/b/07_vector_add.ipynb", 1000)):
        os.utime(tmp_path / "in" / name, (date, date))
    assert text(found({})["anna"]) == "old"


@pytest.fixture
def in_berlin(monkeypatch):
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has one time zone for all processes")
@pytest.mark.parametrize(("month", "hours"), [(11, 1), (7, 2)])
@pytest.mark.parametrize("extra", ["none", "UTC", "cut off", "without the change"])
def test_a_date_in_a_zip_is_local_time_or_the_one_in_utc(tmp_path, in_berlin, month, hours, extra):
    """Half an hour before midnight is no day later."""
    said = datetime(2026, month, 20, 23, 30, tzinfo=timezone(timedelta(hours=hours)))
    other = said + timedelta(
        minutes=7, seconds=1
    )  # where both are there, that in UTC counts: it knows odd seconds, too
    info = zipfile.ZipInfo("07_vector_add.ipynb", said.timetuple()[:6])
    info.extra = (
        struct.pack("<HHH", 0xCAFE, 2, 5)
        + {
            "none": b"",
            "UTC": struct.pack("<HHBl", 0x5455, 5, 1, int(other.timestamp())),
            "cut off": struct.pack("<HHB", 0x5455, 1, 1),
            "without the change": struct.pack("<HHBl", 0x5455, 5, 2, 12345),
        }[extra]
    )
    (tmp_path / "a.zip").write_bytes(zipped({info: "x"}))
    archives.unpack(tmp_path / "a.zip", tmp_path / "out")
    found = (tmp_path / "out" / "07_vector_add.ipynb").stat().st_mtime
    assert datetime.fromtimestamp(found, UTC) == (other if extra == "UTC" else said)


# entries that are no work ---------------------------------------------------------------------------------------------


def test_every_entry_has_a_row_and_a_reason(found, tmp_path):
    folder = place(tmp_path / "in", {
        "good/07_vector_add.ipynb": "x", "report/report.pdf": "x", "notes.txt": "x", "07_vector_add.ipynb": "whose?",
        "broken.zip": "no", ".hidden": "x", "Thumbs.db": "x",
    })  # fmt: skip
    (folder / "empty").mkdir()
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "linked").symlink_to(tmp_path)
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    (folder / "inner").mkdir()
    os.mkfifo(folder / "inner" / "07_vector_add.ipynb")
    (folder / "link").mkdir()
    (folder / "link" / "07_vector_add.ipynb").symlink_to(folder / "good" / "07_vector_add.ipynb")
    rows = found({})
    said = {name: (row.status, "; ".join(row.flags)) for name, row in rows.items() if not row.path}
    assert said == {
        "report": ("missing", "no notebook in the folder; there is report.pdf"),
        "broken": ("missing", "broken.zip is damaged, or no archive of this kind (no list of entries)"),
        "empty": ("missing", "the folder is empty"),
        "deep": ("missing", "no notebook in the folder; there is er"),
        "linked": ("missing", "linked is a link, and links are not followed"),
        "gone": ("missing", "gone is a link, and links are not followed"),
        "pipe": ("missing", "pipe is a pipe, a socket or a device"),
        "inner": ("missing", "07_vector_add.ipynb is a pipe, a socket or a device"),
        "link": ("missing", "07_vector_add.ipynb is a link, and links are not followed"),
        "notes.txt": ("unmatched: notes.txt is no notebook; look at it", ""),
        "07_vector_add.ipynb": (
            "unmatched: names no student; put it into a folder with the student's name, as in the roster, and grade "
            "again",
            "",
        ),
    }
    assert [name for name, row in rows.items() if row.path] == ["good"]


@given(
    st.dictionaries(
        st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="/"), min_size=1, max_size=12),
        st.sampled_from(["file", "folder", "notebook", "zip"]),
        max_size=6,
    )
)
def test_no_name_is_lost(tmp_path_factory, kinds):
    folder = tmp_path_factory.mktemp("names")
    kinds = {name: kind for name, kind in kinds.items() if name not in (".", "..")}
    for name, kind in kinds.items():
        path = folder / "in" / (name + {"notebook": "_07_vector_add.ipynb", "zip": ".zip"}.get(kind, ""))
        path.parent.mkdir(exist_ok=True)
        if kind == "folder":
            place(path, {"07_vector_add.ipynb": name})
        elif not path.exists():
            path.write_bytes(zipped({"07_vector_add.ipynb": name}) if kind == "zip" else name.encode())
    (folder / "in").mkdir(exist_ok=True)
    seen = submissions.find(folder / "in", [EXERCISE], (), folder / "out", IDS)
    shown = [n for n in os.listdir(folder / "in") if not archives.is_junk((n,))]
    assert bool(seen) == bool(shown)
    for s in seen:
        assert s.path or s.flags or s.status.startswith("unmatched: ")


# which exercise -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        ("Untitled.ipynb", "file is called Untitled.ipynb, and has the cells of 07_vector_add"),
        ("07_VECTOR_ADD.IPYNB", "file is called 07_VECTOR_ADD.IPYNB"),
        ("07_vector_add.ipynb.txt", ""),
        ("08_matmul.ipynb", "file is called 08_matmul.ipynb, and has the cells of 07_vector_add"),
        ("my/7 vector add final.ipynb", "file is called 7 vector add final.ipynb"),
    ],
)
def test_a_renamed_notebook_is_known_by_its_cells(found, name, flag):
    rows = found(
        {f"anna/{name}": notebook("07-launch", "07-add"), "ben/08_matmul.ipynb": notebook("08-naive")},
        (EXERCISE, OTHER),
    )
    row = rows["anna", EXERCISE]
    assert row.path is not None
    assert row.flags == ((flag,) if flag else ())
    assert rows["anna", OTHER].path is None
    assert rows["ben", OTHER].path is not None


def test_a_notebook_of_no_exercise_is_told(found):
    rows = found({"anna/essay.ipynb": notebook("x"), "anna/08_matmul.ipynb": "8"}, (EXERCISE, OTHER))
    assert "neither name nor cells of an exercise: essay.ipynb" in rows["anna", EXERCISE].flags
    assert text(rows["anna", OTHER]) == "8"
    (only,) = found(
        {}, source=place(Path(rows["anna", OTHER].path).parents[2] / "b", {"ben/essay.ipynb": notebook("x")})
    ).values()
    assert (only.path.name, only.flags) == ("essay.ipynb", ("file is called essay.ipynb",))


def test_several_files_the_newest_counts_and_it_is_flagged(found, tmp_path):
    names = ("07_vector_add.ipynb", "07_vector_add (1).ipynb")
    folder = place(tmp_path / "in", {f"anna/{name}": name for name in names})
    for date, name in enumerate(names):
        os.utime(folder / "anna" / name, (1000 + date, 1000 + date))
    row = found({})["anna"]
    assert (row.path.name, row.flags) == ("07_vector_add (1).ipynb", ("2 notebooks; graded the newest",))


# whose ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "Anna Ant_1_assignsubmission_file_/07_vector_add.ipynb",
            "Anna Ant_2_assignsubmission_file_/07_vector_add.ipynb",
        ),
        ("antanna_1_11_07_vector_add.ipynb", "antanna_2_12_07_vector_add.ipynb"),
        ("antanna_1_11_work.zip", "antanna_LATE_2_12_work.zip"),
    ],
)
def test_two_students_of_one_name_keep_their_own_work(found, first, second):
    files = {
        name: zipped({"07_vector_add.ipynb": n}) if name.endswith("zip") else n
        for name, n in ((first, "1"), (second, "2"))
    }
    rows = found(files)
    called = first.split("_")[0]
    assert {name: text(row) for name, row in rows.items()} == {f"{called} (1)": "1", f"{called} (2)": "2"}
    assert all(f"2 students are called {called}" in row.flags for row in rows.values())
    class_ = [{"student": "Anna Ant", "id": "2", "email": "a2@x"}, {"student": "Anna Ant", "id": "1", "email": "a1@x"}]
    assert {name: text(row) for name, row in found({}, rows=class_).items()} == {
        "Anna Ant (1)": "1",
        "Anna Ant (2)": "2",
    }
    class_ = [{"student": "Anna Ant", "email": "a2@x"}, {"student": "Anna Ant", "email": "a1@x"}]
    rows = found({}, rows=class_)
    assert {name: text(row) for name, row in rows.items() if row.exercise == EXERCISE and row.status == "missing"} == {
        "Anna Ant (a1@x)": None,
        "Anna Ant (a2@x)": None,
    }
    unmatched = [row for row in rows.values() if row.status.startswith("unmatched")]
    assert len(unmatched) == 2
    assert "fits 2 students of the roster" in unmatched[0].status
    rows = found({}, rows=["Anna Ant"])
    assert rows["Anna Ant"].path is None
    assert all("not the only entry that means Anna Ant" in row.status for n, row in rows.items() if n != "Anna Ant")


def test_what_a_student_packs_counts_for_that_student(found):
    """Names inside are the student's own: no folder, file or archive in it is another's."""
    evil = {
        "ben/07_vector_add.ipynb": "evil",
        "ben_1_2_07_vector_add.ipynb": "evil",
        "ben.zip": zipped({"07_vector_add.ipynb": "evil"}),
    }
    files = {
        "anna/work.zip": zipped(evil),
        "anna/ben/07_vector_add.ipynb": "evil",
        "ben/07_vector_add.ipynb": "ben's",
        "carl.zip": zipped(evil),
    }
    for rows in ((), ("anna", "ben", "carl")):
        seen = found(files, rows=rows)
        assert text(seen["ben"]) == "ben's"
        assert seen["ben"].flags == ()
        assert set(seen) == {"anna", "ben", "carl"}


ROSTER = """Student,ID,SIS User ID,SIS Login ID,E-mail,Section
Points Possible,,,,,
"Ant, Anna",4711,a1,aant,anna.ant@uni.example,S1
Ben Bee,4712,b2,bbee,ben@uni.example,S1
Zoë Zed,4713,z3,zzed,zz@uni.example,S2
"""
MEANT = {
    "Ant, Anna": ("Ant, Anna", "anna ant", "Anna_Ant", "antanna_4711_9_x", "ANNA.ANT@uni.example", "anna.ant", "4711", "aant", "Nobody_4711_8_x"),
    "Ben Bee": ("ben bee", "Bee Ben", "beeben_1_2_x", "b2", "ben"),
    "Zoë Zed": ("Zoe Zed", "ZOË ZED", "Zoe\u0308 Zed_5_assignsubmission_file_", "zedzoe_4713_1_x"),
}  # fmt: skip


@pytest.mark.parametrize(("student", "entry"), [(student, e) for student, entries in MEANT.items() for e in entries])
def test_numbers_addresses_and_spellings_of_the_roster_are_known(found, tmp_path, student, entry):
    (tmp_path / "r.csv").write_text(ROSTER, encoding="utf-8-sig")
    name = f"{entry}/07_vector_add.ipynb" if "_x" not in entry else f"{entry}_07_vector_add.ipynb"
    folder = place(tmp_path / "in", {name: "work"})
    rows = submissions.find(folder, [EXERCISE], roster.read_roster(tmp_path / "r.csv"), tmp_path / "out", IDS)
    assert {s.student: text(s) for s in rows} == dict.fromkeys(("Ant, Anna", "Ben Bee", "Zoë Zed")) | {student: "work"}
    assert all(s.flags == () for s in rows)


# One list of headers, for the owner of an entry as for the lines of other systems.
TITLES = {
    "Anna@Uni.example": ("E-Mail", "Email address", "E-Mail-Adresse", "University email", "eMail", "Mail"),
    "aant": ("GitHub", "GitHub username", "Login name", "SIS Login ID", "Username"),
    "4711": ("Matriculation", "StudentID", "Student ID", "ID number", "SIS User ID", "Number", "Canvas ID"),
}


@pytest.mark.parametrize(("text", "title"), [(text, title) for text, titles in TITLES.items() for title in titles])
def test_the_owner_of_an_entry_and_the_line_of_a_table_are_found_by_the_same_columns(tmp_path, text, title):
    (tmp_path / "r.csv").write_text(f"student,{title}\nAnna Ant,{text}\nBen Bee,other\n")
    rows = roster.read_roster(tmp_path / "r.csv")
    assert roster.Class(rows).match(text.lower()) == ("Anna Ant", "")
    ours = [people.person(row["student"], people.described(row["student"], row)) for row in rows]
    assert people.match(ours, [people.line_of({title: text.upper()})])[0] == {0: "Anna Ant"}


@pytest.mark.parametrize("title", ["Phone number", "Room number", "Section", "Group"])
def test_not_every_number_identifies(tmp_path, title):
    (tmp_path / "r.csv").write_text(f"student,{title}\nBen Bee,17\nAnna Ant,18\n")
    assert roster.Class(roster.read_roster(tmp_path / "r.csv")).match("17") == (None, "not in the roster")


def test_the_number_of_a_learning_system_is_no_other_number_of_the_roster(found):
    """It says whose an entry is only where the roster has numbers of that system, or where the name may be theirs,
    too."""
    files = {"Anna Ant_17_assignsubmission_file_/07_vector_add.ipynb": "Anna's"}
    seen = found(files, rows=[{"student": "Ben", "number": "17"}])
    assert {name: (text(row), row.flags) for name, row in seen.items()} == {
        "Ben": (None, ()),
        "Anna Ant": ("Anna's", ("not in the roster",)),
    }
    class_ = [{"student": "Ben", "id": "17"}, {"student": "Anna Ant", "id": "18"}]
    assert {name: text(row) for name, row in found({}, rows=class_).items()} == {"Ben": None, "Anna Ant": "Anna's"}


@pytest.mark.parametrize(
    "class_",
    [
        [{"student": "Ben", "identifier": "Participant 17"}, {"student": "Anna Ant", "identifier": "Participant 18"}],
        [{"student": "Ben", "canvas id": "17"}, {"student": "Anna Ant", "canvas id": "18"}],
        [{"student": "Ben", "id": "17", "sis user id": "b"}, {"student": "Anna Ant", "id": "18", "sis user id": "a"}],
    ],
    ids=["Moodle", "Canvas", "Canvas's gradebook"],
)
def test_where_number_and_name_mean_two_students_neither_is_chosen(found, class_):
    seen = found({"Anna Ant_17_assignsubmission_file_/07_vector_add.ipynb": "whose?"}, rows=class_)
    assert [text(seen[name]) for name in ("Ben", "Anna Ant")] == [None, None]
    (other,) = (row for row in seen.values() if row.student not in ("Ben", "Anna Ant"))
    assert "its number is Ben's, its name Anna Ant's" in other.status


def test_roster_gives_everybody_a_row(found, tmp_path):
    rows = found({"carl/07_vector_add.ipynb": "x"}, rows=["anna", "ben"])
    assert [(s.student, s.path is None, s.flags) for s in rows.values()] == [
        ("anna", True, ()),
        ("ben", True, ()),
        ("carl", False, ("not in the roster",)),
    ]


ROSTERS = {
    "names": ("anna\nben\n", ["anna", "ben"]),
    "student and e-mail": ("student,email\nanna,a@x\nben,b@x\n", ["anna", "ben"]),
    "semicolons": ("Student;Email\nanna;a@x\n", ["anna"]),
    "moodle's worksheet": ("Identifier,Full name,Email address,Grade\nParticipant 7,Anna Ant,a@x,\n", ["Anna Ant"]),
    "moodle's participants": ("First name,Last name,ID number,Email address\nAnna,Ant,17,a@x\n", ["Anna Ant"]),
    "listed twice": ("student,email\nanna,a@x\nanna,a@x\n", ["anna"]),
    "one name, two people": ("student,email\nanna,a@x\nanna,b@x\n", ["anna (a@x)", "anna (b@x)"]),
}


@pytest.mark.parametrize("name", ROSTERS)
def test_rosters(tmp_path, name):
    content, students = ROSTERS[name]
    (tmp_path / "r.csv").write_text(content)
    assert [row["student"] for row in roster.read_roster(tmp_path / "r.csv")] == students


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("nick,email\na,b\n", "must be `student`"),
        ("student,section\nanna,1\nanna,2\n", "tells them apart"),
    ],
)
def test_bad_rosters(tmp_path, content, says):
    (tmp_path / "r.csv").write_text(content)
    with pytest.raises(roster.BadSubmissions, match=says):
        roster.read_roster(tmp_path / "r.csv")


@pytest.mark.parametrize("name", ["nothing", "a.zip", "a.txt"])
def test_nothing_to_grade_is_a_sentence(tmp_path, name):
    for file in ("a.zip", "a.txt"):
        (tmp_path / file).write_text("no zip")
    with pytest.raises(roster.BadSubmissions, match=r"neither a folder nor a zip|is damaged, or no archive"):
        submissions.find(tmp_path / name, [EXERCISE], (), tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("j.smith_07_vector_add.ipynb", "j.smith"),
        ("07_vector_add-1.ipynb", None),
        ("07_vector_add.ipynb", None),
        ("Dr. Who.zip", "Dr. Who"),
    ],
)
def test_names_of_files(name, student):
    owner, _ = owners.of_entry(name, False, [EXERCISE])
    assert (owner and owner.name) == student


# notebooks of any size ------------------------------------------------------------------------------------------------


def big(size):
    data = json.loads(build.text_of(hostile.solved()))
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (size // 2)}, "metadata": {}}
    printed = {"output_type": "stream", "name": "stdout", "text": ['x "[{\\\n'] * (size // 200)}
    data["cells"][3]["outputs"] = [picture, printed]
    data["cells"][0]["attachments"] = {"a.png": {"image/png": "B" * size}}
    data["metadata"]["widgets"] = {"outputs": {"deep": [1, {"x": None}]}}
    return data


def test_outputs_of_any_size_cost_nothing(tmp_path):
    small, path = tmp_path / "small.ipynb", tmp_path / "big.ipynb"
    small.write_text(build.text_of(hostile.solved()))
    path.write_text(json.dumps(big(12 << 20), indent=1))
    tracemalloc.start()
    cells, flags = reading.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20 << 20
    tracemalloc.stop()
    assert flags == []
    assert cells == reading.load(small)[0]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=20,
    ),
    st.sampled_from([None, 1, " "]),
)
def test_whatever_the_outputs_are_they_are_left_out(tmp_path_factory, value, indent):
    path = tmp_path_factory.mktemp("slim") / "x.ipynb"
    cell = {"outputs": value, "cell_type": "code", "source": 'print("outputs: {[")', "metadata": {"x": value}}
    path.write_text(
        json.dumps({"metadata": {}, "cells": [cell, cell | {"attachments": value}, cell]}, indent=indent) + " " * 5000
    )
    kept = json.loads(slim.read(path, path.stat().st_size - 1))
    assert [c["outputs"] for c in kept["cells"]] == [[], [], []]
    assert [(c["source"], c["metadata"]) for c in kept["cells"]] == [(cell["source"], {"x": value})] * 3


@pytest.mark.parametrize(
    "damage", ['{"cells": [{"outputs": "', '{"outputs": [[[', '"' * 5001, '{"outputs":', "[" * 5000, '{"outputs": "\\']
)
def test_damaged_notebooks_end(tmp_path, damage):
    path = tmp_path / "x.ipynb"
    path.write_text(damage + " " * 5000)
    with contextlib.suppress(exchange.BadData):
        assert len(slim.read(path, 2000)) <= 2000


def test_sources_that_nobody_types_are_cut_off_and_flagged(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text(notebook("a", "b", source="x" * 100_001))
    cells, flags = reading.load(path)
    assert (cells, len(flags)) == ([], 2)
    assert "cut off: cell a has 100001 characters" in flags[0]
    path.write_text(notebook(*map(str, range(50)), source="x" * 50_000)[:-1] + "}")
    cells, flags = reading.load(path)
    assert (len(cells), flags) == (8, ["cut off: more than 400000 characters of source; some cells are left out"])
    path.write_text(notebook(*map(str, range(3000)), source="x"))
    cells, flags = reading.load(path)
    assert (len(cells), flags) == (2000, ["cut off: 3000 code cells; the first 2000 are read"])


def test_cells_of_the_course_are_read_before_others(tmp_path):
    path = tmp_path / "x.ipynb"
    data = json.loads(notebook(*map(str, range(9)), source="x" * 50_000))
    data["cells"][-1]["metadata"] = {"nbgrader": {"grade_id": "07-add"}}
    path.write_text(json.dumps(data))
    cells, _ = reading.load(path)
    assert len(cells) == 8
    assert cells[-1][0] == "07-add"
