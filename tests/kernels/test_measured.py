"""What no count decides is timed once on a machine, and kept; with a clock that a test controls."""

import json
import os
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from dlkernels import measured
from dlkernels.convolution import choose, geometry
from dlkernels.simd import kept

pytestmark = pytest.mark.quick
NAMES = "usual", "other"
PATIENCE = 60  # seconds, for a process that would wait for ever


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine on which nothing was measured yet; its clock goes on only when a way runs. {way: its seconds}"""
    now, seconds = [0.0], {"usual": 1.0, "other": 0.5}
    monkeypatch.setenv("DLKERNELS_MEASURED", "first")
    monkeypatch.setattr(measured, "_kept", {})
    monkeypatch.setattr(measured, "_asked", Counter())
    monkeypatch.setattr(kept, "user_cache_dir", lambda _: str(tmp_path / "cache"))
    monkeypatch.setattr(measured.time, "perf_counter", lambda: now[0])

    def take(name):
        now[0] += seconds[name]

    seconds["ways"] = lambda: {name: lambda name=name: take(name) for name in ("usual", "other")}
    return seconds


def refuse():
    raise AssertionError("this was measured before")


@pytest.mark.parametrize(("other", "answer"), [(0.5, "other"), (0.96, "other"), (0.98, "usual"), (2.0, "usual")])
def test_another_way_must_be_clearly_faster(machine, other, answer):
    machine["other"] = other
    assert measured.fastest("q", NAMES, machine["ways"]) == answer


def test_a_few_calls_take_the_usual_way_and_nothing_is_compiled_for_them(machine, monkeypatch):
    monkeypatch.delenv("DLKERNELS_MEASURED")
    for question in ("q", "another"):
        for _ in range(measured.OFTEN - 1):
            assert measured.fastest(question, NAMES, refuse) == "usual"
    assert not measured._on_disk.file.exists()
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"
    another_process(monkeypatch)
    assert measured.fastest("q", NAMES, refuse) == "other"


def another_process(monkeypatch):
    monkeypatch.setattr(measured, "_kept", {})
    monkeypatch.setattr(measured, "_asked", Counter())


def test_it_is_measured_once_and_kept_for_the_next_process(machine, monkeypatch):
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"
    assert measured.fastest("q", NAMES, refuse) == "other"
    another_process(monkeypatch)
    assert measured.fastest("q", NAMES, refuse) == "other"
    machine["other"] = 3
    assert measured.fastest("another", NAMES, machine["ways"]) == "usual"
    assert set(json.loads(measured._on_disk.file.read_text()).values()) == {"other", "usual"}


def test_an_answer_that_names_no_way_is_measured_again(machine):
    measured.fastest("q", NAMES, machine["ways"])
    (question,) = measured._kept
    for answer in ("a rung that is gone", 3, None, ["other"]):
        measured._on_disk.file.write_text(json.dumps({question: answer}))
        measured._kept.clear()
        measured._asked.clear()
        assert measured.fastest("q", NAMES, machine["ways"]) == "other"


@pytest.mark.parametrize("text", ["", "[1]", "{", "\xff", "[" * 100_000])
def test_a_damaged_file_is_measured_again(machine, text):
    measured._on_disk.file.parent.mkdir(parents=True)
    measured._on_disk.file.write_bytes(text.encode("latin-1"))
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"
    assert list(json.loads(measured._on_disk.file.read_text()).values()) == ["other"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_a_pipe_in_the_place_of_the_file_is_not_read(machine, monkeypatch):
    file = measured._on_disk.file
    file.parent.mkdir(parents=True)
    os.mkfifo(file)
    monkeypatch.setattr(kept.Path, "read_text", lambda *_, **__: refuse())
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"
    assert file.is_file()


def test_a_folder_that_cannot_be_made_is_no_error(machine, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"


@pytest.mark.parametrize("error", [OSError("no space left on device"), RecursionError("lists in lists")], ids=repr)
def test_nothing_is_left_of_a_file_that_could_not_be_written(machine, monkeypatch, error):
    def full(*_, **__):
        raise error

    monkeypatch.setattr(kept.json, "dump", full)
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"
    assert not list(measured._on_disk.file.parent.iterdir())


def test_without_memory_to_measure_the_usual_way_is_taken_for_now(machine):
    def ways():
        return {"usual": lambda: None, "other": lambda: bytearray(1 << 62)}

    assert measured.fastest("q", NAMES, ways) == "usual"
    assert not measured._kept
    assert measured.fastest("q", NAMES, machine["ways"]) == "other"


def test_threads_that_ask_at_once_get_one_answer(machine):
    asked, begun = [], threading.Barrier(4)

    def ways():
        asked.append(1)
        return machine["ways"]()

    def ask():
        begun.wait()
        return measured.fastest("q", NAMES, ways)

    with ThreadPoolExecutor(4) as pool:
        answers = [one.result() for one in [pool.submit(ask) for _ in range(4)]]
    assert set(answers) == {"other"}
    assert len(asked) == 1


def test_where_nothing_may_be_measured_the_usual_way_is_taken(machine, monkeypatch):
    monkeypatch.setenv("DLKERNELS_MEASURED", "no")
    assert measured.fastest("q", NAMES, refuse) == "usual"


def test_other_threads_and_other_versions_are_other_questions(machine, monkeypatch):
    file = measured._on_disk.file
    measured.fastest("q", NAMES, machine["ways"])
    monkeypatch.setattr(measured.team, "size", lambda: 77)
    machine["other"] = 2
    assert measured.fastest("q", NAMES, machine["ways"]) == "usual"
    monkeypatch.setattr(kept, "library_stamp", lambda: "newer")
    assert measured._on_disk.file != file


@pytest.mark.parametrize(
    ("channels", "kernel", "stride", "rungs"),
    [
        ((3, 64), 3, 2, choose.FIRST_LAYERS.rungs),
        ((1, 32), 3, 1, choose.ONE_CHANNEL.rungs),
        ((256, 512), 1, 2, choose.STRIDED_PIXELS),
        ((16, 96), 1, 1, choose.FEW_CHANNELS),
    ],
    ids=["first layers", "one channel", "1x1 with a stride", "1x1 of few channels"],
)
def test_conv2d_takes_what_was_measured(monkeypatch, channels, kernel, stride, rungs):
    asked = []

    def answer(question, names, ways):
        assert names == rungs
        results = [run() for run in ways().values()]
        assert all(np.allclose(results[0], one, rtol=1e-4) for one in results), "the ways do the same"
        asked.append(question)
        return rungs[-1]

    monkeypatch.setattr(measured, "fastest", answer)
    g, shape = geometry.convolution((112, 112), (kernel, kernel), stride, padding=kernel // 2)
    weight = np.ones((channels[1], channels[0], kernel, kernel), np.float32)
    assert choose.direct_way(weight, g, np.empty((1, channels[1], *shape), np.float32)) == rungs[-1]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("size", "stride"), [((57, 30), (2, 3)), ((112, 112), 2), ((1000, 1), (1, 1000)), ((8, 8), geometry.MOST)], ids=str
)
def test_a_strided_layer_is_timed_on_a_picture_no_larger_than_the_callers(size, stride):
    g, shape = geometry.convolution(size, (1, 1), stride)
    question = choose._direct(np.ones((64, 16, 1, 1), np.float32), g, np.empty((1, 64, *shape), np.float32))
    assert question.rungs == choose.STRIDED_PIXELS
    edges = question.layer[3]
    assert edges[0] <= size[0]
    assert edges[1] <= size[1]
    assert geometry.convolution(edges, (1, 1), stride)[1] == shape


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_forked_while_another_thread_measures_measures_by_itself(machine):
    measures, forked = threading.Event(), threading.Event()

    def measuring():
        with measured._one_at_a_time:
            measures.set()
            forked.wait()

    thread = threading.Thread(target=measuring)
    thread.start()
    measures.wait()
    if (child := os.fork()) == 0:
        signal.alarm(PATIENCE)
        try:
            os._exit(measured.fastest("which", NAMES, machine["ways"]) != "other")
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    forked.set()
    thread.join()
    assert code == 0


def test_no_fork_comes_between_while_the_processor_is_asked_for_its_name(monkeypatch):
    """A fork waits for numba's lock; LLVM's own, which the call takes, would stay closed in the new process."""
    monkeypatch.setattr(kept.llvm, "get_host_cpu_name", global_compiler_lock.is_locked)
    assert kept._processor.__wrapped__() is True
