"""The week that the page for instructors shows, from the first command to the last: each command of it is run, and says
what the page says that it says. Then on from there: work handed in again, exported again.

In the page's boxes `...` stands for anything. What `cat` shows of a file that the instructor writes is where the file
comes from.
"""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from datetime import UTC, datetime

import hostile
import pytest

from coursework import build
from coursework.grading import results, sandbox

NO_BWRAP = sandbox.why_no_bwrap()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(NO_BWRAP), reason=str(NO_BWRAP)),
    pytest.mark.skipif(not shutil.which("make"), reason="the commands are make's"),
]
FILE = "07_vector_add.ipynb"
PAGE = hostile.ROOT / "chapters" / "instructors_class.md"
CLONE = ("lib", "exercises", "solutions", "Makefile", "README.md", "pyproject.toml", "LICENSE", "LICENSE-TEXT.md")
CLONE += ("requirements.in", "requirements.lock", "requirements-gpu.in", "requirements-gpu.lock")
WRITTEN_BY_HAND = ("grades/policy.toml", "grades/overrides.csv")
ROSTER = """student,full name,email
Anna Ant,Anna Ant,anna@x.edu
Ben Bee,Ben Bee,ben@x.edu
Carla Cho,Carla Cho,carla@x.edu
Dan Day,Dan Day,dan@x.edu
elmemma,Emma Elm,emma@x.edu
foxfred,Fred Fox,fred@x.edu
gilgina,Gina Gil,gina@x.edu
hohhal,Hal Hoh,hal@x.edu
iris,Ivy Iris,iris@x.edu
jo,Joan Jo,jo@x.edu
kim,Kit Kim,kim@x.edu
lee,Lee Lin,lee@x.edu
"""
GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,07 Vector add (88213),07 Vector add Current Score
    Points Possible,,,,,35.00,(read only)
"Elm, Emma",2001,e5,emma@x.edu,PAR-1,,
"Fox, Fred",2002,e6,fred@x.edu,PAR-1,,
"Gil, Gina",2003,e7,gina@x.edu,PAR-1,20.00,
"Hoh, Hal",2004,e8,hal@x.edu,PAR-1,,
"Iris, Ivy",2005,e9,iris@x.edu,PAR-1,,
"Jo, Joan",2006,e10,jo@x.edu,PAR-1,,
"Kim, Kit",2007,e11,kim@x.edu,PAR-1,,
"""
WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 1001,Anna Ant,anna@x.edu,Submitted,,35,-,
Participant 1002,Ben Bee,ben@x.edu,Submitted,,35,-,
Participant 1003,Carla Cho,carla@x.edu,Submitted,10.00,35,-,
Participant 1004,Dan Day,dan@x.edu,Submitted,,35,-,
"""
OF_HER_OWN = {
    "07-launch": "def launch(n):\n    threads = 128\n    return (n + threads - 1) // threads, threads",
    "07-add": """@cuda.jit
def add(a, b, out):
    place = cuda.grid(1)
    while place < len(out):
        if place >= len(a):
            out[place] = b[place]
        elif place >= len(b):
            out[place] = a[place]
        else:
            out[place] = a[place] + b[place]
        place += cuda.gridsize(1)""",
    "07-axpy": """@cuda.jit
def axpy(alpha, x, y):
    total = cuda.gridsize(1)
    for turn in range((y.size + total - 1) // total):
        place = turn * total + cuda.grid(1)
        if place < y.size:
            y[place] = y[place] + x[place] * alpha""",
    "07-fused": """@njit(parallel=True)
def bias_silu(x, bias, out):
    features = x.shape[1]
    for place in prange(x.size):
        row, column = place // features, place % features
        value = x[row, column] + bias[column]
        out[row, column] = value * (0.5 + 0.5 * math.tanh(0.5 * value))""",
}
NAMES = {"place": "idx", "threads": "block", "total": "stride", "turn": "k", "features": "width", "value": "z"}


def of_her_own(names=None):
    """Anna's answers; with `names`, the same in Carla's words."""
    notebook = hostile.solved(("07-sectors",))
    for name, source in OF_HER_OWN.items():
        hostile.cell(notebook, name).source = re.sub(r"\w+", lambda m: (names or {}).get(m[0], m[0]), source)
    return notebook


def public():
    notebook = hostile.solved()
    hostile.right(notebook)
    return notebook


def with_a_cell_that_ends_it():
    notebook = hostile.solved()
    hostile.insert(notebook, "import os\nos._exit(1)")
    return notebook


def handed_in():
    """{name in the folder: notebook, None for an empty folder}"""
    return {
        "Anna Ant_1001_assignsubmission_file_": of_her_own(),
        "Ben Bee_1002_assignsubmission_file_": hostile.solved(("07-launch", "07-add")),
        "Carla Cho_1003_assignsubmission_file_": of_her_own(NAMES),
        "Dan Day_1004_assignsubmission_file_": "{ damaged",
        "elmemma_2001_9001_07_vector_add.ipynb": public(),
        "foxfred_LATE_2002_9002_07_vector_add-1.ipynb": hostile.solved(("07-launch", "07-sectors", "07-axpy")),
        "gilgina_2003_9003_07_vector_add.ipynb": hostile.solved(("07-launch",)),
        "hohhal_2004_9004_07_vector_add.ipynb": hostile.solved(()),
        "iris": hostile.solved(("07-sectors",)),
        "jo": hostile.solved(("07-launch",)),
        "kim": None,
        "lee": with_a_cell_that_ends_it(),
    }


IN_TIME = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LATE = {"foxfred": datetime(2026, 11, 22, 10, 0, tzinfo=UTC), "iris": datetime(2026, 11, 21, 10, 0, tzinfo=UTC)}


def put(folder, name, notebook):
    """Hand in, at the time that is theirs."""
    path = folder / name if name.endswith(".ipynb") else folder / name / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    if notebook is not None:
        path.write_text(notebook if isinstance(notebook, str) else build.text_of(notebook), encoding="utf-8")
        when = LATE.get(name.partition("_")[0], IN_TIME).timestamp()
        os.utime(path, (when, when))


class Walk:
    """A folder like a fresh clone, and a shell in it."""

    def __init__(self, here):
        self.here = here
        for name in CLONE:
            (here / name).symlink_to(hostile.ROOT / name)
        (here / "grades").mkdir()
        (here / "class.csv").write_text(ROSTER)
        (here / "gradebook.csv").write_text(GRADEBOOK)
        (here / "worksheet.csv").write_text(WORKSHEET)
        for name, notebook in handed_in().items():
            put(here / "submissions", name, notebook)

    def run(self, line, shown=""):
        """(what a line of the page says when it is run, its exit status)"""
        program, *words = line.split()
        if program == "cat":
            if words[0] in WRITTEN_BY_HAND:
                (self.here / words[0]).write_text(shown, encoding="utf-8")
            return (self.here / words[0]).read_text(encoding="utf-8-sig"), 0
        if program == "make":  # with this Python, in the place of an environment that it would make
            line = f"make PY={sys.executable} -o .venv/.ready -o .venv/.compiled {' '.join(words)}"
        usual = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run(
            line, shell=True, cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900,
            env=usual | {"PYTHONUNBUFFERED": "1", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        return done.stdout, done.returncode

    def rows(self):
        with open(self.here / "grades" / "grades.csv", encoding="utf-8") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def graded_when(self):
        """{student: when their result was written}"""
        found = (self.here / "grades" / "results").glob("*/*.json")
        return {path.parent.name: path.stat().st_mtime_ns for path in found}

    def exported(self, name, column):
        text = (self.here / "grades" / "export" / name).read_text(encoding="utf-8-sig")
        return [row[column] for row in csv.reader(io.StringIO(text))]


def told():
    """[(command, what the page says that it says), ...] in their order"""
    week = PAGE.read_text(encoding="utf-8").partition("\n## One week")[2]
    steps = []
    for box in re.findall(r"```console\n(.*?)```", week, re.DOTALL):
        for part in re.split(r"^\$ ", box, flags=re.MULTILINE)[1:]:
            steps.append(tuple(part.split("\n", 1)))
    return steps


def fits(said, shown):
    """Whether a text is what the page shows, in which a line of three dots is any lines, and three dots any text."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"
        for line in shown.splitlines()
    )
    return re.fullmatch(pattern, said) is not None


def test_dots_stand_for_anything_and_nothing_else_does():
    for said, shown in (("a\nb\nc\n", "a\n...\nc\n"), ("a\nc\n", "a\n...\nc\n"), ("a 12 b\n", "a ... b\n")):
        assert fits(said, shown)
    for said, shown in (("a\nb\n", "a\n"), ("a\n", "a\nb\n"), ("a 12 c\n", "a ... b\n"), ("a\nbc\n", "...\nb\n")):
        assert not fits(said, shown)


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """The week as it stands on the page: (the folder, [(command, shown, said, status), ...], when each was graded, run
    by run)."""
    shell, steps, graded = Walk(tmp_path_factory.mktemp("week")), [], []
    for command, shown in told():
        steps.append((command, shown, *shell.run(command, shown)))
        if command.startswith("make grade"):
            graded.append(shell.graded_when())
    return shell, steps, graded


def test_every_command_of_the_page_says_what_the_page_says(walk):
    _, steps, _ = walk
    assert [command.split()[:2] for command, *_ in steps if command.startswith("make")] == [
        ["make", word] for word in ("release", "grade", "grade", "export", "export", "feedback", "feedback", "feedback")
    ]
    for command, shown, said, _ in steps:
        assert fits(said, shown), f"$ {command}\n{said}\n--- the page:\n{shown}"


def test_a_command_fails_where_somebody_is_left_out_and_only_there(walk):
    failed = [" ".join(command.split()[1:4]) for command, *_, status in walk[1] if status]
    assert failed == [
        "export EX=07 TO=canvas",
        "export EX=07 TO=moodle",
        "feedback EX=07 TO=moodle",
        "feedback EX=07 TO=canvas",
    ]


def test_what_is_handed_out_has_no_answers(walk):
    with zipfile.ZipFile(walk[0].here / "class.zip") as pack:
        names = pack.namelist()
    assert f"exercises/{FILE}" in names
    assert not [name for name in names if name.startswith(("solutions/", "tests/")) or "/hidden/" in name]


def test_each_has_a_row_and_points_by_hand_run_nothing_again(walk):
    shell, _, (first, second) = walk
    assert first == second
    assert len(first) == 12
    assert len(shell.rows()) == 12


def test_each_has_a_page_of_their_own(walk):
    shell = walk[0]
    assert len(list((shell.here / "grades" / "feedback").glob("*.html"))) == 12
    packs = {}
    for which in ("moodle", "canvas", "plain"):
        with zipfile.ZipFile(shell.here / "grades" / "export" / f"feedback-{which}.zip") as pack:
            packs[which] = {name: pack.read(name).decode() for name in pack.namelist()}
    assert {which: len(pages) for which, pages in packs.items()} == {"moodle": 4, "canvas": 4, "plain": 11}
    (ben,) = (text for name, text in packs["moodle"].items() if "Ben Bee" in name)
    assert "the last block is too long" in ben
    assert not [name for name, text in packs["moodle"].items() if text is not ben and "the last block" in text]


def test_points_by_hand_survive_grading_again_and_exports_change_what_is_ours_only(walk):
    """On from the page's end: three hand in again, and somebody enters a grade in Canvas."""
    shell, steps, (*_, before) = walk
    commands = {" ".join(command.split()[1:4]): command for command, *_ in steps}
    files = {name.partition("_")[0]: name for name in handed_in()}
    rows = shell.rows()
    put(shell.here / "submissions", files["Ben Bee"], hostile.solved(("07-launch", "07-add", "07-bug")))
    put(shell.here / "submissions", files["jo"], hostile.solved(("07-launch", "07-sectors")))
    put(shell.here / "submissions", files["iris"], hostile.solved(("07-sectors", "07-add")))
    said, status = shell.run(next(command for command, *_ in steps if command.startswith("make grade")))
    assert status == 0, said
    after = shell.graded_when()
    assert {name for name, when in after.items() if when != before[name]} == {
        results.safe_name("Ben Bee"),
        "jo",
        "iris",
    }
    again = shell.rows()
    assert [rows["Ben Bee"]["final"], again["Ben Bee"]["final"]] == ["4", "7"]  # 1 of 2 for the launch, by hand
    assert [again["jo"][name] for name in ("points", "final", "comment")] == ["4", "15", "agreed in the office hour"]
    assert [rows["iris"]["final"], again["iris"]["final"]] == ["2", "5"]
    changed = {"Ben Bee", "jo", "iris"}
    assert {s: r for s, r in again.items() if s not in changed} == {s: r for s, r in rows.items() if s not in changed}
    # Hal's 0 became a 6 in Canvas since; the file comes back from there
    column = GRADEBOOK.splitlines()[0].split(",").index("07 Vector add (88213)")
    old = (shell.here / "grades" / "export" / "canvas.csv").read_text(encoding="utf-8")
    (shell.here / "gradebook.csv").write_text(old.replace("hal@x.edu,PAR-1,0,", "hal@x.edu,PAR-1,6,"), encoding="utf-8")
    said, _ = shell.run(commands["export EX=07 TO=canvas"])
    assert "hohhal, 07_vector_add: 6 stays, entered there; graded here 0" in said
    assert shell.exported("canvas.csv", column)[2:] == ["35", "8.1", "20.00", "6", "5", "15", ""]
    shell.run(commands["export EX=07 TO=moodle"])
    assert shell.exported("moodle.csv", 4)[1:] == ["17", "7", "10.00", ""]
