"""Bytes that must cross the link for a vector add, counted; nothing here is timed: no machine with unified memory was
recorded."""

from . import Part

CLAIM = "Unified memory removes the cost of copies between host and device."
N, PAGE = 1 << 24, 1 << 16
PARTS = (
    Part(
        "touched",
        "nothing is copied where all is touched",
        "bytes over the link with unified memory / with copies; all of the vectors is used",
        "true if both share one memory, with no link between",
        "05_transfers",
        0,
        0.5,
        exact=True,
    ),
    Part(
        "sparse",
        "nothing is copied where little is touched",
        "the same; one number in each hundredth page is used",
        "true for pages that are not touched",
        "05_transfers",
        0,
        0.5,
        exact=True,
    ),
)


def measure(quick):
    arrays = 3  # a and b go there, the result comes back
    copies = arrays * 4 * N
    pages = arrays * -(-4 * N // PAGE)
    return {"touched": pages * PAGE / copies, "sparse": -(-pages // 100) * PAGE / copies}
