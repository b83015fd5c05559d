"""An LSTM of several layers three ways: threads that share a step, layers as a wavefront, parts of the batch.

    python benchmarks/run.py recurrent_layers           recorded in results/recurrent_layers.json
    python benchmarks/run.py recurrent_layers --quick   two sizes, not recorded

float32, one direction, as many features as hidden units, all threads, as a user has them: nothing is pinned. *Shared*:
all threads compute a part of the units of a step, and meet after it (fast.py). *Wavefront* and *parts* are the rungs of
fast_strands.py; `dlkernels.lstm` chooses by what is found here. The three run in turns in one process (it is one
library: the threads are the same for all), and their results are compared.
"""

import numpy as np

from cpulab.measure import Table, times
from dlkernels import implementations, team

#: layers, steps, batch, hidden
SIZES = (
    (2, 256, 16, 32), (4, 256, 16, 32), (4, 256, 32, 32), (2, 256, 8, 64), (4, 512, 8, 64), (2, 256, 32, 64), (4, 512, 32, 64),
    (4, 256, 64, 64), (4, 256, 16, 96), (8, 128, 32, 128), (2, 128, 32, 256), (4, 128, 32, 256), (4, 64, 64, 512),
)  # fmt: skip
WAYS = {"shared": "lstm_vectors", "wavefront": "lstm_wavefront", "parts": "lstm_batch_parts"}


def ways(layers, steps, batch, hidden):
    """{name: function that runs the network}, on the same numbers."""
    draw = np.random.default_rng(0)
    x = draw.standard_normal((steps, batch, hidden), np.float32)
    h, c = np.zeros((2, layers, batch, hidden), np.float32)
    shapes = ((4 * hidden, hidden), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,))
    weights = [
        [(2 * draw.random(shape, np.float32) - 1) / np.float32(np.sqrt(hidden)) for _ in range(layers)]
        for shape in shapes
    ]
    rungs = {each.name: each for each in implementations.of("lstm", "cpu")}

    return {way: lambda rung=rungs[name]: rung(x, h, c, *weights) for way, name in WAYS.items()}


def compared(size, budget):
    """{way: seconds}, and the ratio to sharing of the two others with its quartiles."""
    made = ways(*size)
    expected = made["shared"]()
    for way in ("wavefront", "parts"):
        for ours, theirs in zip(made[way](), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-5)
    measured = times(made, budget=budget)
    found = {"size": dict(zip(("layers", "steps", "batch", "hidden"), size, strict=True)), "seconds": measured.seconds}
    for way in ("wavefront", "parts"):
        ratio = measured.ratio("shared", way)
        found[way] = {"ratio": ratio.ratio, "low": ratio.low, "high": ratio.high}
    return found


def benchmark(quick):
    found = [compared(size, budget=3.0) for size in SIZES[: 2 if quick else None]]
    rows = [
        (
            *one["size"].values(),
            f"{one['seconds']['shared'] * 1e3:.1f}",
            *(
                f"{one[way]['ratio']:.2f} ({one[way]['low']:.2f} to {one[way]['high']:.2f})"
                for way in ("wavefront", "parts")
            ),
        )
        for one in found
    ]
    print(Table(("layers", "steps", "batch", "hidden", "shared, ms", "shared / wavefront", "shared / parts"), rows))
    return {"threads": team.size(), "sizes": found}
