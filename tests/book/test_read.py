"""`make read`, on a small book: text at once, pages live one after another, a failure shown, an interruption
survived."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress

import psutil
import pytest
from built import ROOT

from cpulab.measure.turns import ADDRESS, alone

sys.path.insert(0, str(ROOT / "_ext"))
from turns import Turns, look_at_the_clock, measures_nothing

CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "predict"]
nb_execution_mode = "cache"
nb_execution_timeout = 600
exclude_patterns = ["_build"]
"""
PATIENCE = 120  # seconds
HEADER = "---\nfile_format: mystnb\nkernelspec: {name: python3, display_name: Python 3}\n---\n"
CELL = "```{code-cell} ipython3\n%s\n```\n"
START = "# Start\n\n```{toctree}\n%s\n```\n"
# What two pages do one after the other, or at the same time: lines of a file, or its length. A signal that stops a
# process takes effect a little later.
MEASURES = """import psutil
from pathlib import Path
from threading import Event
from cpulab.measure.turns import alone
while not Path("ticks.txt").exists():
    Event().wait(0.05)
def ticks():
    other = psutil.Process(int(Path("works.txt").read_text()))
    while other.status() != "stopped":
        Event().wait(0.01)
    return Path("ticks.txt").stat().st_size
with alone():
    begun = ticks()
    Event().wait(1)
    ended = ticks()
open("measured.txt", "w").write(f"{begun} {ended}")
"""
WORKS = """import os
from pathlib import Path
from threading import Event
open("works.txt", "w").write(str(os.getpid()))
while not Path("measured.txt").exists():
    open("ticks.txt", "a").write(".")
    Event().wait(0.01)
open("ticks.txt", "a").write(".")
"""
TOUCHES = """import time
open("log.txt", "a").write("%s begins\\n")
time.perf_counter(), time.sleep(1)
open("log.txt", "a").write("%s ends\\n")
"""
WAITS = """from pathlib import Path
from threading import Event
Path("%s").touch()
while not Path("%s").exists():
    Event().wait(0.05)
"""
CLOCK = """import time
def span(begun):
    return f"{begun} {time.perf_counter() - begun}"
"""
USES = """begun = ticks()
span(begun), Event().wait(1)
open("measured.txt", "w").write(f"{begun} {ticks()}")
"""
COUNTED = "open('runs.txt', 'a').write('x'); print(6 * 7)"


def page(title, *cells):
    return f"{HEADER}# {title}\n\n" + "\n".join(CELL % cell for cell in cells)


@pytest.fixture
def small(tmp_path):
    """A book of a text, a page that runs, one with a wrong cell, one whose process dies."""
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.md").write_text(START % "good\nwrong\ndead")
    (tmp_path / "good.md").write_text(page("Good", COUNTED))
    (tmp_path / "wrong.md").write_text(page("Wrong", "print('before')", "1 / 0", "print('after' + 'wards')"))
    (tmp_path / "dead.md").write_text(page("Dead", "import os; os._exit(3)"))
    return tmp_path


class Reading:
    """`make read` in a process of its own."""

    def __init__(self, root, *options):
        command = [sys.executable, ROOT / "_ext" / "read.py", "--root", root, "--port", "0", *options]
        self.log = (root / "_build" / "read.log").read_text
        environment = {name: value for name, value in os.environ.items() if name != "CPULAB_HURRY"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.said = [self.process.stdout.readline()]
        self.address = re.search(r"http://\S+", self.said[0])[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def get(self, path):
        with urllib.request.urlopen(f"{self.address}/{path}", timeout=PATIENCE) as answer:
            return answer.read().decode()

    def state(self, name):
        return json.loads(self.get(f".state?page={name}"))["state"]

    def wait(self, words):
        """Read what it says until `words` are in it."""
        ends = time.monotonic() + 600
        while words not in self.said[-1]:
            assert time.monotonic() < ends, (self.said, self.log())
            line = self.process.stdout.readline()
            assert line, f"it ended: {self.said}, {self.log()}"
            self.said.append(line)


def test_text_first_then_live_and_failures_are_shown(small, browser):
    with Reading(small) as reading:
        assert "<html" in reading.get("")  # served from the first moment on
        reading.wait("All text is there")
        reading.wait("Failed: wrong, dead")
        assert "42" in reading.get("good.html")
        assert "live-note" not in reading.get("good.html")
        wrong, dead = reading.get("wrong.html"), reading.get("dead.html")
        for text in (wrong, dead):
            assert "failed on this machine" in text
        assert "ZeroDivisionError" in wrong
        assert "before" in wrong
        assert "afterwards" not in wrong
        assert "DeadKernelError" in dead
        assert [reading.state(name) for name in ("good", "wrong", "dead")] == ["live", "failed", "failed"]


def test_waiting_page_says_so_comes_next_and_loads_itself_again(small, browser):
    (small / "good.md").write_text(page("Good", WAITS % ("good", "go"), COUNTED))
    (small / "wrong.md").write_text(page("Run ahead", WAITS % ("ahead", "end")))
    (small / "later.md").write_text(page("Later", "print('comes after')"))
    (small / "dead.md").write_text(page("Last", "print('the ' + 'last')"))
    (small / "index.md").write_text(START % "good\nwrong\nlater\ndead")
    with Reading(small) as reading:
        reading.wait("All text is there")
        wait_until(lambda: (small / "good").exists() and (small / "ahead").exists())  # two pages run at once
        opened = browser.open(f"{reading.address}/dead.html")
        opened.wait_for("document.querySelector('.live-note')?.innerText.startsWith('Without its results yet')")
        opened.wait_for("document.getElementById('live-state')?.innerText === 'It comes next.'")
        (small / "go").touch()
        opened.wait_for("document.body?.innerText.includes('the last')")
        assert not opened.evaluate("!!document.querySelector('.live-note')")
        (small / "end").touch()
        reading.wait("All pages are live")
    order = re.findall(r"  (\w+): live", "".join(reading.said))
    assert order[:2] == ["good", "dead"], "what somebody looked at did not come next"
    assert sorted(order[2:]) == ["later", "wrong"]


def assert_nothing_ticked_meanwhile(small):
    begun, ended = map(int, (small / "measured.txt").read_text().split())
    assert begun == ended < (small / "ticks.txt").stat().st_size


def test_a_page_that_measures_stops_the_other(small):
    (small / "good.md").write_text(page("Measures", MEASURES))
    (small / "wrong.md").write_text(page("Works", WORKS))
    (small / "index.md").write_text(START % "good\nwrong")
    (small / "dead.md").unlink()
    with Reading(small, "--once") as reading:
        reading.wait("All pages are live")
        assert reading.process.wait(PATIENCE) == 0
    assert_nothing_ticked_meanwhile(small)


THEME = """extensions += ["sphinxcontrib.bibtex"]
bibtex_bibfiles = ["works.bib"]
def setup(app):
    app.connect("html-page-context", lambda app, page, *_: app.add_js_file(None, body=f"page = '{page}'"))
"""
CITES = "\nAs shown {cite}`%s`.\n"


def test_a_page_that_became_live_is_what_it_would_be_if_all_were_built_at_once(tmp_path):
    (tmp_path / "conf.py").write_text(CONF + THEME)
    (tmp_path / "works.bib").write_text(
        "".join(
            f"@misc{{{key}, author={{{key.title()}, A.}}, title={{Work {key}}}, year={{19{i}0}}}}\n"
            for i, key in enumerate(("amdahl", "flynn", "unread"))
        )
    )
    (tmp_path / "index.md").write_text(START % "one\ntwo\nworks")
    (tmp_path / "one.md").write_text(page("One", COUNTED) + CITES % "amdahl")
    (tmp_path / "two.md").write_text(page("Two", COUNTED) + CITES % "flynn" + CITES % "amdahl")
    (tmp_path / "works.md").write_text("# Works\n\n```{bibliography}\n```\n")
    written = []
    for _ in range(2):  # the second time all results are there
        with Reading(tmp_path, "--once") as reading:
            reading.wait("All pages are live")
            assert reading.process.wait(PATIENCE) == 0
        written.append({name: (tmp_path / f"_build/html/{name}.html").read_text() for name in ("one", "two", "works")})
    live, at_once = ({k: re.sub(r"\?v=\w+", "", v) for k, v in pages.items()} for pages in written)
    assert live == at_once
    for name in ("one", "two"):
        assert re.findall(r"page = '(\w+)'", live[name]) == [name]
    assert "Amd00" in live["one"]
    assert "Fly10" in live["two"]
    assert "unread" not in live["works"]


def test_results_alone(small):
    """What `make html` runs first: the results are kept, no page is written; what fails is said, and by the status."""
    command = [sys.executable, ROOT / "_ext" / "read.py", "--root", small, "--port", "0", "--results"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Failed: wrong, dead" in ran.stdout
    assert not list(small.glob("_build/**/*.html"))
    with Reading(small) as reading:
        reading.wait("All text is there")
        assert "42" in reading.get("good.html")
    assert (small / "runs.txt").read_text() == "x", "a page that was kept is run again"


def test_a_cell_that_looks_at_the_clock_runs_alone(small):
    for name in ("good", "wrong"):
        (small / f"{name}.md").write_text(page(name, TOUCHES % (name, name)))
    (small / "dead.md").write_text(page("Third", TOUCHES.replace("perf_counter", "monotonic") % ("dead", "dead")))
    with Reading(small, "--once") as reading:
        reading.wait("All pages are live")
    log = (small / "log.txt").read_text().splitlines()
    assert sorted(log[::2]) == ["dead begins", "good begins", "wrong begins"]
    assert log[1::2] == [line.replace("begins", "ends") for line in log[::2]]


def test_beside_the_other_cells_of_its_page_another_page_runs(small):
    cells = CLOCK, MEASURES.split("with")[0], "Path('begun').touch()", WAITS % ("met", "ticks.txt"), USES
    (small / "good.md").write_text(page("Uses the clock", *cells))
    (small / "wrong.md").write_text(page("Works", WORKS))
    (small / "index.md").write_text(START % "good\nwrong")
    (small / "dead.md").unlink()
    with Reading(small, "--once") as reading:
        reading.wait("All pages are live")
    assert_nothing_ticked_meanwhile(small)


def test_which_cells_look_at_the_clock():
    cells = [
        ("import time\nx = np.zeros(3)", False),
        ("from time import perf_counter\nfrom cpulab.measure import Timeline", False),
        ("from time import sleep; sleep(1)", True),
        ("def span(f):\n    start = time.perf_counter()\n    f()\n    return time.perf_counter() - start", True),
        ("def spanner(): pass", False),  # another name
        ("both = span(one), span(other)", True),
        ("plot(both)", False),
        ("class Twice:\n    def run(self): return 2 * span(self.f)", True),
        ("print(Twice(one).run())", True),
        ("lock.acquire(timeout=1)", True),
        ("measure.times({})", False),  # asks for its turn itself
    ]
    assert look_at_the_clock([text for text, _ in cells]) == [seen for _, seen in cells]


WAITS_FOR_A_PAGE = """
def setup(app):
    import time
    from pathlib import Path

    def wait(app, env):  # the text is not complete before
        if Path(app.srcdir, "text.txt").exists():
            return
        ends = time.monotonic() + 600
        while not Path(app.srcdir, "early.txt").exists() and time.monotonic() < ends:
            time.sleep(0.05)
        time.sleep(2)  # the others have time to begin, too
        Path(app.srcdir, "text.txt").touch()

    app.connect("env-updated", wait)
"""


def test_while_the_text_is_written_pages_run_that_measure_nothing(small):
    (small / "conf.py").write_text(CONF + WAITS_FOR_A_PAGE)
    (small / "index.md").write_text(START % "good\nwrong\ndead")
    looks = "from pathlib import Path\nseen = Path('text.txt').exists()\nPath('%s.txt').write_text(str(seen))\n"
    (small / "good.md").write_text(page("Clock", looks % "good" + "import time\ntime.sleep(0)"))
    (small / "wrong.md").write_text(page("Measures", looks % "wrong" + "from cpulab import measure\nmeasure.peaks"))
    (small / "dead.md").write_text(page("Early", looks % "early"))
    with Reading(small, "--once") as reading:
        reading.wait("All pages are live")
    text_was_there = {name: (small / f"{name}.txt").read_text() for name in ("early", "good", "wrong")}
    assert text_was_there == {"early": "False", "good": "True", "wrong": "True"}


def test_which_pages_measure_nothing():
    pages = [
        (["x = 1"], True),
        (["from cpulab import measure\nmeasure.recorded('gpu').caption", "measure.Table([], [])"], True),
        (["from cpulab.measure.table import Table\nfrom cpulab.measure import machine_code"], True),
        (["from cpulab.measure import Table, fastest"], False),
        (["from cpulab.measure.bandwidth import read_all"], False),
        (["x = 1", "measure.times({})"], False),
        (["measure.a_new_function()"], False),
        (["import time\ntime.perf_counter()"], False),
    ]
    for cells, nothing in pages:
        assert measures_nothing(cells) == nothing, cells


def wait_until(holds):
    """A signal takes effect a little later."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_who_may_measure():
    sleeping = [sys.executable, "-c", "import time; time.sleep(3600)"]
    one, other = (psutil.Popen(sleeping) for _ in range(2))
    try:
        turns, granted = Turns(lambda: [one, other]), []  # this process may have a browser, too
        turns.take(one.pid)
        wait_until(lambda: other.status() == "stopped")
        assert one.status() != "stopped"
        asked = threading.Thread(target=lambda: (turns.take(other.pid), granted.append(other.pid)), daemon=True)
        asked.start()
        turns.give(other.pid)  # that one has no turn to give
        asked.join(0.3)
        assert not granted
        assert other.status() == "stopped"
        one.kill()
        one.wait()  # it never gave its turn back
        asked.join(PATIENCE)
        assert granted == [other.pid]
        wait_until(lambda: other.status() != "stopped")
        turns.take(other.pid)  # a function that measures, in a cell that looks at the clock
        turns.give(other.pid)
        assert turns.holders == [other.pid]
        waits = threading.Thread(target=lambda: (turns.wait(), granted.append("free")), daemon=True)
        waits.start()
        waits.join(0.3)
        assert granted == [other.pid]
        turns.give(other.pid)
        waits.join(PATIENCE)
        assert granted == [other.pid, "free"]
        assert not turns.holders
    finally:
        for process in (one, other):
            with suppress(psutil.NoSuchProcess):
                process.kill()
            process.wait()


def test_without_a_reader_nobody_is_asked(monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)
    with alone(), alone():
        pass
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:9")  # one that has ended
    with alone():
        pass


def test_interrupted_and_begun_again(small):
    (small / "wrong.md").write_text(page("Long", WAITS % ("begun", "never")))
    with Reading(small) as reading:
        reading.wait("good: live")
        wait_until((small / "begun").exists)
        reading.process.send_signal(signal.SIGINT)
        assert reading.process.wait(PATIENCE) == 0
    (small / "wrong.md").write_text(page("Long", "print('short ' + 'now')"))
    with Reading(small, "--once") as reading:
        reading.wait("Failed: dead")
        assert reading.process.wait(PATIENCE) == 1
    assert (small / "runs.txt").read_text() == "x", "what had been run was run again"
    assert "short now" in (small / "_build" / "html" / "wrong.html").read_text()


def test_port_that_is_taken_is_named(small):
    with Reading(small) as reading:
        port = reading.address.rsplit(":", 1)[1]
        command = [sys.executable, ROOT / "_ext" / "read.py", "--root", small, "--port", port]
        second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 1
    assert f"Port {port} cannot be used. Choose another: make read PORT={int(port) + 1}" in second.stdout


def test_a_book_that_cannot_be_built_says_so(small):
    (small / "conf.py").write_text("extensions = ['no_such_extension']")
    with Reading(small, "--once") as reading:
        reading.wait("The book could not be built")
        assert reading.process.wait(PATIENCE) == 1
