"""No page fails because of a clock, on any machine; what came out otherwise is said where the reader looks."""

import json
import os
import re
import subprocess
import sys

import pytest
from built import ROOT

sys.path.insert(0, str(ROOT / "_ext"))
import claims
import clocks
import under

PAGES = [str(path.relative_to(ROOT)) for path in clocks.pages()]
MEASURED = [page for page in PAGES if "measure.claim(" in (ROOT / page).read_text(encoding="utf-8")]
# What a reader's machine may be: a clock that lies, one core, older instructions, a BLAS told to be older, busy cores.
MACHINES = [
    {"clock": 1},
    {"clock": 2, "cores": 1},
    {"variables": {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": ""}},
    {"variables": {"OPENBLAS_CORETYPE": "Haswell"}},
    {"busy": os.cpu_count()},
]


@pytest.mark.quick
@pytest.mark.parametrize("page", PAGES)
def test_no_assertion_looks_at_a_clock(page):
    found = clocks.Page((ROOT / page).read_text(encoding="utf-8")).assertions()
    assert not found, f"a clock decides here; say it by measure.claim, or mark what is exact by `# exact: why`: {found}"


@pytest.mark.quick
@pytest.mark.parametrize("page", MEASURED)
def test_no_note_is_hidden(page):
    """What a cell shows is dropped with these tags: a reader would not hear that something came out otherwise."""
    for cell in re.findall(
        r"^```\{code-cell\}.*?^```$", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        assert "claim(" not in cell or not re.search(r"remove-cell|remove-output|hide-output|hide-cell", cell), cell


def cell(code):
    return f"```{{code-cell}} ipython3\n{code}\n```\n"


@pytest.mark.quick
@pytest.mark.parametrize(
    "code",
    [
        "t = measure.times({})\nassert t.ratio('a', 'b').ratio > 1",
        "begun = time.perf_counter()\ntook = time.perf_counter() - begun\nassert took < 1",
        "def took(f):\n    return perf_counter() - f()\nassert took(f) < 1",
        "share = {}\ndef beside(a):\n    share.update({a: measure.fastest({})})\n```\n```{code-cell}\nassert "
        "share['a'] < 1",
        "for name, s in measure.fastest({}).items():\n    assert s < 1, name",
        "a, b = 1, measure.ratio(f, g)\nassert a == 1 and b.ratio > 2",
        "begun = time.time()\nassert time.time() - begun < 1",
        "from time import perf_counter as now\nbegun = now()\nassert now() - begun < 1",
        "slow = measure.fastest({})\nassert len([t for t in slow.values() if t > 1]) < 3",
        "t = perf_counter()\nif short:\n    t = 0\nassert t < 1",
        "from cpulab.measure import fastest\nt = fastest({})\nassert t['a'] < 1",
        "with time_it(measure.Timeline()) as log:\n    pass\nassert log.overlap() > 0",
        "best = min(times, key=lambda t: t)\ntimes = [measure.ratio(f, g)]\nbest = min(times)\nassert best > 1",
        "if (gain := measure.ratio(f, g).ratio) > 1:\n    assert gain < 9",
        "kept = measure.recorded('fusion')\nassert kept.data['ratio'] > 1",
        "for name in names:\n    rows = measure.recorded(name).data['rows']\nassert rows[0]['seconds'] < 1",
        "kept = measure.Beside('recurrent')\nassert min(kept.means('GRU')) > 1",
    ],
)
def test_assertions_on_a_clock_are_found(code):
    assert clocks.Page(cell(code)).assertions()


@pytest.mark.quick
@pytest.mark.parametrize(
    "code",
    [
        "t = measure.times({})\nassert np.allclose(x, y)",
        "t = measure.times({})\nt = 3\nassert t == 3",
        "t = measure.fastest({})\nassert set(t) == {'a'} and len(t) == 1",
        "for name, s in measure.fastest({}).items():\n    assert name",
        "def f():\n    t = time.perf_counter()\nt = 1\nassert t == 1",
        "y, t = 1, measure.fastest({})\nassert y == 1",
        "out = [3]\ndef f():\n    out = []\n    out.append(perf_counter())\nassert out == [3]",
        "found = measure.fastest({})\nassert results(found)  # exact: results stand beside the times",
        "kept = measure.recorded('gallery')\nassert kept.data['rows'][0]['findings'] == 0",
        "kept = measure.recorded('gpu')\nassert kept.data['times']['lines'][0]['share'] > 1",
    ],
)
def test_exact_assertions_are_left_alone(code):
    assert not clocks.Page(cell(code)).assertions()


@pytest.mark.quick
def test_every_statement_has_its_own_name():
    """Outcomes of several machines are told apart by it."""
    names = [name for page in PAGES for name in clocks.claims((ROOT / page).read_text(encoding="utf-8"))]
    twice = {name for name in names if names.count(name) > 1}
    assert len(names) > 100
    assert not twice


@pytest.mark.rotates
@pytest.mark.parametrize(
    ("page", "machine"), [(page, MACHINES[k % len(MACHINES)]) for k, page in enumerate(MEASURED)], ids=str
)
def test_a_page_on_another_machine(page, machine):
    with under.conditions(**machine):
        wrong, _ = under.run(page)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES, ids=str)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_on_every_machine(page, machine):
    with under.conditions(**machine):
        wrong, _ = under.run(page)
    assert not wrong, "\n".join(wrong)


def test_the_clock_lies_where_it_is_told_to():
    """Else the pages would be tried with a clock that is right."""
    code = "import time; a = time.perf_counter(); time.sleep(0.01); b = time.perf_counter(); print(b - a)"
    with under.conditions(clock=3):
        told = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout}
    with under.conditions(clock=4):
        told |= {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout}
    (one, other) = sorted(map(float, told))
    assert other / one != 1


CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "predict", "claims"]
nb_execution_mode = "cache"
"""
BOOK = """---
file_format: mystnb
kernelspec: {name: python3}
---
# Claims

Before.

```{code-cell} ipython3
:tags: [remove-input]
from cpulab.measure import claim
claim("this one held", 1.5, 1, 2)
```

```{predict} far
:unit: times
How far?
```

```{code-cell} ipython3
from cpulab.predictions import answer
answer("far", 7)
```

```{code-cell} ipython3
:tags: [remove-input]
claim("a is < b", 7, high=2, why="a long way")
claim("this one held, too", True)
```

It speaks of the answer.

```{code-cell} ipython3
:tags: [remove-input]
claim("other programs ran", 7, high=2, busy=True)
claim("it is a number", float("nan"), high=2)
```
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    (folder / "conf.py").write_text(CONF)
    (folder / "index.md").write_text(BOOK)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", str(folder), str(folder / "_build" / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "_build"


def test_what_held_leaves_no_trace(book):
    page = (book / "html" / "index.html").read_text()
    assert "this one held" not in page
    before = page.partition("Before.")[2].partition("predict")[0]
    assert not re.search(r"cell[ _]", before), "an empty cell is left"


def test_what_did_not_hold_is_said_where_it_stands(book):
    page = (book / "html" / "index.html").read_text()
    note = page.partition("The book says: a is &lt; b.")[2]
    assert "7.00; the book expects at most 2.00. A known cause: a long way." in note
    hidden = re.search(r"<details.*?</details>", page, re.DOTALL)[0]
    assert "a is &lt; b" in hidden
    assert "It speaks of the answer." in hidden, "the note ends the answer's paragraphs"
    assert "where other programs ran meanwhile" in page


def test_outcomes_are_gathered_and_counted(book, tmp_path):
    found = claims.gather(book / ".jupyter_cache", book.parent)
    assert [(one["page"], one["says"], one["outcome"]) for one in found] == [
        ("index", "this one held", "held"),
        ("index", "a is < b", "otherwise"),
        ("index", "this one held, too", "held"),
        ("index", "other programs ran", "disturbed"),
        ("index", "it is a number", "otherwise"),
    ]
    lines = claims.table(found).splitlines()
    assert lines[1].split() == ["index", "2", "1", "2"]
    assert "otherwise  index: a is < b: 7, expected ..2" in lines
    assert "otherwise  index: it is a number: no number, expected ..2" in lines
    assert claims.main(["--build", str(book)]) == 0
    kept = json.loads((book / "claims.json").read_text())
    assert kept["claims"] == found
    assert kept["machine"]["CPU"]
    assert claims.main(["--build", str(tmp_path)]) == 1, "nothing was run"
