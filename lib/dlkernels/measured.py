"""Which of several ways is fastest where no count tells: measured once on a machine, and kept.

    fastest("first layers of networks", ("tiles", "implicit"), ways)     ways() -> {"tiles": function, ...}

Two ways that do the same work change places from one processor to the next: a network's first layer goes up to 1.7
times as fast by tiles of pixels as by implicit GEMM on a Xeon, and half as fast on a Zen 4 (benchmarks/choice.py). A
rule fitted on one of them is wrong on the other. So they are timed when the question has come up OFTEN times: a small
case that stands for all such, or one as large as the caller's where none does. Until then the usual way is taken: to
time another one it must be compiled, which takes longer than a few calls can win. The answer stands in a file of the
user's cache, for this processor, number of threads and version of the library; without one, in memory. With
DLKERNELS_MEASURED=no nothing is timed, and the usual way is taken: results are then the same, bit for bit, on machines
alike. With DLKERNELS_MEASURED=first the first question is timed. What the process knows already stays.
"""

import os
import statistics
import threading
import time
from collections import Counter

from . import team
from .simd.kept import Kept

OFTEN = 32  # questions
ROUNDS = 12  # timed calls of each way; the middle one counts: the fastest is chance where memory decides
MARGIN = 0.97  # another way is taken where it needs no more than this part of the usual one's time
_kept, _asked, _one_at_a_time = {}, Counter(), threading.RLock()
_on_disk = Kept("dlkernels", "ways")


def fastest(question, names, ways):
    """Which of the names is that of the fastest way: the first, the usual one, unless another is clearly faster. It may
    be another one the next time: callers do not keep it.

    question: its name, the same for all calls that have the same answer. ways: a function that returns {name: function
    without arguments}, each of which does the same; it is called only if nobody knows.
    """
    question = f"{question}, {team.size()} threads"
    if question in _kept:  # before all else: a look at the environment takes longer
        return _kept[question]
    wish = os.environ.get("DLKERNELS_MEASURED")
    if wish == "no":
        return names[0]
    with _one_at_a_time:  # two that measure at once would disturb each other, and might disagree
        if question not in _kept:
            _asked[question] += 1
            answer = _on_disk.read().get(question) if _asked[question] == 1 else None
            if answer not in names:
                if _asked[question] < OFTEN and wish != "first":
                    return names[0]
                try:
                    answer = _measure(names[0], ways())
                except MemoryError:  # the caller's arrays leave none: asked again, some calls later
                    _asked[question] = 0
                    return names[0]
            _kept[question] = answer
            _on_disk.update(_kept)
        return _kept[question]


def _measure(usual, ways):
    seconds = {name: [] for name in ways}
    for run in ways.values():
        run()  # compiles
    for _ in range(ROUNDS):
        for name, run in ways.items():
            run()  # so that the caches hold what it left there, not what the way before it did
            begun = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - begun)
    middle = {name: statistics.median(found) for name, found in seconds.items()}
    best = min(middle, key=middle.get)
    return best if middle[best] < MARGIN * middle[usual] else usual


def _forget_who_measures():
    """In a process that was forked: the thread that held the lock is not there."""
    global _one_at_a_time
    _one_at_a_time = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_who_measures)
