"""All 64 steps of an LSTM at once, in rounds: from the states of the round before, and by Newton's method."""

from . import FALSE, Part, random

CLAIM = "Each RNN time step can be given its own kernel and run in parallel."
STEPS, HIDDEN = 64, 16
PARTS = (
    Part(
        "once",
        "in one round",
        "rounds until all 64 steps are right, each from the last round's states",
        FALSE,
        "10_recurrent",
        1,
        1,
        exact=True,
    ),
    Part(
        "newton",
        "in fewer rounds than there are steps",
        "rounds of Newton's method until all 64 are right",
        "true by Newton's method, with far more arithmetic",
        "10_scan",
        1,
        STEPS / 2,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    from dlkernels import lstm
    from dlkernels.recurrent import newton

    x = random(STEPS, 8)
    weights = [0.25 * random(4 * HIDDEN, 8, seed=1), 0.25 * random(4 * HIDDEN, HIDDEN, seed=2)]
    weights += [0.1 * random(4 * HIDDEN, seed=3), 0.1 * random(4 * HIDDEN, seed=4)]
    weights[2][HIDDEN : 2 * HIDDEN] = weights[3][HIDDEN : 2 * HIDDEN] = 3  # it remembers
    exact, *_ = lstm(x, None, None, *weights)

    h, c = np.zeros((2, STEPS + 1, HIDDEN), np.float32)
    once = 0
    while np.abs(h[1:] - exact).max() > 1e-5 and once < 2 * STEPS:
        _, new_h, new_c = lstm(x[None], h[None, :-1], c[None, :-1], *weights)
        h[1:], c[1:] = new_h[0], new_c[0]
        once += 1
    steps, rounds, off = newton.lstm_steps(x, *weights), 0, 1.0
    while off > 1e-5 and rounds < STEPS:
        rounds += 1
        states, _ = newton.solve(steps, np.zeros(2 * HIDDEN), STEPS, tolerance=0, rounds=rounds)
        off = np.abs(states[:, :HIDDEN] - exact).max()
    return {"once": once, "newton": rounds}
