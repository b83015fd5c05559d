"""A vector add whose data comes over the link: its copies and its kernel, each timed alone. Part of ``make
gpu-record``.

    pageable   two arrays to the device and one back, from and to usual arrays of the host
    pinned     the same in memory that is promised not to move
    kernel     the add, with all three arrays on the device

Chapter 5.2 puts the sums beside its model. Times are those of CUDA events, candidates in turns; each result is compared
with NumPy's before it is timed.
"""

import numpy as np

SIZES = [1 << k for k in range(8, 25, 2)]  # as in the figure of the chapter
TINY = [1, 100]  # dry run
ROUNDS = 7


def measure(keep, event_times, sizes=SIZES):
    """Check and time every size; each result goes to ``keep`` as a dict, at once."""
    for n in sizes:
        try:
            rows(n, keep, event_times)
        except Exception as error:  # one size that does not run must not hide the others
            keep({"size": n, "error": f"{type(error).__name__}: {error}"[:500]})


def rows(n, keep, event_times):
    from dlkernels import cuda, implementations

    rung = implementations.of("add", device="gpu")[-1]
    there = [cuda.device_array(n, np.float32) for _ in range(3)]
    found = {
        "pageable": journey(there, [np.empty(n, np.float32) for _ in range(3)]),
        "pinned": journey(there, [cuda.pinned_array(n, np.float32) for _ in range(3)]),
        "kernel": lambda: rung.function(*there),
    }
    for name in ("pageable", "pinned"):
        check(found[name], found["kernel"], name)
    measured, host = event_times(found, cuda, rounds=ROUNDS)
    for name, seconds in measured.seconds.items():
        keep({"size": n, "name": name, "bytes": 12 * n, "seconds": seconds, "launch_seconds": host[name]})


def journey(there, here):
    """A function that copies a and b to the device and the result back; its arrays of the host are its `here`."""
    here[0][:], here[1][:] = np.random.default_rng(0).standard_normal((2, here[0].size), np.float32)

    def copies():
        there[0].copy_to_device(here[0])
        there[1].copy_to_device(here[1])
        there[2].copy_to_host(here[2])

    copies.here = here
    return copies


def check(copies, kernel, name):
    a, b, out = copies.here
    copies()
    kernel()
    copies()
    if not np.array_equal(out, a + b):
        raise AssertionError(f"what came back by {name} copies is not a + b")
