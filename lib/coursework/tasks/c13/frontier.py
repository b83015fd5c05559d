"""13-frontier: A network that reads in as few bytes as possible."""

import functools

import numpy as np

from ... import network
from ...definition import Budget, Case, Section, Slip
from ...golf import Golf
from ...kinds.function import FunctionTask
from ...plain import reals

NAMES = "w1", "b1", "w2", "b2"
NOISE, LEAST = 0.2, 0.97


@functools.cache
def judged():
    """The pictures that judge, and their labels: others than the student gets."""
    return network.pictures(np.random.default_rng(97), 2000, NOISE)


def reads(parameters):
    x, labels = judged()
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.mean(network.forward(x, *parameters) == labels))


def decoded(stored):
    """The numbers of one array, float64; ValueError where scale or low do not fit the codes."""
    codes, _, scale, low = stored
    codes, scale, low = map(reals, (codes, scale, low))
    if codes is None or scale is None or low is None:
        raise ValueError
    with np.errstate(over="ignore", invalid="ignore"):
        scale, low = (x.astype(np.float16).astype(np.float64) for x in (scale, low))
        found = low + scale * codes
    if found.shape != codes.shape:
        raise ValueError
    return found


def bytes_of(arguments, result):
    """Bits of codes, rounded up to bytes for each array, and two bytes for each scale and each low."""
    return sum(
        -(-np.size(codes) * int(bits) // 8) + 2 * (np.size(scale) + np.size(low)) for codes, bits, scale, low in result
    )


def judge_frontier(arguments, result):
    expected = f"w1, b1, w2, b2, each as (codes, bits, scale, low), which read {LEAST:.0%} of 2,000 other pictures"
    if not isinstance(result, list | tuple) or len(result) != 4:
        return Slip("type", expected, "Return four things, one for each array: w1, b1, w2, b2.")
    slip = next(filter(None, map(functools.partial(_of_one, expected), NAMES, result)), None)
    if slip:
        return slip
    found = [decoded(stored) for stored in result]
    hidden = np.shape(found[1])[0] if np.ndim(found[1]) == 1 else 0
    shapes = (network.ROWS * network.COLUMNS, hidden), (hidden,), (hidden, network.DIGITS), (network.DIGITS,)
    for name, array, shape in zip(NAMES, found, shapes, strict=True):
        if array.shape != shape:
            cause = (
                "Hidden values may go, the same from w1, b1 and w2. Pixels and digits stay, and so does the order of "
                "the axes."
            )
            return Slip("shape", f"{name} of shape {shape}, as b1 has {hidden} values", cause, f"shape {array.shape}")
    if not all(np.isfinite(array).all() for array in found):
        cause = "Scales and lows are kept as float16, and that ends at 65,504."
        return Slip("not-finite", expected, cause, "infinite numbers")
    right = reads(found)
    return None if right >= LEAST else _reads_badly(arguments, result, found, right)


def _of_one(expected, name, stored):
    if not isinstance(stored, list | tuple) or len(stored) != 4:
        return Slip("type", expected, f"{name} has to be stored as four things: codes, bits, scale, low.")
    codes, bits, scale, low = stored
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or not 0 <= bits <= 16:
        return Slip("bits", "a whole number from 0 to 16", f"How many bits has each code of {name}?", f"{bits}")
    if any(reals(x) is None for x in (codes, scale, low)):
        return Slip("type", expected, f"codes, scale and low of {name} have to be numbers.")
    try:
        decoded(stored)
    except ValueError:
        cause = f"scale and low are numbers, or arrays that stretch to the shape of the codes of {name}."
        return Slip(
            "stretch", expected, cause, f"codes {np.shape(codes)}, scale {np.shape(scale)}, low {np.shape(low)}"
        )
    codes, most = reals(codes), 2 ** int(bits) - 1
    bad = np.flatnonzero(~((codes >= 0) & (codes <= most) & (codes == np.rint(codes))))
    if bad.size:
        cause = (
            f"With {bits} bits a code is a whole number from 0 to {most}. What is least gets the code 0: subtract "
            "`low` first."
        )
        if codes.flat[bad[0]] == most + 1:
            cause = (
                f"With {bits} bits there are {most + 1} codes, and {most} is the last one: there are {most} steps "
                "between them."
            )
        return Slip("codes", f"0 to {most}", cause, f"code {codes.flat[bad[0]]:.6g} in {name}")
    if not (np.abs(np.asarray(scale, np.float64)) > 3e-8).any() and codes.any():
        return Slip("no-scale", expected, f"The scale of {name} is 0 as float16. Nothing below 6e-8 can be kept in it.")
    return None


def _reads_badly(arguments, result, found, right):
    """Which array spoils it: the digits that are read with one of them as it was."""
    wanted, got = f"at least {LEAST:.0%} of the pictures", f"{right:.1%}"
    exact = [np.asarray(array, np.float64) for array in arguments[:4]]
    if found[1].shape != exact[1].shape:
        cause = (
            "Hidden values were left out. Which can go without that the network misses them, and what do the others "
            "take over?"
        )
        return Slip("pruned", wanted, cause, got)
    off = {name: np.abs(a - b).max() for name, a, b in zip(NAMES, found, exact, strict=True)}
    better = {name: reads([*found[:k], exact[k], *found[k + 1 :]]) for k, name in enumerate(NAMES)}
    name = max(better, key=better.get)
    k = NAMES.index(name)
    words = f"With {name} as it was, {better[name]:.1%} would be read; its numbers are up to {off[name]:.3g} off. "
    about = 0.04 * np.ptp(exact[k])  # half a step of four bits, and a little
    if np.allclose(found[k], exact[k] - exact[k].min(), atol=about):
        return Slip(
            "low", wanted, words + "All are moved by the same: `low` was forgotten. It is the number of code 0.", got
        )
    if np.allclose(found[k], -exact[k], atol=about):
        return Slip("sign", wanted, words + "They have the other sign.", got)
    most, used = 2 ** int(result[k][1]) - 1, np.max(result[k][0])
    if used <= most / 2:
        cause = f"Its codes end at {used:.0f}, and {result[k][1]} bits reach up to {most}: the scale is too large."
        return Slip("unused", wanted, words + cause, got)
    return Slip("accuracy", wanted, words + "Does it have too few codes, or codes where there are no numbers?", got)


def a_network(n=1000, drawn=None):
    """make(rng) -> w1 (63, 32), b1, w2 (32, 10), b2, float32, hidden values in some order; n pictures, their labels.

    drawn: a seed for who must have the same pictures each time, as a budget: an answer that reads them may need more
    bytes for others."""

    def make(rng):
        rng = rng if drawn is None else np.random.default_rng(drawn)
        w1, b1, w2, b2 = network.weights()
        order = rng.permutation(len(b1))
        return (w1[:, order].copy(), b1[order], w2[order].copy(), b2.copy(), *network.pictures(rng, n, NOISE))

    return make


FRONTIER = FunctionTask(
    id="13-frontier",
    section=Section("13.4", "13_frontier", "Accuracy, bytes, milliseconds"),
    title="A network in as few bytes as possible",
    objective="Store a trained network in few bytes, so that it still reads 97 % of the digits",
    points=2,
    minutes=20,
    judge=judge_frontier,
    cases=(Case("a network of 32 hidden values", a_network()), Case("in another order", a_network())),
    costs={"bytes": ("bytes", bytes_of)},
    budget=Budget(
        points=1,
        text="at most 1,250 bytes; as float32 it is 9,512",
        require={"bytes": 1250},
        over="It reads well enough, but it could be smaller. What do your scales take, beside the codes? And how many "
        "bits do the two large arrays need, how many the small ones?",
        case=Case("a network of 32 hidden values", a_network(drawn=98)),
        golf=Golf(
            count="bytes",
            best=577,
            tiers=(("gold", 1.0), ("silver", 1.66), ("bronze", 2.15)),
            lead="A rounding leaves an error, and weights that are not rounded yet can make up for it (GPTQ, on the "
            "page). And what if the network goes on learning with its rounding in it, as in 13-through? The pictures "
            "are there.",
        ),
    ),
    hints=(
        "How many bytes are the codes of w1 with 8, 4, 2 bits? Which array is nearly all of the network?",
        "For each array: low is its least number, and the scale is its range divided by the number of the last "
        "code. A code says how many scales a number lies above low: rounded, and clipped. Begin with 8 bits.",
        "Then 4 bits for w1 and w2, 8 for the biases, one scale for each array: 1,226 bytes. Make float16 of low, "
        "then of the scale, before you compute the codes.",
    ),
)
