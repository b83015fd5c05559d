"""A race where flags, counters or locks lack a fence or a barrier: the cure names it, and with it the kernel is
right."""

import inspect
import textwrap

import numpy as np
import pytest
from numba import float32

from simt import cuda
from simt.xray import xray

pytestmark = pytest.mark.quick


def flag_without_fences(x, y, flag):
    if cuda.blockIdx.x == 0:
        x[0] = 5
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        y[0] = x[0]


def flag_without_the_second_fence(x, y, flag):
    if cuda.blockIdx.x == 0:
        x[0] = 5
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        y[0] = x[0]


def flag_with_a_narrow_fence(x, y, flag):
    if cuda.blockIdx.x == 0:
        x[0] = 5
        cuda.threadfence_block()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        y[0] = x[0]


def flag_within_a_block(x, y, flag):
    s = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[0]
        cuda.atomic.exch(flag, 0, 1)
    elif t == 32:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        y[0] = s[0]


def last_block_without_fences(x, y, count):
    if cuda.threadIdx.x == 0:
        x[cuda.blockIdx.x] = 1
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                y[0] += x[k]


def lock_without_fences(x, y, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        x[0] += 1
        cuda.atomic.exch(lock, 0, 0)


def passed_on_before_the_others_are_done(x, y, turn):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        while cuda.atomic.add(turn, 0, 0) != b:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    x[t] = x[t] + b
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(turn, 0, 1)


def others_do_not_wait(x, y, turn):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        while cuda.atomic.add(turn, 0, 0) != b:
            pass
        cuda.threadfence()
    x[t] = x[t] + b
    cuda.syncthreads()
    if t == 0:
        cuda.threadfence()
        cuda.atomic.add(turn, 0, 1)


def others_of_the_warp_do_not_wait(x, y, flag):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        x[t] = 5
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    elif t < 32:
        if t == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
        y[t] = x[t]


CURES = [  # kernel, what the cure says, (line that it stands before or behind, what is put there)
    (
        flag_without_fences,
        "Put cuda.threadfence() before `cuda.atomic.exch(flag, 0, 1)` on line {exch} and after the wait on line "
        "{while}",
        [
            ("        cuda.atomic.exch", "        cuda.threadfence()\n", ""),
            ("        y[0]", "        cuda.threadfence()\n", ""),
        ],
    ),
    (
        flag_without_the_second_fence,
        "Put cuda.threadfence() after the wait on line {while}",
        [("        y[0]", "        cuda.threadfence()\n", "")],
    ),
    (
        flag_with_a_narrow_fence,
        "The fence before `cuda.atomic.exch(flag, 0, 1)` on line {exch} must be cuda.threadfence()",
        [("        cuda.atomic.exch", "        cuda.threadfence()\n", "")],
    ),
    (
        flag_within_a_block,
        "Put cuda.threadfence_block() before `cuda.atomic.exch(flag, 0, 1)` on line {exch} and after the wait on",
        [
            ("        cuda.atomic.exch", "        cuda.threadfence_block()\n", ""),
            ("        y[0]", "        cuda.threadfence_block()\n", ""),
        ],
    ),
    (
        last_block_without_fences,
        "Put cuda.threadfence() before and after `cuda.atomic.add(count, 0, 1)`",
        [
            ("        if cuda.atomic", "        cuda.threadfence()\n", ""),
            ("            for k", "            cuda.threadfence()\n", ""),
        ],
    ),
    (
        lock_without_fences,
        "Put cuda.threadfence() before `cuda.atomic.exch(lock, 0, 0)` on line {exch} and after the wait",
        [("        x[0] += 1\n", "        cuda.threadfence()\n", "        cuda.threadfence()\n")],
    ),
    (
        passed_on_before_the_others_are_done,
        "Put cuda.syncthreads() before `cuda.atomic.add(turn, 0, 1)`",
        [("    x[t] = x[t] + b\n", "", "    cuda.syncthreads()\n")],
    ),
    (
        others_do_not_wait,
        "Put cuda.syncthreads() after the wait on line {while}",
        [("    x[t] = x[t] + b\n", "    cuda.syncthreads()\n", "")],
    ),
    (
        others_of_the_warp_do_not_wait,
        "Put cuda.syncwarp() after the wait on line {while}",
        [("        y[t]", "        cuda.syncwarp()\n", "")],
    ),
]


LAUNCHES = {  # others take two blocks of 64
    flag_without_fences: (2, 1),
    flag_without_the_second_fence: (2, 1),
    flag_with_a_narrow_fence: (2, 1),
    flag_within_a_block: (1, 64),
}


def look(kernel, order, launch):
    arguments = np.zeros(64, np.float32), np.zeros(64, np.float32), np.zeros(1, np.int32)
    return xray(cuda.jit(kernel), *launch, order=order)(*arguments)


@pytest.mark.parametrize(("kernel", "says", "mends"), CURES, ids=lambda p: getattr(p, "__name__", ""))
def test_the_cure_names_what_is_missing(kernel, says, mends, tmp_path):
    launch = LAUNCHES.get(kernel, (2, 64))
    source, start = inspect.getsourcelines(kernel)
    lines = {word: start + k for word in ("exch", "while") for k, line in enumerate(source) if word in line}
    for order in ("forward", "reverse", "shuffled:1"):
        (found,) = look(kernel, order, launch).findings
        assert found.is_race
        assert says.format(**lines) in found.cure
    text = textwrap.dedent("".join(source))
    for at, before, behind in mends:
        assert text.count(at) == 1
        text = text.replace(at, before + at + behind)
    file = tmp_path / "mended.py"
    file.write_text(text, encoding="utf-8")
    names = dict(globals())
    exec(compile(text, str(file), "exec"), names)
    for order in ("forward", "reverse", "shuffled:1"):
        report = look(names[kernel.__name__], order, launch)
        assert report.ok, str(report)


def test_a_store_behind_its_flag_lacks_no_fence():
    @cuda.jit
    def kernel(x, y, flag):
        if cuda.blockIdx.x == 0:
            cuda.atomic.exch(flag, 0, 1)
            x[0] = 5
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            y[0] = x[0]

    (found,) = xray(kernel, 2, 1)(np.zeros(1), np.zeros(1), np.zeros(1, np.int32)).findings
    assert "fence" not in found.cure
