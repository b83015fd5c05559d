"""Solved kernels are kept in my_kernels.py, never a better one lost; the network that runs on them."""

import importlib.util
import inspect
import os
import queue
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import njit

from coursework import kept, network, progress
from coursework.outcome import RIGHT, Outcome
from coursework.tasks import c08 as tasks
from dlkernels import cuda

FACTOR, TILE = 3, 16


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(progress, "_memory", {})  # what another test could not write
    return tmp_path


def green(task, part="results"):
    return Outcome(task, part, RIGHT, 1, 1)


def module(folder):
    spec = importlib.util.spec_from_file_location("my_kernels_of_a_test", folder / kept.FILE)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@njit
def tripled(x):
    return FACTOR * x


@njit
def largest(x, where):
    best = 0
    for k in range(x.size):
        if tripled(x[k]) > tripled(x[best]):
            best = k
    where[0] = best


@cuda.jit
def tile_number(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i // TILE


def another_tile():
    TILE = 4

    @cuda.jit
    def small_tile(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i // TILE

    return small_tile


def test_a_kernel_is_kept_with_what_it_uses(folder, capsys):
    kept.keep(green("03-largest"), largest)
    kept.keep(green("07-tile"), tile_number)
    kept.keep(green("07-small"), another_tile())
    assert capsys.readouterr().out == ""
    mine, where, out = module(folder), np.zeros(1, np.int64), np.zeros(40, np.int64)
    mine.largest(np.array([1.0, 5, 2]), where)
    assert where[0] == 1
    mine.tile_number[2, 32](out)
    assert out[39] == 39 // 16
    mine.small_tile[2, 32](out)  # two tasks have a TILE each
    assert out[39] == 39 // 4


def test_a_better_one_is_not_lost(folder):
    @njit
    def twice(x, out):
        out[:] = x + x  # within the budget

    first = twice

    @njit
    def twice(x, out):
        out[:] = 2 * x  # only right

    file = folder / kept.FILE
    kept.keep(green("99-twice"), twice)
    assert "only right" in file.read_text()
    kept.keep(green("99-twice"), first)  # as good, and newer
    kept.keep(green("99-twice", "budget"), first)
    best = file.read_text()
    assert "twice (result and budget)" in best
    kept.keep(green("99-twice"), twice)
    assert file.read_text() == best
    kept.keep(green("99-twice", "budget"), twice)
    assert "only right" in file.read_text()
    assert file.read_text().count(">>> 99-twice") == 1
    assert "\n\n\n\n" not in file.read_text()


def test_what_else_is_in_the_file_stays(folder):
    kept.keep(green("03-largest"), largest)
    file = folder / kept.FILE
    file.write_text(file.read_text() + "\n\nMINE = 7\n")
    kept.keep(green("07-tile"), tile_number)
    kept.keep(green("03-largest", "budget"), largest)
    assert module(folder).MINE == 7
    assert not list(folder.glob("*.part"))


def test_a_file_or_folder_that_cannot_be_written_is_told(folder, monkeypatch, capsys):
    (folder / kept.FILE).write_text("def broken(:\n")
    kept.keep(green("03-largest"), largest)
    assert "Nothing is kept: my_kernels.py is no Python at line 1" in capsys.readouterr().out
    assert (folder / kept.FILE).read_text() == "def broken(:\n"
    (folder / "file").write_text("no folder")
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(folder / "file" / "progress.json"))
    kept.keep(green("03-largest"), largest)
    assert "largest is not kept: my_kernels.py cannot be read or written" in capsys.readouterr().out
    monkeypatch.setenv("DLKERNELS_PROGRESS", "off")
    kept.keep(green("03-largest"), largest)
    assert capsys.readouterr().out == ""


def test_a_file_of_unfinished_parts_is_read_once(folder, monkeypatch):
    """What one could have pasted: each >>> would look for its <<< through all of the rest, and each line for the
    next."""

    class Once:
        read = 0

        def finditer(self, text):
            self.read += 1
            return mark.finditer(text)

    mark, once = kept._MARK, Once()
    monkeypatch.setattr(kept, "_MARK", once)
    text = kept.HEAD + "".join(f"# >>> 99-{k}: f (result)\n" for k in range(20_000)) + "\n" * 20_000 + "MINE = 7\n"
    (folder / kept.FILE).write_text(text)
    kept.keep(green("03-largest"), largest)
    kept.keep(green("03-largest", "budget"), largest)
    assert once.read == 2  # for each of the two
    assert not mark.flags & re.DOTALL  # and a mark ends with its line
    assert {found[0].count("\n") for found in mark.finditer(text)} == {1}
    assert (folder / kept.FILE).read_text().startswith(text.rstrip("\n"))
    assert (folder / kept.FILE).read_text().count("def largest(") == 1


def test_what_stands_between_an_unfinished_part_and_a_whole_one_stays(folder):
    kept.keep(green("03-largest"), largest)
    file = folder / kept.FILE
    file.write_text(file.read_text().replace("# >>> 03", "# >>> 03-largest: largest (result)\nMINE = 7\n\n\n# >>> 03"))
    kept.keep(green("03-largest", "budget"), largest)
    assert module(folder).MINE == 7
    assert file.read_text().count("def largest(") == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_told_and_left_alone(folder, capsys, make):
    kind = {os.mkdir: "a folder", os.mkfifo: "a named pipe"}[make]
    make(folder / kept.FILE)
    make(folder / "progress.json")
    kept.keep(green("03-largest"), largest)
    assert f"cannot be read or written (it is {kind}, not a file)" in capsys.readouterr().out
    assert kept.kernels("largest").largest is kept.STAND_INS["largest"][1]
    assert f"my_kernels.py could not be used: OSError: [Errno 22] it is {kind}" in capsys.readouterr().out
    for _ in range(2):
        progress.note(green("03-largest"))
    told = capsys.readouterr().out
    assert told.count("kept only until this notebook is closed") == 1
    assert f"cannot be written (it is {kind}, not a file)" in told
    assert progress.read()["03-largest results"]["tries"] == 2
    progress._memory.clear()
    progress.main([])
    assert f"progress.json cannot be read (it is {kind}, not a file)." in capsys.readouterr().out


# Two notebooks at once ------------------------------------------------------------------------------------------------

NOTEBOOK = """
import importlib
import sys
from coursework import kept, progress
from coursework.outcome import RIGHT, Outcome

me = sys.argv[1]
mine = vars(importlib.import_module("kernels_of_" + me))
print("ready", flush=True)
sys.stdin.readline()
for k in range(40):
    outcome = Outcome(f"99-{me}{k}", "results", RIGHT, 1, 1)
    progress.note(outcome)
    progress.next_hint("99-both")
    if k % 4 == 0:
        kept.keep(outcome, mine[f"f{k}"])
"""


def test_two_notebooks_that_write_at_once_lose_nothing(folder):
    notebooks = []
    for me in "ab":
        kernels = "".join(f"\n\n@njit\ndef f{k}(x):\n    return x + {k}\n" for k in range(0, 40, 4))
        (folder / f"kernels_of_{me}.py").write_text(f"from numba import njit\n{kernels}")
        command, pipes = [sys.executable, "-c", NOTEBOOK, me], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        notebooks.append(subprocess.Popen(command, cwd=folder, text=True, **pipes))
    for process in notebooks:
        assert process.stdout.readline() == "ready\n"
    for process in notebooks:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in notebooks:
        assert process.communicate()[0] == ""
    known = progress.read()
    assert sum(name.endswith(" results") for name in known) == 80
    assert (folder / kept.FILE).read_text().count("# <<< 99-") == 20
    module(folder)
    assert not list(folder.glob(".*.lock"))


def test_a_kernel_that_cannot_stand_alone_is_told(folder, capsys):
    scope = {"njit": njit, "table": {"a": 1}}
    exec("def f(x):\n    return x", scope)
    kept.keep(green("99-f"), njit(scope["f"]))
    assert "f is not kept in my_kernels.py: the source of f was not found" in capsys.readouterr().out
    kept.keep(green("99-f"), njit(uses_a_dict))
    assert "it uses TABLE, which is neither a kernel of the notebook" in capsys.readouterr().out
    assert not (folder / kept.FILE).exists()


LOWEST, ENDS = -np.inf, (1, np.inf)


@njit
def above(x):
    return x > LOWEST and x < ENDS[1]


def test_infinity_is_kept_as_a_number(folder):
    kept.keep(green("99-above"), above)
    assert module(folder).above(3.0)


@njit
def down(n):
    return n if n <= 0 else further_down(n - 1)


@njit
def further_down(n):
    return down(n - 1)


def test_functions_that_call_each_other_end_the_search(folder):
    kept.keep(green("99-down"), down)
    assert {"down", "further_down"} <= set(re.findall(r"def (\w+)\(", (folder / kept.FILE).read_text()))


def test_another_task_s_kernel_of_the_same_name_is_not_taken(folder, capsys):
    kept.keep(green("03-largest"), largest)
    namesake = another_tile()
    namesake.py_func.__name__ = "small_tile"
    kept.keep(green("99-namesake"), namesake)
    (folder / kept.FILE).write_text((folder / kept.FILE).read_text() + "\n\nlargest = small_tile\n")
    assert "where" in inspect.signature(kept.kernels("largest").largest.py_func).parameters
    assert capsys.readouterr().out.split() == ["largest", "yours"]


def test_a_file_that_ends_python_does_not_end_the_notebook(folder, capsys):
    (folder / kept.FILE).write_text("import sys\nsys.exit('over')\n")
    kept.kernels("largest")
    assert "my_kernels.py could not be used: SystemExit: over" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_link_stays_a_link(folder):
    (folder / "elsewhere.py").write_text(kept.HEAD)
    (folder / kept.FILE).symlink_to("elsewhere.py")
    kept.keep(green("03-largest"), largest)
    assert (folder / kept.FILE).is_symlink()
    assert "def largest(" in (folder / "elsewhere.py").read_text()


DAMAGED = (
    '{"03-largest results": 5}',
    '{"03-largest results": null}',
    '{"03-largest results": {"status": "right"}}',
    '{"03-largest results": {"status": [1], "points": "x", "tries": 1}}',
    '{"03-largest hints": "x", "03-largest golf": NaN}',
    '{"03-largest hints": -5, "03-largest golf": {}}',
    "[" * 100_000,
)


@pytest.mark.parametrize("text", DAMAGED, ids=lambda text: text[:40])
def test_progress_that_somebody_else_wrote_is_forgotten(folder, text):
    (folder / "progress.json").write_text(text)
    assert progress.read() == {}
    assert progress.table(progress.read())
    progress.note(green("03-largest"))
    assert progress.next_hint("03-largest") == 1
    assert progress.read()["03-largest results"]["tries"] == 1


TABLE = {"a": 1}


def uses_a_dict(x):
    return len(TABLE) + x


def test_plain_python_is_no_kernel(folder):
    kept.keep(green("07-launch"), uses_a_dict)
    assert not (folder / kept.FILE).exists()


def _labelled(kind, item, load):
    return kind, load(item)


def prefetch(items, load, bound):
    ahead = queue.Queue(maxsize=bound)

    def run():
        for item in items:
            ahead.put(_labelled("batch", item, load))
        ahead.put(("end", None))

    threading.Thread(target=run, daemon=True).start()
    while True:
        kind, thing = ahead.get()
        if kind == "end":
            return
        yield thing


def uses_a_table(items, load, bound):
    yield from map(load, TABLE)


def test_the_prefetcher_is_kept_with_its_helpers_and_stands_for_a_plain_loop(folder, capsys):
    load = "item {}".format
    theirs = kept.kernels("prefetch").prefetch
    assert capsys.readouterr().out == "prefetch     a plain loop, until 02-prefetch is solved here\n"
    assert list(theirs(range(3), load, 1)) == [load(k) for k in range(3)]
    kept.keep(green("02-prefetch"), prefetch)
    mine = kept.kernels("prefetch").prefetch
    assert capsys.readouterr().out.split() == ["prefetch", "yours"]
    assert list(mine(range(3), load, 1)) == [load(k) for k in range(3)]
    assert mine is not prefetch
    before = (folder / kept.FILE).read_text()
    assert "    import queue\n    import threading\n" in before
    kept.keep(green("02-prefetch"), uses_a_table)
    assert "uses_a_table is not kept in my_kernels.py: it uses TABLE" in capsys.readouterr().out
    assert (folder / kept.FILE).read_text() == before


def test_kernels_says_which_are_whose(folder, capsys):
    kept.keep(green("03-largest"), largest)
    mine = kept.kernels("largest", "matmul", "softmax_rows")
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == ["largest", "yours"]
    assert said[1].endswith("NumPy's, until 08-ikj is solved here")
    assert said[2].endswith("NumPy's, until 03-softmax is solved here")
    assert hasattr(mine.largest, "py_func")
    (folder / kept.FILE).write_text("raise RuntimeError('no')\n")
    kept.kernels("largest")
    assert "my_kernels.py could not be used: RuntimeError: no" in capsys.readouterr().out
    with pytest.raises(ValueError, match="kernels\\(\\) knows matmul"):
        kept.kernels("mat")


def test_what_stands_in_computes_the_same_as_the_specifications(folder, capsys):
    from coursework import definition

    for name, (task_id, function) in kept.STAND_INS.items():
        task = definition.find(task_id)
        for case in task.cases:
            arguments = case.make(np.random.default_rng(1))
            expected = np.asarray(task.spec(*arguments))
            with np.errstate(all="ignore"):
                function(*arguments)
            np.testing.assert_allclose(arguments[-1], expected, rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_network_reads_pictures_that_it_has_not_seen():
    x, labels = network.pictures(np.random.default_rng(5), 1000)
    assert (network.forward(x, *network.weights()) == labels).mean() > 0.9
    assert len(set(labels)) == 10


def test_the_pictures_of_the_task_leave_no_doubt():
    for case in tasks.NETWORK.cases:
        x, *weights = case.make(np.random.default_rng(3))
        assert case.name.startswith(("one", str(len(x))))
        p = np.sort(network.probabilities(x, *weights), axis=1)
        assert (p[:, -1] - p[:, -2] > 0.05).all()


def test_gold_is_not_lost_to_silver(folder):
    @cuda.jit
    def number(out):
        out[cuda.grid(1)] = 96

    gold = number

    @cuda.jit
    def number(out):
        out[cuda.grid(1)] = 126

    file = folder / kept.FILE

    def score(count):
        golf = {"count": count, "broken": ""}
        return Outcome("99-number", "budget", RIGHT, 1, 1, golf=golf)

    kept.keep(score(126), number)
    assert "(result and budget, golf 126)" in file.read_text()
    kept.keep(score(96), gold)
    best = file.read_text()
    assert "= 96" in best
    kept.keep(score(126), number)
    kept.keep(green("99-number"), number)
    assert file.read_text() == best
    kept.keep(score(96), gold)
    assert file.read_text().count(">>> 99-number") == 1
