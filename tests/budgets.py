"""What a test file and a page of the book may cost: the seconds of tests/budgets.toml, and what exceeds them."""

import tomllib
from pathlib import Path

LENIENT = 1.5  # a shared machine is slower than the one on which the budgets were read


def allowed(kind):
    """(the usual budget, {name: its own budget}) of "tests" or "pages"."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[kind]
    return table["usual"], {name: seconds for name, (seconds, _) in table.get("own", {}).items()}


def over(kind, measured):
    """A sentence for each name in {name: seconds} that took more than its budget, and half as much again."""
    usual, own = allowed(kind)
    for name, seconds in sorted(measured.items()):
        budget = own.get(name, usual)
        if seconds > LENIENT * budget:
            yield f"{name} took {seconds:.0f} s, its budget is {budget} s (tests/budgets.toml)"
