"""Which of several ways is fastest where no count tells: measured once on a machine, and kept.

    fastest("first layers of networks", ("tiles", "implicit"), ways)     ways() -> {"tiles": function, ...}

Two ways that do the same work change places from one processor to the next: a network's first layer goes up to 1.7
times as fast by tiles of pixels as by implicit GEMM on a Xeon, and half as fast on a Zen 4 (benchmarks/choice.py). A
rule fitted on one of them is wrong on the other. So a small case is timed, some milliseconds, when the question comes
up for the first time. The answer stands in a file of the user's cache, for this processor, number of threads and
version of the library; without one, in memory. With DLKERNELS_MEASURED=no nothing is timed, and the usual way is taken:
results are then the same, bit for bit, on machines alike.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import threading
import time
from pathlib import Path

import llvmlite.binding as llvm
from numba import config
from numba.misc.appdirs import user_cache_dir

from . import team
from .simd.cache import library_stamp

ROUNDS = 12  # calls of each way; the fastest counts
MARGIN = 0.95  # another way is taken where it needs no more than this part of the usual one's time
_kept, _one_at_a_time = {}, threading.RLock()


def fastest(question, names, ways):
    """Which of the names is that of the fastest way: the first, the usual one, unless another is clearly faster.

    question: its name, the same for all calls that have the same answer. ways: a function that returns {name: function
    without arguments}, each of which does the same; it is called only if nobody knows.
    """
    if os.environ.get("DLKERNELS_MEASURED") == "no":
        return names[0]
    question = f"{question}, {team.size()} threads"
    if question not in _kept:
        with _one_at_a_time:  # two that measure at once would disturb each other, and might disagree
            if question not in _kept:
                answer = _read().get(question)
                _kept[question] = answer if answer in names else _measure(names[0], ways())
                _write(_read() | _kept)
    return _kept[question]


def _measure(usual, ways):
    least = dict.fromkeys(ways, float("inf"))
    for run in ways.values():
        run()  # compiles
    for _ in range(ROUNDS):
        for name, run in ways.items():
            begun = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - begun)
    best = min(least, key=least.get)
    return best if least[best] < MARGIN * least[usual] else usual


def _file():
    machine = f"{config.CPU_NAME or llvm.get_host_cpu_name()} {config.CPU_FEATURES} {library_stamp()}"
    return Path(user_cache_dir("dlkernels")) / f"ways-{hashlib.sha256(machine.encode()).hexdigest()[:16]}.json"


def _read():
    """{question: answer} of the file; nothing where it is missing or damaged."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        stored = json.loads(_file().read_text(encoding="utf-8"))
        if isinstance(stored, dict):
            return stored
    return {}


def _write(answers):
    """Whole or not at all; a disk that is full or closed is no error."""
    with contextlib.suppress(OSError):
        file = _file()
        if not file.is_absolute():  # nobody knows this user's home
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=file.parent, suffix=".json")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as text:
                json.dump(answers, text, indent=1)
            Path(beside).replace(file)
        finally:
            Path(beside).unlink(missing_ok=True)
