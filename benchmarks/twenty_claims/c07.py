"""Four chunks of a sequence, computed apart and merged: a linear recurrence, and an LSTM."""

from . import FALSE, TRUE, Part, random

CLAIM = "Splitting a sequence into chunks and merging the results is equivalent to running it whole."
STEPS, CHUNK, HIDDEN = 64, 16, 16
PARTS = (
    Part(
        "linear",
        "for a linear recurrence",
        "largest difference, merged with each chunk's product of factors",
        TRUE,
        "10_scan",
        0,
        1e-5,
        exact=True,
    ),
    Part("LSTM", "for an LSTM", "largest difference, chunks from zero", FALSE, "10_scan", 0, 1e-5, exact=True),
)


def measure(quick):
    import numpy as np

    from dlkernels import lstm, scan

    a = 1 / (1 + np.exp(-random(STEPS, HIDDEN)))
    b = random(STEPS, HIDDEN, seed=1)
    whole = scan(a, b)
    state, parts = np.zeros(HIDDEN, np.float32), []
    for k in range(0, STEPS, CHUNK):
        apart = scan(a[k : k + CHUNK], b[k : k + CHUNK])
        parts.append(apart + np.cumprod(a[k : k + CHUNK], axis=0) * state)
        state = parts[-1][-1]
    weights = 0.5 * random(4 * HIDDEN, 8, seed=1), 0.5 * random(4 * HIDDEN, HIDDEN, seed=2)
    x = random(STEPS, 8)
    exact, *_ = lstm(x, None, None, *weights)
    apart = [lstm(x[k : k + CHUNK], None, None, *weights)[0] for k in range(0, STEPS, CHUNK)]
    return {"linear": np.abs(np.concatenate(parts) - whole).max(), "LSTM": np.abs(np.concatenate(apart) - exact).max()}
