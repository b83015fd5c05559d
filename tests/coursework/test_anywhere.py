"""Exercises outside of the checkout: a notebook alone, a wheel, a folder that cannot be written, a run of all cells."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import warnings
import zipfile
from pathlib import Path

import nbformat
import pytest
from setuptools import find_packages

from coursework import build, definition, release

pytestmark = pytest.mark.rotates

ROOT = Path(__file__).resolve().parents[2]
NAMES = [path.name for path in build.masters(ROOT)]
WHEEL = "dlkernels-0.1.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return release.wheel(ROOT, tmp_path_factory.mktemp("wheel"))


def in_zip(path):
    with zipfile.ZipFile(path) as pack:
        return pack.namelist()


def test_the_wheel_has_the_library_and_nothing_kept_back(wheel):
    names = in_zip(wheel)
    tops = {name.split("/")[0] for name in names}
    assert tops == {
        "simt",
        "dlkernels",
        "training",
        "workers",
        "opencl",
        "cpulab",
        "coursework",
        "dlkernels-0.1.0.dist-info",
    }
    for needed in (
        "coursework/notebook.py",
        "coursework/install_cell.py",
        "simt/xray/xray.css",
        "cpulab/figures/book.mplstyle",
    ):
        assert needed in names
    assert not [
        n for n in names if any(word in n for word in ("hidden", "solutions", "wrong_answers", "tests", ".ipynb"))
    ]
    with zipfile.ZipFile(wheel) as pack:
        sources = b"".join(pack.read(n) for n in names if n.endswith(".py"))
    kept_back = (ROOT / "lib/coursework/hidden/c02.py").read_text(encoding="utf-8")
    assert '"all places for one, 5 places"' in kept_back
    assert b"all places for one, 5 places" not in sources


@pytest.mark.quick
def test_pip_install_of_the_checkout_leaves_hidden_cases_out():
    wish = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    packages = find_packages(ROOT / wish["where"][0], exclude=wish["exclude"])
    assert "coursework.grading" in packages
    assert "coursework.hidden" not in packages
    assert "coursework.hidden" in find_packages(ROOT / wish["where"][0])


def test_a_release_has_the_wheel_and_the_address(tmp_path, wheel):
    release.release(ROOT, tmp_path / "class.zip", "https://example.org/course.whl")
    assert (tmp_path / WHEEL).read_bytes() == wheel.read_bytes()  # the same on every day
    with zipfile.ZipFile(tmp_path / "class.zip") as pack:
        assert pack.read(WHEEL) == wheel.read_bytes()
        shipped = json.loads(pack.read(f"exercises/{NAMES[0]}"))
    install = next(cell for cell in shipped["cells"] if cell["cell_type"] == "code")
    wanted = f'ADDRESS, VERSION = "https://example.org/course.whl", "{build.version(ROOT)}"'
    assert wanted in "".join(install["source"])


# The first cell ------------------------------------------------------------------------------------------------------


PIP = """
import pathlib, shutil, sys, zipfile
here = pathlib.Path(__file__).parents[1]
if (here / "pip says").exists():
    sys.exit((here / "pip says").read_text())
for old in here.glob("dlkernels-*.dist-info"):
    shutil.rmtree(old)
zipfile.ZipFile(sys.argv[-1]).extractall(here)
"""


def library(version):
    """The files of a library in little."""
    metadata = f"Metadata-Version: 2.1\nName: dlkernels\nVersion: {version}\n"
    return {"coursework/__init__.py": "", f"dlkernels-{version}.dist-info/METADATA": metadata}


def little_wheel(folder, version):
    with zipfile.ZipFile(folder / f"dlkernels-{version}-py3-none-any.whl", "w") as pack:
        for name, text in library(version).items():
            pack.writestr(name, text)


@pytest.fixture
def there(tmp_path):
    """run(version of the notebook, address) runs the first cell in tmp_path/work, in a Python that has nothing (-S: no
    site-packages) but `there.packages`: a pip that only unpacks."""
    packages, work = tmp_path / "packages", tmp_path / "work"
    (packages / "pip").mkdir(parents=True)
    work.mkdir()
    (packages / "pip" / "__init__.py").write_text("")
    (packages / "pip" / "__main__.py").write_text(PIP)

    class There:
        def has(self, version):
            for name, text in library(version).items():
                (packages / name).parent.mkdir(exist_ok=True)
                (packages / name).write_text(text)

        def pip_says(self, text):
            (packages / "pip says").write_text(text)

        def run(self, version="", address="", before=""):
            cell = build.INSTALL.read_text().replace(build.NOWHERE, f"ADDRESS, VERSION = {address!r}, {version!r}")
            environment = os.environ | {"PYTHONPATH": str(packages), "PYTHONDONTWRITEBYTECODE": "1"}
            command = [sys.executable, "-S", "-c", before + cell]
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
            assert "Traceback" not in done.stderr
            return done.returncode, done.stdout + done.stderr

        @property
        def version(self):
            return [path.name.split("-")[1].removesuffix(".dist") for path in packages.glob("dlkernels-*.dist-info")]

    found = There()
    found.packages, found.work = packages, work
    return found


@pytest.mark.quick
@pytest.mark.parametrize("name", NAMES)
def test_every_notebook_begins_with_the_cell_that_installs(name):
    for folder in ("solutions", "exercises"):
        first = next(c for c in build.read(ROOT / folder / name).cells if c.cell_type == "code")
        assert build.is_install(first)
        cell = build.INSTALL.read_text(encoding="utf-8").rstrip()
        assert cell.count(build.NOWHERE) == 1
        assert first.source == cell.replace(build.NOWHERE, f'ADDRESS, VERSION = "", "{build.version(ROOT)}"')
        assert not first.outputs  # here all is there


@pytest.mark.quick
def test_the_first_cell_says_what_is_missing(there):
    code, said = there.run("0.2.0")
    assert code == 1
    assert "is not installed. No dlkernels-*.whl of version 0.2.0 or later lies in this folder" in said
    little_wheel(there.work, "0.1.9")
    assert there.run("0.2.0") == (code, said)


@pytest.mark.parametrize(
    ("beside", "above", "newest"),
    [
        (["0.9.0", "0.10.0"], [], "0.10.0"),
        (["0.9.0"], ["0.10.0", "0.2.0"], "../0.10.0"),
        (["1.0rc1", "1.0"], ["0.99"], "1.0"),
        (["0.10"], ["0.10"], "0.10"),
    ],
)
def test_of_several_wheels_the_newest_is_taken(there, beside, above, newest):
    for folder, versions in ((there.work, beside), (there.work.parent, above)):
        for version in versions:
            little_wheel(folder, version)
    (there.work / "dlkernels-9.9-py3-none-any.whl").mkdir()  # no file
    version = newest.split("/")[-1]
    code, said = there.run()
    path = newest.replace(version, f"dlkernels-{version}-py3-none-any.whl")
    assert (code, said) == (0, f"Installed the library of this course from {path}.\n")
    assert there.version == [version]
    assert there.run() == (0, "")


@pytest.mark.quick
def test_an_older_library_gives_way_to_a_newer_wheel(there):
    there.has("0.9.0")
    little_wheel(there.work, "0.8.0")
    assert there.run("0.9.0") == (0, "")
    little_wheel(there.work, "0.10.0")
    code, said = there.run("0.9.0")
    wheel = "dlkernels-0.10.0-py3-none-any.whl"
    assert (code, said) == (0, f"Installed the library of this course from {wheel}, in the place of version 0.9.0.\n")
    assert there.run("0.9.0") == (0, "")
    little_wheel(there.work, "0.11.0")
    code, said = there.run("0.9.0", before="import coursework\n")
    assert code == 0
    assert said.endswith("restart the kernel (menu Kernel), and run this cell again.\n")


def test_a_library_older_than_the_notebook_is_told_and_used(there):
    there.has("0.9.0")
    code, said = there.run("0.10.0")
    assert code == 0
    assert "is of version 0.9.0, and this notebook is newer. No dlkernels-*.whl of version 0.10.0 or later" in said
    little_wheel(there.packages, "0.10.0")
    address = str(there.packages / "dlkernels-0.10.0-py3-none-any.whl")
    assert f"from {address}, in the place of version 0.9.0." in there.run("0.10.0", address)[1]
    assert there.version == ["0.10.0"]


def test_a_library_without_a_version_is_that_of_a_checkout(there):
    (there.packages / "coursework").mkdir()
    (there.packages / "coursework" / "__init__.py").write_text("")
    little_wheel(there.work, "0.10.0")
    assert there.run("0.11.0") == (0, "")


@pytest.mark.parametrize("place", [".", ".."])
@pytest.mark.parametrize("how", ["text", "cut", "changed", "empty"])
def test_a_damaged_wheel_is_told_as_such(there, place, how):
    little_wheel(there.work / place, "0.10.0")
    wheel = there.work / place / "dlkernels-0.10.0-py3-none-any.whl"
    whole = wheel.read_bytes()
    changed = whole.replace(b"Name: dl", b"Name: ld")
    wheel.write_bytes({"text": b"<html>Please log in", "cut": whole[:-30], "changed": changed, "empty": b""}[how])
    code, said = there.run()
    assert code == 1
    assert f"{'' if place == '.' else '../'}{wheel.name} is damaged (" in said
    assert "copied only in part? Get it again" in said
    assert "network" not in said
    there.has("0.9.0")
    assert there.run()[0] == 0  # told, and the old one used


OFFLINE = """WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(...)': /simple/numba/
ERROR: Could not find a version that satisfies the requirement numba>=0.61 (from dlkernels) (from versions: none)
ERROR: No matching distribution found for numba>=0.61"""


@pytest.mark.parametrize(
    ("stderr", "told", "network"),
    [
        (OFFLINE, "pip said: ERROR: Could not find a version that satisfies the requirement numba", True),
        ("/usr/bin/python3: No module named pip", "pip said: /usr/bin/python3: No module named pip", False),
        ("error: externally-managed-environment\n\nhint: See PEP 668", "said: error: externally-managed", False),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left", "No space left", False),
        ("ERROR: Package 'dlkernels' requires a different Python: 3.10.1 not in '>=3.11'", "a different Python", False),
    ],
    ids=("offline", "no pip", "managed", "full", "old Python"),
)
def test_why_pip_failed_is_told_and_the_network_blamed_for_what_it_does(there, stderr, told, network):
    little_wheel(there.work, "0.10.0")
    there.pip_says(stderr)
    code, said = there.run()
    assert code == 1
    assert "It could not be installed from dlkernels-0.10.0-py3-none-any.whl." in said
    assert told in said
    assert ("It needs the network, for numba and other packages: is there one?" in said) == network


def test_a_repository_in_pyproject_is_the_address(tmp_path):
    assert (build.address(tmp_path), build.version(tmp_path)) == ("", "")
    (tmp_path / "pyproject.toml").write_text('[project.urls]\nRepository = "https://example.org/r"\n')
    assert build.address(tmp_path) == "git+https://example.org/r"


@pytest.mark.slow
def test_a_notebook_and_a_wheel_alone_in_an_empty_environment(tmp_path, wheel):
    """Needs the network."""
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "DLKERNELS"))}
    python, work = tmp_path / "venv" / "bin" / "python", tmp_path / "work"
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "nbconvert", "ipykernel"], check=True, env=bare)
    work.mkdir()
    shutil.copy(wheel, work)
    shutil.copy(ROOT / "exercises" / "07_vector_add.ipynb", work)
    offline = bare | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull}
    failed = convert(python, work, offline)
    assert failed.returncode != 0
    assert "is there one? Then run this cell again" in failed.stderr
    first = convert(python, work, bare)
    assert first.returncode == 0, first.stderr
    assert f"Installed the library of this course from {WHEEL}." in all_text(work / "done.ipynb")
    again = convert(python, work, bare)
    assert again.returncode == 0, again.stderr
    assert "Installed the library" not in all_text(work / "done.ipynb")


# All cells at once ---------------------------------------------------------------------------------------------------


def convert(python, folder, environment=None, name="07_vector_add.ipynb"):
    command = [python, "-m", "nbconvert", "--to", "notebook", "--execute", name, "--output", "done.ipynb"]
    return subprocess.run([*map(str, command)], cwd=folder, env=environment, capture_output=True, text=True)


def all_text(path):
    """What the outputs of a notebook say, as text."""
    cells = nbformat.read(path, as_version=4).cells
    outputs = [o for c in cells if c.cell_type == "code" for o in c.outputs]
    return "\n".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n.startswith("07") else pytest.mark.slow) for n in NAMES])
def test_an_exercise_as_shipped_runs_to_its_end_and_every_check_is_red(tmp_path, name):
    shutil.copy(ROOT / "exercises" / name, tmp_path)
    done = convert(sys.executable, tmp_path, name=name)
    assert done.returncode == 0, done.stderr
    cells = [c for c in nbformat.read(tmp_path / "done.ipynb", as_version=4).cells if c.cell_type == "code"]
    assert all(c.execution_count for c in cells)
    for cell in cells:
        errors = [o for o in cell.outputs if o.output_type == "error"]
        if build.is_check(cell):
            said = json.dumps(cell.outputs)
            assert re.search("not solved yet|not answered yet|a second part", said)
            (error,) = errors
            assert error.ename == "NotSolvedYet"
            assert len(error.traceback) == 1  # a line, no stack
        elif build.GOES_ON in cell.metadata.get("tags", ()):  # it calls an answer that is not there yet
            assert {error.ename for error in errors} <= {"NotImplementedError"}, cell.source
        else:
            assert not errors, cell.source


def test_nbval_still_sees_red(tmp_path):
    """The tag lets Jupyter go on; it must not turn a red check into a test that passes."""
    exercise = build.read(ROOT / "exercises" / "07_vector_add.ipynb")
    exercise.cells = [c for c in exercise.cells if c.id in ("07-setup", "07-launch", "07-launch-check")]
    assert build.GOES_ON in exercise.cells[-1].metadata["tags"]
    (tmp_path / "07.ipynb").write_text(build.text_of(exercise))
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "-p", "no:cacheprovider", "-q", "07.ipynb"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout


OFFER = "# Take away the # when the check above is green:\n"


OFFERING = [
    n for n in NAMES if all(text in (ROOT / "solutions" / n).read_text() for text in ("-look-try", OFFER.rstrip()))
]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n.startswith("07") else pytest.mark.slow) for n in OFFERING]
)
def test_what_notebooks_offer_to_look_at_works(tmp_path, name):
    """The lines to take the # away from, with the answer of the master."""
    master = build.read(ROOT / "solutions" / name)
    cells = [c for c in master.cells if c.cell_type == "code"]
    number = next(i for i, c in enumerate(cells) if c.id.endswith("-look-try"))
    answer = [c for c in cells[:number] if build.is_answer(c)][-1]
    head, wish, tail = cells[number].source.partition(OFFER)
    assert wish
    cells[number].source = head + tail.replace("# ", "")
    master.cells = [next(c for c in cells if c.id.endswith("-setup")), answer, cells[number]]
    (tmp_path / name).write_text(build.text_of(master))
    done = convert(sys.executable, tmp_path, name=name)
    assert done.returncode == 0, done.stderr
    look = nbformat.read(tmp_path / "done.ipynb", as_version=4).cells[-1]
    assert [o for o in look.outputs if o.output_type == "execute_result"]


# A folder that cannot be written -------------------------------------------------------------------------------------

TRY = """
from coursework import notebook, progress
from coursework.tasks.c07 import LAUNCH
for _ in range(3):
    notebook.hint("07-launch")
for _ in range(2):
    try:
        notebook.check("07-launch", lambda n: 1)
    except notebook.CheckFailed:
        pass
print(progress.table(progress.read()))
"""


def where_nothing_can_be_written(folder, code):
    """Run `code` in `folder`, closed to writing; the superuser may write everywhere, unless that right is dropped."""
    folder.chmod(0o555)
    drop = []
    if os.geteuid() == 0:
        drop = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.run(
        [*drop, sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.mark.skipif(os.name == "nt" or (os.geteuid() == 0 and not shutil.which("setpriv")), reason="cannot be closed")
def test_in_a_folder_that_cannot_be_written_all_works_and_it_is_said_once(tmp_path):
    done = where_nothing_can_be_written(tmp_path, TRY)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("kept only until this notebook is closed") == 1
    assert "which hints you have seen" in done.stdout
    assert [f"Hint {n} of 3" in done.stdout for n in (1, 2, 3)] == [True] * 3
    assert "read first" in done.stdout  # after the second failure: tries are counted, too
    assert "2 tries" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_how_long_checks_take_in_a_fresh_process_is_told():
    import check_times

    rows = check_times.table([task.id for task in definition.everything()])  # each is right; its time is told
    said = check_times.complaints(rows)
    if said:
        warnings.warn("\n".join(said), stacklevel=1)
