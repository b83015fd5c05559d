"""01-roof: What would help?"""

from ...checking import short
from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import is_close, is_number


def _seconds(loops, peak, bandwidth, model="each"):
    """The least time of loops that run one after the other. `model`: "each", or a wrong one: "whole", "sum"."""
    times = [(flops / (peak * 1e9), moved / (bandwidth * 1e9)) for flops, moved in loops]
    if model == "whole":
        return max(sum(t[0] for t in times), sum(t[1] for t in times))
    return sum(max(t) if model == "each" else sum(t) for t in times)


def _fused(loops, kept, k, saved=1):
    both = [loops[k][0] + loops[k + 1][0], loops[k][1] + loops[k + 1][1] - saved * kept[k]]
    return [*loops[:k], both, *loops[k + 2 :]]


def changes(loops, kept, peak, bandwidth, model="each", saved=1):
    """{choice: seconds} of every change that can be bought."""
    times = {
        "peak": _seconds(loops, 2 * peak, bandwidth, model),
        "bandwidth": _seconds(loops, peak, 2 * bandwidth, model),
    }
    return times | {k: _seconds(_fused(loops, kept, k, saved), peak, bandwidth, model) for k in range(len(kept))}


_PAIR = (
    "Two loops that become one: the flops of both, the bytes of both less kept[k], and the longer of the two times. "
    "All other loops stay as they were, and so do peak and bandwidth."
)


def judge_roof(arguments, result):
    """(choice, seconds): a change after which the least time is smallest, and that time."""
    times = changes(*arguments)
    least = min(times.values())
    best = [choice for choice, seconds in times.items() if is_close(seconds, least)]
    expected = f"({best[0]!r}, {least:.6g})"
    if not isinstance(result, list | tuple) or len(result) != 2 or not is_number(result[1]):
        return Slip("type", expected, "Return two values: the choice, and the seconds that the program takes after it.")
    choice, seconds = result
    if isinstance(choice, bool) or not isinstance(choice, int | str) or choice not in times:
        names = ", ".join(map(repr, times))
        return Slip("choice", f"one of {names}, and {least:.6g}", "Say what is changed by the names of the statement.")
    if choice in best and is_close(seconds, least):
        return None
    if is_close(seconds, times[choice]):
        more = f" {_PAIR}" if isinstance(best[0], int) else ""
        return Slip(
            "not-best",
            expected,
            f"The seconds belong to this choice, but another change gives less: {best[0]!r}. What seconds do you find "
            f"for it?{more}",
        )
    before = _seconds(arguments[0], *arguments[2:])
    if is_close(seconds, before):
        return Slip("before", expected, "These are the seconds before any change.")
    if is_close(seconds, before - times[choice]):
        cause = "These are the seconds that the change saves. The seconds that the program then takes are asked for."
        return Slip("saved", expected, cause)
    for model, cause in (
        (
            "whole",
            "This takes the program as one loop. The loops run one after the other: each has a limit of its "
            "own, and the "
            "memory rests while a loop computes.",
        ),
        (
            "sum",
            "In a loop, arithmetic and memory work at the same moment: the longer of the two times counts, not "
            "their sum.",
        ),
    ):
        wrong = changes(*arguments, model=model)
        if is_close(seconds, wrong[choice]) or is_close(seconds, min(wrong.values())):
            return Slip(model, expected, cause)
    unsaved = changes(*arguments, saved=0)
    loops, kept, peak, bandwidth = arguments
    both_bought = (changes(loops, kept, 2 * peak, bandwidth), changes(loops, kept, peak, 2 * bandwidth))
    if any(is_close(seconds, bought[choice]) for bought in both_bought):
        return Slip("two-changes", expected, "These are the seconds after two changes. You may buy one.")
    if not isinstance(choice, str) and is_close(seconds, unsaved[choice]):
        return Slip(
            "nothing-saved", expected, "Fused loops do not move the bytes that `kept` names. Subtract them, once."
        )
    if not isinstance(choice, str) and is_close(seconds, changes(*arguments, saved=2)[choice]):
        return Slip("saved-twice", expected, "`kept` names all bytes that fusing saves. Subtract them once.")
    if is_close(seconds, times[choice] * 1e9) or is_close(seconds, times[choice] * 1e-9):
        return Slip("units", expected, "The rates are in GFLOP/s and GB/s. 1 G is 1e9.")
    if not isinstance(choice, str):
        return Slip("fused", expected, _PAIR, f"{short(result)}; {choice} gives {times[choice]:.6g} s")
    return Slip("other", expected, "For each loop: the longer of flops / peak and bytes / bandwidth. Then their sum.")


def program(loops, kept, peak, bandwidth):
    return lambda rng: ([list(map(float, x)) for x in loops], [float(x) for x in kept], peak, bandwidth)


def any_program(count):
    def make(rng):
        loops = rng.uniform((1e9, 1e9), (9e10, 2e10), (count, 2))
        kept = [float(rng.uniform(0.2, 1.0) * min(a, b)) for a, b in zip(loops[:-1, 1], loops[1:, 1], strict=True)]
        return loops.tolist(), kept, float(rng.uniform(50, 90)), float(rng.uniform(10, 40))

    return make


ROOF = FunctionTask(
    id="01-roof",
    section=Section("1", "01_why_parallel", "The roofline"),
    title="What would help?",
    objective="Say for each of several loops what holds it up, and which change shortens the program most",
    points=4,
    minutes=16,
    judge=judge_roof,
    cases=(
        Case("one loop, held up by memory", program([(1e8, 12e8)], [], 100.0, 25.0)),
        Case("one loop, held up by arithmetic", program([(1.6e11, 4.8e8)], [], 100.0, 25.0)),
        Case("two loops, held up by different things", program([(60e9, 1e9), (1e9, 12e9)], [0.5e9], 100.0, 25.0)),
        Case(
            "three loops, two of them held up by memory",
            program([(1e9, 2e9), (30e9, 1e9), (1e9, 9e9)], [0.5e9, 0.9e9], 100.0, 25.0),
        ),
        Case("four loops", any_program(4)),
    ),
    advice={
        "raised-IndexError": "With one loop there is nothing to fuse: kept has one number fewer than there are loops."
    },
    hints=(
        "What holds up each loop, one after the other? Does twice the bandwidth help a loop that waits for arithmetic?",
        "Write a helper that adds up the longer of the two times of each loop. Call it once for each change: with 2 * "
        "peak, with 2 * bandwidth, and with a list in which two loops have become one.",
        "The fused loop has the flops of both, and the bytes of both less kept[k]. Keep (seconds, choice) of each "
        "change and take the pair with the fewest seconds.",
    ),
)
