"""Products of float32 matrices: the recorded H200, by the fastest of its calls, and this machine's CPU."""

from . import TRUE, Part, random

CLAIM = "GPU matmul's advantage grows with matrix size."
SIZES = 256, 1024
PARTS = (
    Part(
        "grows",
        "the advantage grows",
        "advantage at 1024 / at 256: CPU seconds over those of the H200, data there",
        TRUE,
        "05_transfers",
        1,
    ),
    Part(
        "bounded",
        "without end",
        "operations of the H200 per second at the largest recorded size / at half of it",
        "true up to the size that fills the GPU",
        "05_transfers",
        1.1,
        exact=True,
    ),
)


def measure(quick):
    from cpulab import measure as timing
    from dlkernels import matmul

    best = {}
    for one in timing.recorded("gpu").data["matmul"]["lines"]:
        if one["dtype"] == "float32" and one["count"] == 1 and one["m"] == one["n"] == one["k"]:
            best[one["n"]] = min(one["seconds"], best.get(one["n"], one["seconds"]))
    ours = {}
    for n in SIZES:
        a, b = random(n, n), random(n, n, seed=1)
        ours[n] = min(timing.fastest({"matmul": lambda a=a, b=b: matmul(a, b)}, limit=0.3 if quick else 2).values())
    small, large = (ours[n] / best[n] for n in SIZES)
    most = max(best)
    half = most // 2
    return {"grows": large / small, "bounded": (most**3 / best[most]) / (half**3 / best[half])}
