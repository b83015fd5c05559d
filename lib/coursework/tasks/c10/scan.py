"""10-scan: The gradient of a scan is a scan."""

import itertools

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

TOLD_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "barrier-after-exit",
    "uninitialised-shared",
    "uninitialised-local",
)

SCAN_BLOCK = 64
SCAN_ROUNDS = 6


def scan_case(name, rows, steps):
    """a, grad and out (rows, steps)."""

    def make(rng):
        a = rng.uniform(-1, 1, (rows, steps)).astype(np.float32)
        a += np.sign(a) * np.float32(0.3)
        return a, random_values(rng, rows, steps), unwritten(rows, steps)

    return Case(f"{name}: {rows} x {steps}", make, grid=rows, block=SCAN_BLOCK)


def gradients(a, grad, shift=1, forward=False, lead=0, times=True, reach=None):
    """g[t] = grad[t] + a[t + 1] g[t + 1], float64; the options are mistakes. `reach`: steps that get through."""
    a, grad = a.astype(np.float64), grad.astype(np.float64)
    rows, steps = a.shape
    found = np.zeros_like(grad)
    for r in range(rows):
        for t in range(steps):
            factor, total = 1.0, 0.0
            ends = range(t, -1, -1) if forward else range(t, steps)
            for k in itertools.islice(ends, reach):
                total += factor * grad[r, k]
                index = k + (lead if forward else shift)
                factor *= (a[r, index] if 0 <= index < steps else 0.0) if times else 1.0
            found[r, t] = total
    return found


def _gradients(**mistake):
    return lambda a, grad, out: gradients(a, grad, **mistake)


_SCAN_WARPS = SCAN_BLOCK // 32
SCAN = KernelTask(
    id="10-scan",
    section=Section("10.4", "10_recurrent_gpu", "A scan in a block"),
    title="The gradient of a scan is a scan",
    objective="Write a scan in shared memory that runs backwards, with its barriers, in six rounds for 64 steps",
    points=3,
    minutes=30,
    spec=lambda a, grad, out: gradients(a, grad),
    rtol=1e-4,
    atol=1e-4,
    tell_first=TOLD_FIRST,
    writer=lambda index, case: (index[0], index[1]),
    cases=(
        scan_case("one block, ragged", 1, 9),
        scan_case("exact", 2, 64),
        scan_case("ragged", 3, 41),
        scan_case("one step", 2, 1),
    ),
    suspects=(
        Suspect(
            _gradients(forward=True),
            "This is the scan forward: state t knows of steps 0 to t. The gradient goes the other way: out[t] knows of "
            "steps t to the end.",
        ),
        Suspect(
            _gradients(forward=True, lead=1),
            "A thread joined with the one d places before it. The scan runs backwards: thread t needs what comes "
            "behind it, from thread t + d.",
        ),
        Suspect(
            _gradients(shift=0),
            "a is taken one step too early: on its way from step t + 1 to step t the gradient passes the factor a[t + "
            "1].",
        ),
        Suspect(_gradients(times=False), "The factors are missing: this is the sum of all grad behind."),
        *(
            Suspect(
                _gradients(reach=reach),
                f"Only {reach} step{'s' if reach > 1 else ''} got into each number: {rounds} "
                f"round{'s' if rounds != 1 else ''}. How many rounds does it take to 64 steps, if each doubles what a "
                "thread knows of?",
            )
            for rounds, reach in enumerate((1, 2, 4, 8, 16, 32))
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores in the same round. Two barriers are needed in a round: one when "
            "all have read, one when all have stored."
        ),
        "divergent-barrier": (
            "Some threads of the block wait where others never come. Every thread makes every round and every barrier; "
            "what only some do stands in an `if` between the barriers."
        ),
        "barrier-after-exit": (
            "Some threads had ended while others still waited. Did they return early? Threads beyond the row's end "
            "stay, with a pair that changes nothing: factor 1, sum 0. Or is the barrier in an `if` that they skip? "
            "Every barrier stands outside, where all threads come."
        ),
        "uninitialised-shared": (
            "A thread reads a place of shared memory where nobody has stored: beyond the end of the row, or before the "
            "first barrier. Threads without a step store a pair, too: factor 1, sum 0."
        ),
        "out-of-bounds": (
            "Is it a or grad? Threads from the row's end on have no step, and the last step has no a[t + 1]. Is it "
            "shared memory? A thread that looks d places further stays below 64."
        ),
        "none-beyond": "The last step has no a[t + 1]; and a thread that looks d places further has to stay below 64.",
        "negative-index": "The scan runs backwards: a thread joins with the one d places further, t + d, not t - d.",
        "wrong-value": (
            "Work out three steps by hand: out[2] is grad[2], out[1] is grad[1] + a[2] * out[2]. Which factor belongs "
            "to the pair of thread 1? Is the sum joined before the factor changes? And does d double from round to "
            "round?"
        ),
        "not-finite": "NaN got in: is a place of shared memory used where nothing was stored?",
    },
    budget=Budget(
        points=2,
        text="at most 13 barriers; by the two warps of a block 64 requests that load from shared memory, 32 that store "
        "there, 4 and 2 to global memory",
        require={
            "barriers": 2 * SCAN_ROUNDS + 1,
            "shared_load_requests": 32 * _SCAN_WARPS,
            "shared_store_requests": 16 * _SCAN_WARPS,
            "global_load_requests": 2 * _SCAN_WARPS,
            "global_store_requests": _SCAN_WARPS,
        },
        over=(
            "The result is right, but it costs more than six rounds in which all threads work. Does one thread walk "
            "through all steps, or does a thread walk through all steps behind it?"
        ),
        causes=(
            (
                lambda rows: {o.name for o in rows} == {"barriers"},
                "The result is right, with more barriers than six rounds need: two in a round, and one when the pairs "
                "have been stored first.",
            ),
        ),
        case=scan_case("exact", 1, 64),
    ),
    hints=(
        "Write out[0] of four steps as a sum. Which factors stand with grad[2]? What would a thread have to keep of "
        "steps 2 and 3, so that another one can go on with both at once?",
        "A pair for each thread: the factor that a gradient from behind gets on its way through the stretch, and the "
        "sum of the stretch itself. Round by round join with the pair d places further, d = 1, 2, 4 and so on. Read, "
        "barrier, store, barrier.",
        "Begin with the factor a[t + 1] (0 at the last step, where nothing comes from behind) and the sum grad[t]. To "
        "join: the sum grows by the own factor times the sum of the other, then the factor is multiplied by that of "
        "the other. Both own numbers may stay in local names.",
    ),
)
