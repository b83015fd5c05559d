"""What a newcomer meets first: README, Makefile, lock files. And what must not stand in the repository."""

import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]


def tracked(*patterns):
    listing = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def make(*arguments):
    return subprocess.run(["make", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_make_command_of_the_readme_exists_and_is_explained():
    commands = set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")))
    commands -= {"python"}
    explained = set(re.findall(r"make ([a-z-]+) +\S", make("help").stdout))
    assert {"read", "test", "work", "check", "grade"} <= commands
    assert commands <= explained, f"not in `make help`: {sorted(commands - explained)}"


def test_too_old_a_python_is_refused_with_a_sentence(tmp_path):
    old = tmp_path / "python3"
    program = f"""shift; exec '{sys.executable}' -c "$(printf '%s' "$1" | sed 's/(3, 11)/(9, 9)/')" """
    old.write_text(f"#!/bin/sh\n{program}\n")
    old.chmod(0o755)
    done = make("-n", "help", f"PYTHON={old}")
    assert done.returncode == 0
    done = make(".venv/.ready", "-B", f"PYTHON={old}")
    assert done.returncode != 0
    assert re.search(r"needs Python 3\.11 or newer; .*python3 is \d", done.stderr + done.stdout)


def test_grade_without_submissions_says_what_is_missing():
    done = make("grade")
    assert done.returncode != 0
    assert "make grade SUBMISSIONS=folder" in done.stdout


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-gpu.lock"])
def test_lock_names_versions_and_no_host(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text.lower()
    pins = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    assert len(pins) > 10
    for pin in pins:
        assert re.match(r"^[a-zA-Z0-9_.\[\]-]+==\S+( ;.*)?$", pin), pin


def test_lock_covers_what_the_package_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    locked = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M))
    for requirement in wanted:
        assert re.match(r"[a-z0-9-]+", requirement)[0] in locked, requirement


def test_nothing_names_a_path_of_one_machine():
    pattern = re.compile(r"(?<![\w./-])/(?:work|root|home)/|\.pyenv\b|--(?:extra-)?index[-]url")
    found = []
    for path in tracked():
        if path.suffix in (".svg", ".png", ".lock") or "_vendor" in path.parts or path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not found, "\n".join(found)


def test_no_tracked_file_is_huge():
    assert not [path for path in tracked() if path.stat().st_size > 3_000_000]


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_the_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            ["make", "-o", ".venv/.ready", "-o", "_build/.sources", "read", f"PY={sys.executable}", f"PORT={port}"],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode != 0
    assert f"Port {port} cannot be used" in done.stdout
    assert f"PORT={port + 1}" in done.stdout


def test_no_two_test_files_are_imported_under_one_name():
    """pytest imports a file by its name below the last folder without __init__.py, and refuses the second."""
    names = {}
    for path in tracked("tests/*.py"):
        if path.name == "conftest.py" or path.name == "__init__.py":
            continue
        folder = path.parent
        while (folder / "__init__.py").exists():
            folder = folder.parent
        names.setdefault(path.relative_to(folder), []).append(str(path.relative_to(ROOT)))
    twice = {str(name): paths for name, paths in names.items() if len(paths) > 1}
    assert not twice, f"give these files names of their own: {twice}"


def test_every_folder_of_tests_has_quick_ones():
    folders = {path.parent for path in tracked("tests/**/test_*.py")}
    without = [
        str(folder.relative_to(ROOT))
        for folder in folders
        if not any("pytest.mark.quick" in path.read_text(encoding="utf-8") for path in folder.glob("test_*.py"))
    ]
    assert len(folders) > 10
    assert not without, f"`make quick` runs nothing of {without}"
