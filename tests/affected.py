"""Runs the tests that changed files reach, and says why: `make affected [BASE=rev] [LIST=1] [ALL=1]`.

Changed is what differs from BASE, by default from where the branch left origin/main (without one: from HEAD). What is
not committed, and new files, count. Who uses what: uses.py. For each changed file run

whole   the test files that use it, directly or by others. For a file of a package: if they lie in the folders of the
        package's own tests (HOMES), or use the very file. Where their budgets come to more than MOST seconds, the
        farthest run as these:
quick   the other test files that it reaches: what `make quick` runs of them. So do, for files that nobody names, all
        that may need them (UNNAMED).
named   what goes through a whole family, by ids: of tests of every rung (BY_RUNG) those whose rungs use the file; of
        tests of all tasks, answers, mistakes, notebooks and pages (FAMILIES) those of the one that was changed.
nbval   the notebooks of solutions/ that use it.
pages   whose code uses it, the nearest MOST_PAGES, measured in a hurry. Tests that look at the built book need a newer
        one.

What looks at the whole repository (ALWAYS) runs whatever was changed, and the style of what was changed is checked.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import budgets
from uses import MASTER, PAGE, ROOT, TEST, Uses, git

TOGETHER = 4  # processes that share the machine, as budgets.toml has it
MOST = 1200  # seconds of budgets: five minutes
MOST_PAGES = 8
HOMES = {
    "lib/simt": ("simt", "xray", "zoo"),
    "lib/dlkernels": ("kernels", "simd", "schedules"),
    "lib/training": ("training",),
    "lib/workers": ("workers",),
    "lib/opencl": ("opencl",),
    "lib/cpulab": ("threads", "measure"),
    "lib/coursework": ("coursework", "grading", "wrong_answers"),
}
UNNAMED = (
    (r"tests/conftest\.py|pyproject\.toml|requirements[\w.-]*|lib/coursework/lighter\.py", "tests/"),
    (r"_ext/.*|_static/.*|_\w+\.yml|conf\.py|references\.bib", "tests/book/"),
)
ALWAYS = tuple(f"tests/project/test_{name}.py" for name in ("mutations", "repository"))
BY_RUNG = tuple(f"tests/kernels/test_{name}.py" for name in ("layouts", "on_gpus", "operations", "rungs"))
FAMILIES = (  # (its files, words in the ids of one of them, what test files of the family hold, one's share)
    (r"lib/coursework/(?:tasks|hidden|variants)/c(\d\w*)(?:/\w+)?\.py", (r"\1-",), r"definition\.(?:everything|chapters)\(", 0.1),
    (r"tests/wrong_answers/(\d\w*?)_(\w+)\.py", (r"\1-\2",), r"wrong.answers|import answers", 0.01),
    (r"tests/mistakes/(\w+?)_(\w+)\.toml", (r"\1-\2",), r"\bmistakes\b|import answers", 0.01),
    (r"(?:solutions|exercises)/(\w+?)_(\w+)\.ipynb", (r"\1-", r"\1_\2"), r"solutions|exercises|masters", 0.1),
    (r"(?:chapters/)?(\w+)\.md", (r"\1",), r"(?m)^from built import .*\bpages$|^PAGES = .*\"chapters\"", 0.02),
)  # fmt: skip


def changed_since(base=None):
    """(the commit, the files that differ from it)."""
    base = base or (git("merge-base", "HEAD", "origin/main") or ["HEAD"])[0]
    if not git("rev-parse", "--verify", f"{base}^{{commit}}"):
        sys.exit(f"There is no commit {base}.")
    new = git("ls-files", "-z", "--others", "--exclude-standard")
    return base, sorted({*git("diff", "--name-only", "--no-renames", "-z", base), *new})


class Plan:
    """What is to be run: whole, quick, notebooks and pages are {file: (steps away, by what)}, named {file: (words,
    share)}."""

    def __init__(self, changed, uses, everything=False):
        tests = (name for name in uses.files if re.fullmatch(TEST, name))
        self.texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in tests}
        self.whole, self.quick, self.named, self.notebooks, self.pages = {}, {}, {}, {}, {}
        self.python = [name for name in changed if name.endswith(".py") and name in uses.files]
        for name in changed:
            self.add(name, uses)
        self.left = [] if everything else [*cut(self.whole, MOST, "tests"), *cut(self.pages, MOST_PAGES)]
        self.quick |= {test: (99, "what takes too long") for test in self.left if test in self.texts}
        self.whole |= dict.fromkeys(ALWAYS, (0, "whatever was changed"))
        self.named = {test: named for test, named in self.named.items() if test not in self.whole}
        quick = (test for test in self.quick.keys() - self.whole.keys() if "mark.quick" in self.texts[test])
        self.quick = {test: self.quick[test] for test in quick}

    def add(self, name, uses):
        """What one changed file asks for."""
        removed = name.startswith("lib/") and name not in uses.files
        reached = uses.reached_from(f"{Path(name).parent.as_posix()}/__init__.py" if removed else name)
        home = HOMES.get("/".join(name.split("/")[:2]))
        rungs = sorted(uses.rungs & reached.keys()) if name.startswith("lib/dlkernels") else []
        for test in self.texts.keys() & reached.keys():
            if rungs and test in BY_RUNG and reached[test][0] > 1:
                continue
            near = home is None or reached[test][0] <= 1 or test.split("/")[1] in home
            note(self.whole if near else self.quick, test, reached[test])
        for pattern, folder in UNNAMED:
            for test in self.texts if re.fullmatch(pattern, name) else ():
                if test.startswith(folder):
                    note(self.quick, test, (1, name))
        for test in BY_RUNG if rungs else ():
            operations = sorted(uses.operations & reached.keys())
            self.name(
                test, [*rungs, *(f"[{one}{end}" for one in operations for end in "-]")], len(rungs) / len(uses.rungs)
            )
        if name.startswith("lib/"):
            self.name("tests/project/test_architecture.py", [name.removeprefix("lib/"), "circle"], 0.1)
        for file, (steps, used) in reached.items():
            if steps == 0 or (steps == 1 and not file.endswith(".ipynb")):
                self.add_family(file, uses)
            for pattern, kind in ((PAGE, self.pages), (MASTER, self.notebooks)):
                if re.fullmatch(pattern, file) and file in uses.files:
                    about_it = Path(name).parent.name in file or Path(name).stem in file
                    note(kind, file, (steps - about_it / 2 if steps else 0, used))

    def add_family(self, file, uses):
        """Of families, the tests of this file; with tasks, the notebook that they are in."""
        for pattern, words, holds, share in FAMILIES:
            if one := re.fullmatch(pattern, file):
                for test, text in self.texts.items():
                    if re.search(holds, text):
                        self.name(test, [one.expand(word) for word in words], share)
                for master in uses.files if "coursework" in file else ():
                    if (other := re.fullmatch(MASTER, master)) and other[1] == one[1]:
                        note(self.notebooks, master, (1, file))

    def name(self, test, words, share):
        before, part = self.named.get(test, ([], 0))
        self.named[test] = (list(dict.fromkeys([*before, *words])), min(1, part + share))

    def seconds(self):
        tests = sum(seconds("tests", test) for test in self.whole)
        tests += sum(seconds("tests", test) * share for test, (_, share) in self.named.items())
        tests += 2 * len(self.quick) + 10 * len(self.notebooks)
        return tests / TOGETHER + sum(seconds("pages", page) for page in self.pages)

    def lines(self):
        """What is run and why, in a few lines."""
        for title in ("whole", "quick", "notebooks", "pages"):
            by = defaultdict(list)
            for file, (_, used) in sorted(getattr(self, title).items()):
                by["themselves changed" if used == file else f"by {used}"].append(file.removeprefix("tests/"))
            yield from (f"{title:<9}  {few(files)} ({why})" for why, files in by.items())
        by = defaultdict(list)
        for test, (words, _) in sorted(self.named.items()):
            by[few(words)].append(test.removeprefix("tests/"))
        yield from (f"named      {few(tests)}: {words}" for words, tests in by.items())
        if self.left:
            yield f"left       {few(self.left)}: too long for now, or too many (ALL=1 runs them)"
        yield f"about {self.seconds():.0f} s, as tests/budgets.toml has it"

    def commands(self, book, arguments):
        """The programs that run it. book: tests of the built book, too."""
        pytest, files = [sys.executable, "-m", "pytest", "-q"], sorted({*self.whole, *self.named, *self.quick})
        words = defaultdict(list, {test: [*words] for test, (words, _) in self.named.items()})
        for test in self.quick:
            words[test].append("quick")
        chosen = [Path(test).name for test in self.whole]
        chosen += [f"({Path(test).name} and ({' or '.join(some)}))" for test, some in words.items()]
        marks = "not slow" if book else "not slow and not book"
        if self.python:
            yield [sys.executable, "-m", "ruff", "check", "-q", *self.python]
            yield [sys.executable, "-m", "ruff", "format", "--check", "-q", *self.python]
        yield [*pytest, *files, "-k", " or ".join(chosen), "-m", marks, *arguments]
        if self.notebooks:
            yield [*pytest, "--nbval", *sorted(self.notebooks), "-p", "no:cacheprovider", *arguments]
        if self.pages:
            yield [sys.executable, "tests/book/under.py", "--set", "CPULAB_HURRY=1", *sorted(self.pages)]


def note(kind, file, why):
    """Keep the nearest reason."""
    kind[file] = min(kind.get(file, why), why)


def cut(kind, most, table=None):
    """Take out of {file: (steps, by what)} what is beyond so many seconds of a table of budgets, or so many files."""
    spent, out = 0, []
    for file in sorted(kind, key=lambda file: (kind[file][0], table and seconds(table, file), file)):
        cost = seconds(table, file) if table else 1
        if spent + cost > most and kind[file][0] > 0:
            out.append(file)
        else:
            spent += cost
    for file in out:
        del kind[file]
    return out


def seconds(table, file):
    usual, own = budgets.allowed(table)
    return own.get(file.removeprefix("tests/").removesuffix(".md"), usual)


def few(names):
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def book_is_newer(changed):
    """Whether the book was built after these files were changed."""
    built = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"), "index.html")
    shown = [ROOT / name for name in changed if re.match("chapters|_|intro|lib", name)]
    return built.exists() and all(path.stat().st_mtime < built.stat().st_mtime for path in shown if path.exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--base", help="changed since this commit")
    parser.add_argument("--list", action="store_true", help="print only")
    parser.add_argument("--all", action="store_true", help="however long it takes")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, behind --")
    wish = parser.parse_args()
    base, changed = changed_since(wish.base)
    print(f"changed since {base[:10]}: {few(changed) or 'nothing'}", flush=True)
    if not changed:
        return 0
    plan, book = Plan(changed, Uses(), wish.all), book_is_newer(changed)
    print("\n".join(plan.lines()), "" if book else "(without tests of the built book: `make html` first)", flush=True)
    if wish.list:
        return 0
    codes = [subprocess.run(one, cwd=ROOT, check=False).returncode for one in plan.commands(book, wish.pytest)]
    return int(any(code not in (0, 5) for code in codes))  # 5: no test has such an id


if __name__ == "__main__":
    sys.exit(main())
