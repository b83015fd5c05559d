"""A prange of square roots, beside the same loop on one thread, for few and many elements."""

from . import TRUE, Part

CLAIM = "Synchronisation overhead dominates when work items are small (find the crossing point)."
SIZES = tuple(4**k for k in range(2, 12))
PARTS = (
    Part(
        "small",
        "it dominates where there is little work",
        "seconds, all threads / one; 16 square roots",
        TRUE,
        "03_numba_parallel",
        2,
    ),
    Part(
        "crossing",
        "there is a crossing point",
        "elements from which on all threads win; 0: none up to four million",
        "true if there is a second core",
        "03_numba_parallel",
        1,
    ),
)


def measure(quick):
    import numpy as np
    from numba import njit, prange

    from cpulab import measure as timing

    @njit
    def alone(x, out):
        for i in range(x.size):
            out[i] = np.sqrt(x[i])

    @njit(parallel=True)
    def together(x, out):
        for i in prange(x.size):
            out[i] = np.sqrt(x[i])

    found = {}
    for size in SIZES[:: 3 if quick else 1]:
        x = np.ones(size, np.float32)
        out = np.empty_like(x)
        least = timing.fastest(
            {"alone": lambda x=x, o=out: alone(x, o), "all": lambda x=x, o=out: together(x, o)},
            limit=0.2 if quick else 1,
        )
        found[size] = least["all"] / least["alone"]
    losing = [size for size in found if found[size] > 1]
    first = min((size for size in found if size > max(losing, default=0)), default=0)
    return {"small": found[SIZES[0]], "crossing": first}
