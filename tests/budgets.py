"""What a test file and a page of the book may cost: the seconds of tests/budgets.toml, and what exceeds them."""

import tomllib
from pathlib import Path

LENIENT = 1.5  # a shared machine is slower than the one on which the budgets were read


def _table(kind):
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[kind]


def allowed(kind):
    """(the usual budget, {name: its own budget}) of "tests" or "pages"; of tests that rotate, of all."""
    table = _table(kind)
    return table["usual"], {name: seconds for name, (seconds, _) in table.get("own", {}).items()}


def of_day():
    """{name: what a day's part may take} of test files with a budget of their own that rotate."""
    usual, own = allowed("tests")
    files = {name: Path(__file__).parent / name for name in own}
    rotating = [name for name, file in files.items() if file.exists() and "mark.rotates" in file.read_text("utf-8")]
    return dict.fromkeys(rotating, usual) | _table("tests")["day"]


def over(kind, measured, day=False):
    """A sentence for each name in {name: seconds} that took more than its budget, and half as much again. day: of what
    rotates a part was run."""
    usual, own = allowed(kind)
    own = own | of_day() if day else own
    for name, seconds in sorted(measured.items()):
        budget = own.get(name, usual)
        if seconds > LENIENT * budget:
            yield f"{name} took {seconds:.0f} s, its budget is {budget} s (tests/budgets.toml)"
