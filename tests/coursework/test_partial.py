"""Points for some cases, where a task says so: never for nothing, never as many as for all."""

import math
import queue
import threading
from collections import deque
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from coursework import checking, definition, feedback
from coursework.answer import Local
from dlkernels import cuda

ROOT = Path(__file__).resolve().parents[2]
TASK = definition.find("05-shift")


@cuda.jit
def one_block(x, k, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = x[i - k] if i >= k else 0


@cuda.jit
def right(x, k, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i - k] if i >= k else 0


@cuda.jit
def nothing(*arguments):
    pass


def lazy(*arguments):
    yield from ()


# Wrong answers of each task that gives points for cases: what they lack, and what they are worth.


def an_exception_is_an_error(items, load, bound):
    """A batch that is an exception object is raised."""
    ahead, end = queue.Queue(maxsize=bound), object()

    def run():
        try:
            for item in items:
                ahead.put(load(item))
            ahead.put(end)
        except Exception as error:
            ahead.put(error)

    threading.Thread(target=run, daemon=True).start()
    while (thing := ahead.get()) is not end:
        if isinstance(thing, Exception):
            raise thing
        yield thing


def as_in_the_chapter(items, load, bound):
    """Waits for ever when loading fails."""
    ahead, end = queue.Queue(maxsize=bound), object()

    def run():
        for item in items:
            ahead.put(load(item))
        ahead.put(end)

    threading.Thread(target=run, daemon=True).start()
    while (thing := ahead.get()) is not end:
        yield thing


def without_a_thread(items, load, bound):
    for item in items:
        yield load(item)


def shards_one_by_one(shards, bound):
    """No threads at all."""
    waiting = deque(shards)
    while waiting:
        shard = waiting.popleft()
        for batch in shard:
            yield batch
            waiting.append(shard)
            break


def shards_with_exceptions(shards, bound):
    """A batch that is an exception object is raised."""
    stop, end = threading.Event(), object()
    queues = [queue.Queue(maxsize=bound) for _ in shards]

    def run(shard, ahead):
        try:
            for batch in shard:
                ahead.put(batch)
                if stop.is_set():
                    return
            ahead.put(end)
        except Exception as error:
            ahead.put(error)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(shards, queues, strict=True)]
    for thread in threads:
        thread.start()
    waiting = deque(queues)
    try:
        while waiting:
            ahead = waiting.popleft()
            thing = ahead.get()
            if isinstance(thing, Exception):
                raise thing
            if thing is not end:
                waiting.append(ahead)
                yield thing
    finally:
        stop.set()
        for ahead in queues:
            while not ahead.empty():
                ahead.get()
        for thread in threads:
            thread.join()


@cuda.jit
def tiles_that_fit(at, b, out):
    a_tile = cuda.shared.array((16, 16), np.float32)
    b_tile = cuda.shared.array((16, 16), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    row = cuda.blockIdx.y * 16 + x
    total = np.float32(0)
    for start in range(0, at.shape[0], 16):
        a_tile[y, x] = at[start + y, row]
        b_tile[y, x] = b[start + y, j]
        cuda.syncthreads()
        for r in range(16):
            total += a_tile[r, y] * b_tile[r, x]
        cuda.syncthreads()
    out[i, j] = total


@cuda.jit
def quarters_that_fit(a, b, out):
    i, j = cuda.blockIdx.y * 32 + cuda.threadIdx.y, cuda.blockIdx.x * 32 + cuda.threadIdx.x
    for down in range(0, 32, 16):
        for right in range(0, 32, 16):
            total = np.float32(0)
            for p in range(a.shape[1]):
                total += a[i + down, p] * b[p, j + right]
            out[i + down, j + right] = total


@cuda.jit
def one_channel(x, weight, padding, out):
    z, y = cuda.grid(2)
    if y < out.shape[0] and z < out.shape[1]:
        total = np.float32(0)
        for ky in range(weight.shape[1]):
            for kx in range(weight.shape[2]):
                total += weight[0, ky, kx] * x[0, y + ky, z + kx]
        out[y, z] = total


def _attention(tiles, fits):
    """Without shared memory and without a correction for large scores; `fits`: no guards."""

    @cuda.jit
    def attend(q, k, v, scale, out):
        i = cuda.grid(1)
        if fits or i < q.shape[0]:
            total = np.float32(0)
            result = cuda.local.array(4, np.float32)
            for c in range(4):
                result[c] = 0
            for p in range(16 * tiles if tiles else k.shape[0]):
                score = np.float32(0)
                for c in range(4):
                    score += q[i, c] * k[p, c]
                weight = math.exp(score * scale)
                total += weight
                for c in range(4):
                    result[c] += weight * v[p, c]
            for c in range(4):
                out[i, c] = result[c] / total

    return attend


ANSWERS = [
    ("02-prefetch", an_exception_is_an_error, 4),
    ("02-prefetch", as_in_the_chapter, 1),
    ("02-prefetch", without_a_thread, 0),
    ("02-prefetch", lazy, 0),
    ("02-shards", shards_with_exceptions, 4),
    ("02-shards", shards_one_by_one, 0),
    ("02-shards", lazy, 0),
    ("05-shift", one_block, 1),
    ("05-shift", nothing, 0),
    ("08-tiled", tiles_that_fit, 2),
    ("08-tiled", nothing, 0),
    ("08-four", quarters_that_fit, 2),
    ("08-four", nothing, 0),
    ("09-plane", one_channel, 1),
    ("09-plane", nothing, 0),
    ("11-attention", _attention(tiles=1, fits=True), 1),
    ("11-attention", _attention(tiles=0, fits=True), 2),
    ("11-attention", nothing, 0),
]


@pytest.mark.parametrize(
    ("task", "answer", "points"), ANSWERS, ids=lambda value: getattr(value, "__name__", str(value))
)
def test_a_wrong_answer_gets_what_the_task_says(task, answer, points):
    task = definition.find(task)
    outcome = checking.check(task, Local(answer))
    assert (outcome.status, outcome.points, outcome.max_points) == ("wrong", points, task.points), feedback.as_text(
        outcome
    )
    assert (f"{points} of {task.points}: " in feedback.as_text(outcome)) == (points > 0)


@pytest.mark.quick
def test_each_task_that_gives_points_for_cases_says_so_and_is_tried_above():
    found, tasks = set(), {f"{task.id}-task": task for task in definition.everything() if task.partial}
    for path in sorted((ROOT / "exercises").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if task := tasks.get(cell.id):
                found.add(task.id)
                said = f"of the {task.points} points"
                assert said in cell.source, task.id
                sentence = next(line for line in cell.source.splitlines() if said in line)
                for points in task.partial.values():
                    assert str(points) in sentence, (task.id, sentence)
    assert found == {task.id for task in tasks.values()} == {task for task, _, _ in ANSWERS}


@pytest.mark.quick
def test_all_cases_are_worth_all():
    assert checking.check(TASK, Local(right)).points == 2
    assert checking.check(replace(TASK, partial={}), Local(one_block)).points == 0


@pytest.mark.quick
def test_what_a_task_may_not_say():
    with pytest.raises(ValueError, match="partial has no 'two blocks'"):
        replace(TASK, partial={"two blocks": 1})
    with pytest.raises(ValueError, match="cases alone are worth 2 of 2 points; expected fewer"):
        replace(TASK, partial={TASK.cases[0].name: 2})
