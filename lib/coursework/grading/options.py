"""The options of the grader."""


def add_to(parser):
    """Add them to pytest's own."""
    group = parser.getgroup("grading", "grading exercises")
    add = group.addoption
    add("--grade", metavar="PATH", help="folder (or zip) of submissions to grade")
    add("--grade-out", metavar="DIR", default="grades", help="where results go (default: grades)")
    add("--grade-masters", metavar="DIR", help="folder of master notebooks (default: solutions/ of the checkout)")
    add("--grade-exercise", metavar="NN", action="append", help="grade this exercise only (may be repeated)")
    add("--grade-roster", metavar="CSV", help="students of the class: each gets a row, whatever was handed in")
    add("--grade-overrides", metavar="CSV", help="points and comments given by hand (default: DIR/overrides.csv)")
    add("--grade-policy", metavar="TOML", help="due dates, free days, penalties (default: DIR/policy.toml)")
    add("--grade-times", metavar="CSV", help="when what was handed in (default: the dates of the files)")
    add("--grade-sandbox", choices=("auto", "bwrap", "rlimit"), default="auto", help="walls around a submission")
    add("--grade-seed", metavar="TEXT", help="secret that seeds the cases (default: made once, in DIR/seed.txt)")
    add("--grade-force", action="store_true", help="grade again what did not change")
    add("--grade-strict", action="store_true", help="fail an item that lost points")
    add("--grade-cell-seconds", type=float, default=20, help="limit for one cell or call (default: 20)")
    add("--grade-total-seconds", type=float, default=300, help="limit for one submission (default: 300)")
    add("--grade-memory", type=float, default=4, metavar="GB", help="limit of memory (default: 4)")
    add("--grade-dask", metavar="ADDRESS", help="grade on a Dask cluster, as tcp://host:port")
