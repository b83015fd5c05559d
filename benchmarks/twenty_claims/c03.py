"""Vector add on a GPU, with its copies: the recorded H200, and this machine's CPU."""

from . import TRUE, Part, random

CLAIM = "A GPU wins only on large vectors, and for vector add the transfer costs more than the kernel."
PARTS = (
    Part(
        "transfer",
        "the transfer costs more than the kernel",
        "seconds of copies and kernel / of the kernel alone, longest vector, H200, pinned",
        TRUE,
        "05_transfers",
        2,
        exact=True,
    ),
    Part(
        "short",
        "on short vectors it does not win",
        "seconds of the H200 with copies / of this CPU, 256 elements",
        TRUE,
        "05_transfers",
        1,
    ),
    Part(
        "long",
        "on long vectors it wins",
        "seconds of this CPU / of the H200 with copies, longest vector",
        "true if the link is faster than the CPU's memory",
        "05_transfers",
        1,
    ),
)


def measure(quick):
    import numpy as np

    from cpulab import measure as timing
    from dlkernels import add

    pinned = dict(zip(*timing.recorded_transfers()["pinned"], strict=True))
    short, long = min(pinned), max(pinned)
    lines = timing.recorded("gpu").data["transfers"]["lines"]
    (kernel,) = (one["seconds"] for one in lines if one["name"] == "kernel" and one["size"] == long)
    ours = {}
    for size in (short, long):
        a, b = random(size), random(size, seed=1)
        out = np.empty_like(a)
        ours[size] = min(
            timing.fastest({"add": lambda a=a, b=b, out=out: add(a, b, out=out)}, limit=0.3 if quick else 2).values()
        )
    return {"transfer": pinned[long] / kernel, "short": pinned[short] / ours[short], "long": ours[long] / pinned[long]}
