"""A zip for a class: `python -m coursework.release [--out class.zip]`.

Holds the exercises, the library and what is needed to install it. Leaves out the solutions, the hidden cases and the
tests with their wrong answers. The same checkout always gives the same bytes.
"""

import argparse
import sys
import zipfile
from pathlib import Path

from . import build

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
LEFT_OUT = (
    "lib/coursework/hidden",
    "__pycache__",
    ".ipynb_checkpoints",
    ".progress.json",
    "my_kernels.py",
    ".pyc",
    ".egg-info",
)
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
    return [name for name in relative if not any(part in name for part in LEFT_OUT)]


def release(root, out):
    """Write the zip; returns the names in it."""
    names = files(root)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name in names:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            pack.writestr(entry, (Path(root) / name).read_bytes())
    return names


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m coursework.release", description="Make a zip for a class.")
    parser.add_argument("--root", default=".", help="the checkout (default: here)")
    parser.add_argument("--out", default="class.zip", help="the zip to write (default: class.zip)")
    options = parser.parse_args(argv)
    if not build.masters(options.root):
        sys.exit(f"There is no solutions/ in {Path(options.root).resolve()}: a release is made from a full checkout.")
    stale = build.build(options.root, write=False)
    if stale:
        sys.exit("The exercises are out of date. Run `python -m coursework.build` first.")
    try:
        names = release(options.root, options.out)
    except OSError as error:
        sys.exit(f"No release was made: {error}")
    print(f"{options.out}: {len(names)} files, without solutions, hidden cases and tests.")
    print("Keep the seed of your class to yourself: pytest --grade ... --grade-seed TEXT, or grades/seed.txt.")


if __name__ == "__main__":
    main()
