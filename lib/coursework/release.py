"""A zip for a class: `python -m coursework.release [--out class.zip] [--address https://.../dlkernels-....whl]`.

Holds the exercises, the library, what is needed to install it, and the library as a wheel, which also lies beside the
zip: a notebook alone installs it from its own folder, from the one above, or from `--address`, where you put it for
all. AGENTS.md, beside the notebooks and at the top, asks an AI assistant to teach and not to solve. Leaves out the
solutions, the hidden cases and the tests with their wrong answers. The same checkout always gives the same bytes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from . import build, definition, own
from .lighter import nbformat

TAKEN = (
    "exercises",
    "lib",
    "pyproject.toml",
    "requirements.lock",
    "Makefile",
    "README.md",
    "LICENSE",
    "LICENSE-TEXT.md",
)
TAKEN_IF_THERE = ("requirements.in", "requirements-gpu.in", "requirements-gpu.lock")
README = {"README.md": "exercises/README.md"}  # a class gets the student's, not that of the checkout
LEFT_OUT = (
    "lib/coursework/hidden",
    "lib/coursework/class.json",
    ".student.json",
    "__pycache__",
    ".ipynb_checkpoints",
    ".progress.json",
    "my_kernels.py",
    ".pyc",
    ".egg-info",
)
AGENTS = "AGENTS.md"
_DATE = (2000, 1, 1, 0, 0, 0)


def files(root):
    """The files of a release, relative to `root`, in order; raises FileNotFoundError for one that must be there."""
    root, paths = Path(root), []
    for name in TAKEN + TAKEN_IF_THERE:
        path = root / name
        if path.is_dir():
            paths += [p for p in path.rglob("*") if p.is_file()]
        elif path.is_file():
            paths.append(path)
        elif name in TAKEN:
            raise FileNotFoundError(f"{path} is missing")
    relative = sorted(p.relative_to(root).as_posix() for p in paths)
    left_out = (*LEFT_OUT, *README.values())
    return [name for name in relative if not any(part in name for part in left_out)]


def contents(root, numbers=None):
    """name -> bytes of what a release holds. `numbers`: own.Numbers of a class in which each student has other ones."""
    own_numbers = {"lib/coursework/class.json": numbers.text().encode()} if numbers else {}
    return {name: (Path(root) / README.get(name, name)).read_bytes() for name in files(root)} | own_numbers


def wheel(root, folder, numbers=None):
    """The library as a wheel in `folder`, made of what a release holds and nothing else; returns its path."""
    content = contents(root, numbers)
    with tempfile.TemporaryDirectory() as copy:
        for name, data in content.items():
            target = Path(copy) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--no-build-isolation",
            "-w",
            str(folder),
            copy,
        ]
        environment = os.environ | {"SOURCE_DATE_EPOCH": "946684800", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"the wheel could not be made: {done.stderr.strip().splitlines()[-1]}")
    return next(Path(folder).glob("*.whl"))


def release(root, out, address=None, numbers=None):
    """Write the zip, and the wheel beside it; returns the names in the zip. `numbers`: own.Numbers of the class."""
    out, content = Path(out), contents(root, numbers)
    with tempfile.TemporaryDirectory() as made, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        made = wheel(root, made, numbers)
        (out.parent / made.name).write_bytes(made.read_bytes())
        # AGENTS.md is found wherever a tool begins
        content |= {AGENTS: content[f"exercises/{AGENTS}"], made.name: made.read_bytes()}
        for name, data in content.items():
            if address and name.startswith("exercises/") and name.endswith(".ipynb"):
                data = _addressed(data, Path(name).name, address, build.version(root))
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            pack.writestr(entry, data)
    return list(content)


def _addressed(data, name, address, version):
    """An exercise whose first cell installs from `address`."""
    notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
    build.with_install(notebook, definition.chapter_of(Path(name).stem), address, version)
    return build.text_of(notebook).encode("utf-8")


def _numbers(options):
    """What draws the class's numbers; the grader finds it in its folder."""
    from .grading.results import secret_text

    numbers = own.Numbers.from_secret(secret_text(options.grades), max(1, options.tries))
    (Path(options.grades) / own.NUMBERS).write_text(numbers.text(), encoding="utf-8")
    return numbers


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.release", description="Make a zip for a class.")
    parser.add_argument("--root", default=".", help="the checkout (default: here)")
    parser.add_argument("--out", default="class.zip", help="the zip to write (default: class.zip)")
    parser.add_argument("--own-numbers", action="store_true", help="each student predicts with numbers of their own")
    parser.add_argument("--tries", type=int, default=1, help="how many sets of numbers a student may have (default: 1)")
    parser.add_argument("--grades", default="grades", help="the grader's folder, for the secret (default: grades)")
    parser.add_argument("--address", help="where you will put the wheel: notebooks alone install it from there")
    options = parser.parse_args(argv)
    if not build.masters(options.root):
        sys.exit(f"There is no solutions/ in {Path(options.root).resolve()}: a release is made from a full checkout.")
    stale = build.build(options.root, write=False)
    if stale:
        sys.exit("The exercises are out of date. Run `python -m coursework.build` first.")
    numbers = _numbers(options) if options.own_numbers else None
    try:
        names = release(options.root, options.out, options.address, numbers)
    except OSError as error:
        sys.exit(f"No release was made: {error}")
    print(f"{options.out}: {len(names)} files, without solutions, hidden cases and tests.")
    print(f"{names[-1]}: the library alone, beside the zip. A notebook in a folder of its own installs it from there.")
    if numbers:
        print(
            f"Each student has numbers of their own. {Path(options.grades) / own.NUMBERS} tells the grader: grade into "
            "that folder."
        )
    print("Keep the seed of your class to yourself: pytest --grade ... --grade-seed TEXT, or grades/seed.txt.")


if __name__ == "__main__":
    main()
