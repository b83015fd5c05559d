"""Tasks of chapter 01, Why parallel. Times come from clocks that the check controls, so that every verdict is exact."""

import math
import re
import statistics
from dataclasses import replace

import numpy as np

from ..checking import short
from ..definition import Case, Section, Slip
from ..kinds.counterexample import CounterexampleTask, Flaw
from ..kinds.data import Numbers, Whole
from ..kinds.detective import DetectiveTask, Fault
from ..kinds.function import FunctionTask
from ..kinds.prediction import PredictionTask, Question
from ..kinds.scenario import ScenarioTask


def _number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-12)


# 01-bus ------------------------------------------------------------------------------------------------------


def _cycles(jobs, latency, every, dependent=False):
    """Cycles until the last of `jobs` is done, on a core that begins one `every` so many cycles; the next one at the
    earliest when the last is done, if it depends on it."""
    begin = done = 0
    for _ in range(jobs):
        begin = max(begin, done) if dependent else begin
        done = begin + latency
        begin += every
    return done


CAR, BUS = {"latency": 4, "every": 4}, {"latency": 30, "every": 1}

BUS_TASK = PredictionTask(
    id="01-bus",
    section=Section("1", "01_why_parallel", "A sports car or a bus"),
    title="A sports car or a bus?",
    objective="Tell latency from throughput: predict from how many jobs on the slower core is done first",
    points=1,
    minutes=4,
    questions=(
        Question(
            "many",
            "cycles that the bus needs for 100 jobs that do not depend on each other",
            lambda: _cycles(100, **BUS),
            {
                3000: "It begins a job in each cycle, and does not wait until the last one is done.",
                100: "After 100 cycles the last job has begun. When is it done?",
                130: "The first job begins in cycle 0, so the last one begins in cycle 99.",
                400: "That is the car. When does the last job begin on the bus, and how long does it take?",
            },
            "When does the last job begin, and how long does it take?",
        ),
        Question(
            "from_here",
            "the smallest number of such jobs for which the bus is done before the car",
            lambda: next(n for n in range(1, 100) if _cycles(n, **BUS) < _cycles(n, **CAR)),
            {
                8: "For 8 jobs the car needs 32 cycles, the bus 30 + 7.",
                9: "For 9 jobs the car needs 36 cycles, the bus 30 + 8. That is not before.",
                11: "One fewer is enough: n jobs keep the bus for 30 + (n - 1) cycles.",
            },
            "The car needs 4 n cycles, the bus 30 for the first job and one more for each other job.",
        ),
        Question(
            "chain",
            "cycles that the bus needs for 100 jobs of which each needs the result of the one before",
            lambda: _cycles(100, **BUS, dependent=True),
            {129: "Each job has to wait for the one before: nothing is in flight beside it.", 400: "That is the car."},
            "How many jobs can be in flight at a time?",
        ),
    ),
    hints=(
        "When does the second job begin, on each of the two cores?",
        "The last job of n begins in cycle n - 1 on the bus, and is done 30 cycles later.",
        "many: when the last one begins, and 30 more. from_here: compare with 4 n. chain: 30 cycles for each job.",
    ),
)

# 01-asm ------------------------------------------------------------------------------------------------------

LISTING = """
.LBB0_8:
    vmovups      (%rax,%r9,4), %ymm4
    vmovups      32(%rax,%r9,4), %ymm5
    vmovups      64(%rax,%r9,4), %ymm6
    vmovups      96(%rax,%r9,4), %ymm7
    vfmadd231ps  (%rcx,%r9,4), %ymm4, %ymm0
    vfmadd231ps  32(%rcx,%r9,4), %ymm5, %ymm1
    vfmadd231ps  64(%rcx,%r9,4), %ymm6, %ymm2
    vfmadd231ps  96(%rcx,%r9,4), %ymm7, %ymm3
    addq         $32, %r9
    cmpq         %r9, %rdx
    jne          .LBB0_8
    ...
.LBB0_12:
    vmovups      (%rax,%r9,4), %xmm1
    vfmadd231ps  (%rcx,%r9,4), %xmm1, %xmm0
    addq         $4, %r9
    cmpq         %r9, %rdx
    jne          .LBB0_12
    ...
.LBB0_4:
    vmovss       (%rax,%rdx,4), %xmm1
    vfmadd231ss  (%rcx,%rdx,4), %xmm1, %xmm0
    incq         %rdx
    cmpq         %rdx, %r8
    jne          .LBB0_4
"""


def _loops_of(listing):
    """For each loop of a listing: (names of the registers that its multiply-adds add to, elements in a round)."""
    loops = []
    for block in re.split(r"^\.LBB\w+:", listing, flags=re.MULTILINE)[1:]:
        sums = re.findall(r"vfmadd\w+ .*, %(\w+)$", block, flags=re.MULTILINE)
        step = re.search(r"addq +\$(\d+),", block)
        loops.append((sums, int(step[1]) if step else 1))
    return loops


def _rounds(elements):
    """Rounds of each loop: each takes what it can, and leaves the rest to the next one."""
    rounds = []
    for _, step in _loops_of(LISTING):
        rounds.append(elements // step)
        elements %= step
    return rounds


DOT_LENGTH = 1007

ASM = PredictionTask(
    id="01-asm",
    section=Section("1", "01_why_parallel", "SIMD: one instruction, many numbers"),
    title="Read what the compiler made",
    objective="Find the vector instructions in a compiled loop, and count what they do",
    points=2,
    minutes=8,
    questions=(
        Question(
            "lanes",
            "numbers that one multiply-add of the first loop handles",
            lambda: _loops_of(LISTING)[0][1] // len(_loops_of(LISTING)[0][0]),
            {
                32: "32 is what a round of the loop handles. How many multiply-adds does it have?",
                4: "An xmm register holds 4, a ymm register more.",
                16: "A zmm register would hold 16.",
                256: "That is the register in bits. A float32 has 32.",
            },
            "addq says how far a round goes. How many multiply-adds share that?",
        ),
        Question(
            "chains",
            "sums that the first loop keeps side by side",
            lambda: len(set(_loops_of(LISTING)[0][0])),
            {
                1: "Look at the last register of each multiply-add: it is added to. Is it always the same?",
                32: "These are the partial sums in all lanes. The question is for registers that are added to.",
                8: "8 registers are used; half of them hold what was loaded.",
            },
            "The last operand of vfmadd231ps is what it adds to.",
        ),
        Question(
            "rounds",
            f"rounds of the first loop for {DOT_LENGTH} elements",
            lambda: _rounds(DOT_LENGTH)[0],
            {
                32: "32 rounds would be 1024 elements. The rest is left to the other loops.",
                DOT_LENGTH // 8: "That is the number of vectors. A round takes several.",
                252: "That is in steps of four vectors' worth of bytes? addq counts elements.",
            },
            "r9 counts elements, and grows by 32.",
        ),
        Question(
            "multiply_adds",
            f"multiply-add instructions that are executed for {DOT_LENGTH} elements, in all three loops",
            lambda: sum(r * len(sums) for r, (sums, _) in zip(_rounds(DOT_LENGTH), _loops_of(LISTING), strict=True)),
            {
                DOT_LENGTH: "That would be one number at a time.",
                126: "That is the number of vectors of 8, rounded up. The rest is done by the other two loops.",
                124: "That is the first loop alone. What is left for the other two?",
                37: "These are the rounds of all loops. A round of the first one has four.",
                139: "15 elements are left. The second loop takes four at a time.",
            },
            "What does each loop leave to the next one?",
        ),
    ),
    hints=(
        "Which line says how many elements a round handles, and which lines do arithmetic?",
        "ymm has 256 bits, xmm 128. The second loop takes over where the first one cannot make a whole round; the third one takes "
        "single elements (ss: scalar, single).",
        "How many whole rounds of the first loop go into 1007? Divide what is left among the other two loops, and "
        "count four multiply-adds for each round of the first.",
    ),
)

# 01-roof -----------------------------------------------------------------------------------------------------


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
    "Two loops that become one: the flops of both, the bytes of both less kept[k], and the longer of the two times. All other "
    "loops stay as they were, and so do peak and bandwidth."
)


def judge_roof(arguments, result):
    """(choice, seconds): a change after which the least time is smallest, and that time."""
    times = changes(*arguments)
    least = min(times.values())
    best = [choice for choice, seconds in times.items() if _close(seconds, least)]
    expected = f"({best[0]!r}, {least:.6g})"
    if not isinstance(result, list | tuple) or len(result) != 2 or not _number(result[1]):
        return Slip("type", expected, "Return two values: the choice, and the seconds that the program takes after it.")
    choice, seconds = result
    if isinstance(choice, bool) or not isinstance(choice, int | str) or choice not in times:
        names = ", ".join(map(repr, times))
        return Slip("choice", f"one of {names}, and {least:.6g}", "Say what is changed by the names of the statement.")
    if choice in best and _close(seconds, least):
        return None
    if _close(seconds, times[choice]):
        more = f" {_PAIR}" if isinstance(best[0], int) else ""
        return Slip(
            "not-best",
            expected,
            f"The seconds belong to this choice, but another change gives less: {best[0]!r}. What seconds do you find for it?{more}",
        )
    before = _seconds(arguments[0], *arguments[2:])
    if _close(seconds, before):
        return Slip("before", expected, "These are the seconds before any change.")
    if _close(seconds, before - times[choice]):
        cause = "These are the seconds that the change saves. The seconds that the program then takes are asked for."
        return Slip("saved", expected, cause)
    for model, cause in (
        ("whole", "This takes the program as one loop. The loops run one after the other: each has a limit of its own, and the "
         "memory rests while a loop computes."),
        ("sum", "In a loop, arithmetic and memory work at the same moment: the longer of the two times counts, not their sum."),
    ):  # fmt: skip
        wrong = changes(*arguments, model=model)
        if _close(seconds, wrong[choice]) or _close(seconds, min(wrong.values())):
            return Slip(model, expected, cause)
    unsaved = changes(*arguments, saved=0)
    loops, kept, peak, bandwidth = arguments
    both_bought = (changes(loops, kept, 2 * peak, bandwidth), changes(loops, kept, peak, 2 * bandwidth))
    if any(_close(seconds, other[choice]) for other in both_bought):
        return Slip("two-changes", expected, "These are the seconds after two changes. You may buy one.")
    if not isinstance(choice, str) and _close(seconds, unsaved[choice]):
        return Slip(
            "nothing-saved", expected, "Fused loops do not move the bytes that `kept` names. Subtract them, once."
        )
    if not isinstance(choice, str) and _close(seconds, changes(*arguments, saved=2)[choice]):
        return Slip("saved-twice", expected, "`kept` names all bytes that fusing saves. Subtract them once.")
    if _close(seconds, times[choice] * 1e9) or _close(seconds, times[choice] * 1e-9):
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
        "Write a helper that adds up the longer of the two times of each loop. Call it once for each change: with 2 * peak, with "
        "2 * bandwidth, and with a list in which two loops have become one.",
        "The fused loop has the flops of both, and the bytes of both less kept[k]. Keep (seconds, choice) of each change and take "
        "the pair with the fewest seconds.",
    ),
)

# 01-workers --------------------------------------------------------------------------------------------------


def _run(n, serial, parallel, starting, cores, pace, least_use, wrong=""):
    """(seconds, utilisation) with n workers. `wrong` leaves something out, as answers do."""
    slow = 1.0 if wrong == "straggler" or (n < cores and wrong != "always") else pace
    slow = 1.0 if n == 1 else 1 / slow if wrong == "faster" else slow
    share = parallel / n
    alone = serial + (0.0 if wrong == "starting" else starting * (n - 1))
    seconds = alone + share / slow
    busy = alone + share * (n - 1) + share / slow
    busy = n * seconds - (n - 1) * alone if wrong == "waiting" else busy
    if wrong == "mean pace":
        seconds = alone + parallel / (n - 1 + slow) if n == cores else seconds
    return seconds, busy / (n * seconds)


def best_number(serial, parallel, starting, cores, pace, least_use, wrong=""):
    """(workers, seconds): the fastest number of workers of those that use the cores well enough."""
    arguments = serial, parallel, starting, cores, pace, least_use
    runs = {n: _run(n, *arguments, wrong=wrong) for n in range(1, cores + 1)}
    allowed = [n for n, (_, use) in runs.items() if use >= least_use or wrong == "use"]
    n = min(allowed, key=lambda n: runs[n][0])
    return n, runs[n][0]


WORKERS_WRONG = {
    "straggler": "One of the cores is slow. With all cores, the last worker is on it, and everybody waits for that worker.",
    "always": "The slow core is taken last: with fewer workers than cores, nobody is on it.",
    "starting": "Each worker beyond the first has to be started, one after the other. That time is serial, too.",
    "waiting": "Its utilisation is too low: workers that are done wait for the one on the slow core, and who waits does not work.",
    "use": "This is the fastest number, but its utilisation is below what is asked for. While the first worker works alone, and "
    "while it starts the others, these do not work.",
    "faster": "On the slow core a share takes longer: share / pace.",
    "mean pace": "The shares are equal, and nobody takes over what the slow worker has not done: it needs share / pace.",
}


def judge_workers(arguments, result):
    """(workers, seconds) as best_number has it."""
    n, least = best_number(*arguments)
    expected = f"({n}, {least:.6g})"
    if not isinstance(result, list | tuple) or len(result) != 2 or not all(_number(x) for x in result):
        cause = "Return two numbers: how many workers, and the seconds with so many."
        return Slip("type", expected, f"{cause} One worker is always allowed." if n == 1 else cause)
    said, seconds = result
    if type(said) is not int or not 1 <= said <= arguments[3]:
        cause = "The number of workers is a whole number from 1 to `cores`, and comes first; the seconds come second."
        return Slip("count", expected, cause)
    if said == n and _close(seconds, least):
        return None
    for wrong, cause in WORKERS_WRONG.items():
        other = best_number(*arguments, wrong=wrong)
        if said == other[0] and _close(seconds, other[1]):
            use = _run(said, *arguments)[1]
            got = f"({said}, {seconds:.6g}), utilisation {use:.3f}" if wrong in ("waiting", "use") else ""
            return Slip(wrong.replace(" ", "-"), expected, cause, got)
    right, use = _run(said, *arguments)
    if not _close(seconds, right):
        cause = "serial, then starting for each worker beyond the first, then the share of the slowest worker: add up these three."
        return Slip("seconds", expected, cause, f"({said}, {seconds:.6g}); with {said} workers it takes {right:.6g}")
    if use < arguments[5]:
        cause = "Utilisation: the seconds in which workers work, added up, over workers * seconds. Who is ready waits for the slowest."
        return Slip("use", expected, cause, f"({said}, {seconds:.6g}), utilisation {use:.3f}")
    cause = "The seconds are right for this number. Another one is allowed, and faster. Do you try all numbers from 1 to `cores`, the "
    return Slip("not-best", expected, f"{cause}last one too, and compare their seconds?")


WORKERS = FunctionTask(
    id="01-workers",
    section=Section("1.3", "01_scaling", "More threads, or the right number?"),
    title="The right number of workers",
    objective="Choose a number of workers by time and by utilisation, where one core is slow",
    points=5,
    minutes=20,
    judge=judge_workers,
    cases=(
        Case("nothing is serial, no core is slow", lambda rng: (0.0, 12.0, 0.0, 4, 1.0, 0.5)),
        Case("the last core is slow", lambda rng: (1.0, 12.0, 0.0, 4, 0.25, 0.5)),
        Case("starting costs more than it gains", lambda rng: (0.5, 10.0, 0.5, 8, 1.0, 0.1)),
        Case("the fastest number is used badly", lambda rng: (2.0, 6.0, 0.1, 8, 0.9, 0.7)),
        Case("a slow core that is worth it", lambda rng: (0.0, 12.0, 0.0, 2, 0.8, 0.5)),
        Case("nearly all is serial", lambda rng: (9.0, 1.0, 0.0, 4, 1.0, 0.9)),
        Case("who waits for the slow core does not work", lambda rng: (0.0, 12.0, 0.0, 3, 0.7, 0.95)),
    ),
    hints=(
        "Go through all numbers of workers. What are the three parts of the time, one after the other?",
        "First serial alone; then the starts of all workers but one; then the share of the slowest worker, which is as "
        "long as any other's, or longer where all cores are taken. For the utilisation, add up how long each worker "
        "really works.",
        "What is busy at n workers: the first two parts, n - 1 shares, and the share of the last worker as long as it "
        "takes. How much could n workers have done in that time? Among the n that are used well enough, which takes "
        "the fewest seconds?",
    ),
)

# 01-predict --------------------------------------------------------------------------------------------------

DEGREE, ELEMENTS, LANES, LATENCY, UNITS = 8, 1000, 8, 4, 2


class _Counted:
    """A number that counts the additions and multiplications made with its like."""

    done = 0

    def _count(self, other):
        _Counted.done += 1
        return self

    __mul__ = __rmul__ = __add__ = __radd__ = _count


def _flops():
    """Flops of Horner's rule, counted for one element and taken for all."""
    before = _Counted.done
    s = v = _Counted()
    for _ in range(DEGREE):
        s = s * v + 1
    return (_Counted.done - before) * ELEMENTS


def _vector_instructions():
    """Multiply-add instructions for all elements, counted as a vectorised loop goes over them."""
    count = 0
    for _ in range(0, ELEMENTS, LANES):
        for _ in range(DEGREE):
            count += 1
    return count


def _finished(chains, cycles=400):
    """Steps that a core finishes if each of `chains` chains may start its next step when the last is done."""
    ready, done = [0] * chains, 0
    for now in range(cycles):
        free = UNITS
        for k in range(chains):
            if free and ready[k] <= now:
                ready[k], free, done = now + LATENCY, free - 1, done + 1
    return done


def _fewest_chains():
    """The smallest number of chains with which the core finishes as many steps as with very many, by trying."""
    most = _finished(100)
    return next(k for k in range(1, 101) if _finished(k) == most)


def _scaled_speedup():
    """Eight workers, a job of 8 hours: 2 serial, 6 in parallel. Time of one worker, added up, over theirs."""
    serial, parallel, workers = 2, 6, 8
    return (serial + sum(parallel for _ in range(workers))) / (serial + parallel)


PREDICT = PredictionTask(
    id="01-predict",
    section=Section("1", "01_why_parallel", "The roofline"),
    title="Predict, then count",
    objective="Predict flops, instructions, steps in flight and a scaled speed-up",
    points=4,
    minutes=15,
    questions=(
        Question(
            "flops",
            f"flops of a polynomial of degree {DEGREE} for {ELEMENTS} elements, multiply and add counted as one each",
            _flops,
            {
                DEGREE * ELEMENTS: "Each step of the rule is a multiply and an add: two flops.",
                2 * DEGREE: "That is one element.",
                2 * ELEMENTS: "That is one step of the rule for all elements. How many steps are there?",
            },
            "Count the multiplies and adds of one element first.",
        ),
        Question(
            "intensity",
            "arithmetic intensity of that loop in flop per byte, float32, each element read once and written once",
            lambda: _flops() / (2 * 4 * ELEMENTS),
            {
                4: "Each element is read and written: twice 4 bytes.",
                16: "That is flop per element. How many bytes is an element read and written?",
                1: "Half of it. Is a multiply-add one flop or two, and has a float32 4 bytes or 8?",
                8: "That is flop per number moved. A float32 has 4 bytes.",
            },
            "flops of one element over bytes of one element.",
        ),
        Question(
            "instructions",
            f"multiply-add instructions of that loop, if each handles {LANES} lanes",
            _vector_instructions,
            {
                DEGREE * ELEMENTS: f"That is without vectors. One instruction does {LANES} elements.",
                2 * DEGREE * ELEMENTS // LANES: "A multiply-add is two flops, but one instruction.",
                ELEMENTS // LANES: "That is the number of vectors. How many multiply-adds does each need?",
            },
            "How many vectors are there, and how many multiply-adds does each go through?",
        ),
        Question(
            "in_flight",
            f"chains that keep a core busy which can begin {UNITS} steps in each cycle, with a latency of {LATENCY} cycles",
            _fewest_chains,
            {
                LATENCY: f"With {LATENCY} chains, one step can begin in each cycle. The core can begin {UNITS}.",
                LATENCY * UNITS * LANES: "The lanes of a vector work side by side: a chain is a chain of vectors.",
                LATENCY // UNITS: "In flight is throughput times latency, not latency over throughput.",
            },
            "Little's law: how many steps begin until the first one is done?",
        ),
        Question(
            "scaled",
            "scaled speed-up of 8 workers whose run takes 8 hours, 2 of them serial",
            _scaled_speedup,
            {
                8
                / (
                    0.25 * 8 + 0.75
                ): "That is Amdahl's law, with the share as one worker sees it. Add up what one worker would need.",
                8: "The serial part does not get faster.",
                6: "That is the parallel part alone, 6 of 8 hours with 8 workers. The serial part is work, too.",
            },
            "How many hours would one worker need for all of it? Divide by 8.",
        ),
    ),
    hints=(
        "Take one element: how many steps does the rule have, and how many flops is a step? For the chains: draw the cycles as columns.",
        "Vectors: elements / lanes of them, each goes through all steps. In flight = steps begun per cycle * cycles of one step.",
        "flops: what do the steps of one element cost, and how many elements are there? intensity: which bytes belong "
        "to one element? scaled: how many hours would one worker need for all of it?",
    ),
)

# 01-bug ------------------------------------------------------------------------------------------------------


def play_benchmark(benchmark, repeats, compiling, slow_every):
    """Run `benchmark(function, make_data, clock, repeats)` on a clock of ours. Returns its value and what happened.

    The first call of the function takes `compiling` seconds more, every `slow_every`-th one 40 times as long; data
    that the function has seen before is in the cache, and four times as fast. Making data takes long.
    """
    log, state = [], {"now": 0.0, "calls": 0, "made": 0}
    seen = set()

    def clock():
        log.append(["clock", 0.0, True])
        return state["now"]

    def make_data():
        state["now"] += 0.25
        state["made"] += 1
        log.append(["make_data", 0.25, True])
        return [state["made"]]

    def function(data):
        state["calls"] += 1
        k, fresh = state["calls"], data[0] not in seen
        seen.add(data[0])
        cost = 0.002 * (1 + 0.01 * (7 * k % 11)) * (1 if fresh else 0.25)
        cost = cost * (40 if k % slow_every == 0 else 1) + (compiling if k == 1 else 0)
        state["now"] += cost
        log.append(["function", cost, fresh])

    value = benchmark(function, make_data, clock, repeats)
    return {"value": value, "log": log}


def _timed(log):
    """The events between the first and the second reading of the clock, the third and the fourth ...; None if odd."""
    intervals, inside = [], None
    for event in log:
        if event[0] == "clock":
            if inside is None:
                inside = []
            else:
                intervals.append(inside)
                inside = None
        elif inside is not None:
            inside.append(event)
    return intervals if inside is None else None


def _told(slip, result):
    """The slip, with what came in words: the value, and in which order things happened at first."""
    if slip is None:
        return None
    value, names = result["value"], [event[0] for event in result["log"]]
    order = ", ".join(names[:9]) + (", ..." if len(names) > 9 else "")
    said = f"{value:.6g}" if _number(value) else repr(value)[:60]
    return replace(slip, got=f"{said}, after: {order or 'nothing'}")


WARM_UP = "The first call compiles. Make it before you read the clock, and forget it."


def judge_benchmark(arguments, result):
    return _told(_benchmark(arguments, result), result)


def _benchmark(arguments, result):
    """The median of `repeats` timed calls, each alone and with data of its own, after a call that is not timed."""
    repeats = arguments[0]
    log, value = result["log"], result["value"]
    intervals = _timed(log)
    calls = [event for event in log if event[0] == "function"]
    if not calls:
        return Slip("no-call", "calls of function(data)", "function is never called.")
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    if any(calls[0] is event for inside in intervals for event in inside):
        return Slip("warm-up", "the first call outside of what is timed", WARM_UP)
    inside = [event for interval in intervals for event in interval]
    if any(event[0] == "make_data" for event in inside):
        return Slip("setup-timed", "nothing but the call between two readings of the clock",
                    "The time to make the data is measured, too. Make it before you read the clock.")  # fmt: skip
    timed = [event for event in inside if event[0] == "function"]
    if any(not event[2] for event in timed):
        return Slip("cached", "data of its own for each timed call",
                    "A call got data that the function had seen before: it lies in the cache. Call make_data() for each.")  # fmt: skip
    if [len(interval) for interval in intervals] != [1] * repeats:
        return Slip("count", f"{repeats} times, each of one call",
                    f"There are {len(timed)} timed calls in {len(intervals)} pairs of readings. One pair around each call.")  # fmt: skip
    times = [event[1] for event in timed]
    return _statistic(value, times, statistics.median(times), "the median of the times")


def _statistic(value, values, right, name):
    """None if `value` is `right`; else a Slip that recognises the mean, the smallest, the largest, the sum, the
    last."""
    expected = f"{right:.6g}, {name}"
    if not _number(value):
        return Slip("type", expected, "Return one number.")
    if _close(value, right):
        return None
    for kind, other, cause in (
        ("mean", statistics.mean(values), "This is the mean. One long run pulls it up; the median hardly moves."),
        ("smallest", min(values), "This is the smallest. It is a lucky run, not a usual one: take the median."),
        ("largest", max(values), "This is the largest: a disturbed run. Take the median."),
        ("sum", math.fsum(values), "This is the sum of all runs. Take the median of the single ones."),
        ("middle", values[len(values) // 2], "This is the one in the middle of the list as measured. Sort it first."),
        ("upper", sorted(values)[len(values) // 2], "The number is even: the median is the mean of the two in the middle."),
        ("lower", sorted(values)[(len(values) - 1) // 2], "The number is even: the median is the mean of the two in the middle."),
    ):  # fmt: skip
        if _close(value, other):
            return Slip(kind, expected, cause)
    return Slip(
        "value",
        expected,
        "Each time is one reading of the clock minus the one before. statistics.median sorts and picks.",
    )


BUG = ScenarioTask(
    id="01-bug",
    section=Section("1.2", "01_timing", "Mistake 1: the first call"),
    title="A benchmark that measures something else",
    objective="Debug a benchmark: find what it measures besides the function",
    points=4,
    minutes=15,
    scenario=play_benchmark,
    judge=judge_benchmark,
    cases=(
        Case("9 repeats, the first call takes 30 s more, every 4th is disturbed", lambda rng: (9, 30.0, 4)),
        Case("5 repeats, nothing is disturbed", lambda rng: (5, 0.0, 1000)),
        Case("6 repeats, every 5th is disturbed", lambda rng: (6, 2.0, 5)),
    ),
    hints=(
        "Write down all that happens between the two readings of the clock in the first round. What of it is the function?",
        "Three things: the first call is special, making data is not the function's work, and one disturbed run spoils a mean.",
        "In the loop, which call must stand before start = clock()? What must have been called once before the loop begins? "
        "And which function of statistics hardly notices one long run?",
    ),
)

# 01-protocols ------------------------------------------------------------------------------------------------

USUAL = 0.002  # seconds of one call, compiled, undisturbed, with data that it has not seen


def play_protocol(protocol, repeats, compiling, disturbed):
    """Run `protocol(function, use, make_data, clock, repeats)` on a clock of ours. Returns its value and what happened.

    The first call takes `compiling` seconds more, the calls of which `disturbed` has the number 40 times as long, a call with
    data that was seen before a quarter. As a compiler does, the machine leaves out a call whose result is never used: the
    protocol is run twice, and in the first run we see which results it uses.
    """
    kept = _run_protocol(protocol, repeats, compiling, disturbed, None)["used"]
    return _run_protocol(protocol, repeats, compiling, disturbed, kept)


def _run_protocol(protocol, repeats, compiling, disturbed, kept):
    log, now, calls, made, seen, used = [], [0.0], [0], [0], set(), []

    def clock():
        log.append(["clock", 0, True])
        return now[0]

    def make_data():
        now[0] += 0.25
        made[0] += 1
        log.append(["make_data", 0, True])
        return made[0]

    def function(data):
        calls[0] += 1
        k, fresh = calls[0], data not in seen
        seen.add(data)
        if kept is None or k in kept:
            now[0] += USUAL * (1 if fresh else 0.25) * (40 if k in disturbed else 1)
        now[0] += compiling if k == 1 else 0
        log.append(["function", k, fresh])
        return k

    def use(result):
        used.append(result)

    value = protocol(function, use, make_data, clock, repeats)
    return {"value": value, "log": log, "used": used}


def judge_protocol(arguments, result):
    """None if the value is within 5 % of a usual call, else what made it something else."""
    value, expected = result["value"], f"{USUAL} s for a call, to within 5 %"
    if abs(value - USUAL) <= 0.05 * USUAL:
        return None
    inside = [event for interval in _timed(result["log"]) or () for event in interval]
    timed = [event for event in inside if event[0] == "function"]
    got = f"{value:.3g} s"
    if any(event[0] == "make_data" for event in inside):
        return Slip("setup", expected, "Making the data is timed.", got)
    if any(event[1] not in result["used"] for event in timed):
        return Slip("dead", expected, "Calls whose results nobody uses are timed.", got)
    if not all(event[2] for event in timed):
        return Slip("warm", expected, "Calls get data that was seen before.", got)
    if any(event[1] == 1 for event in timed):
        return Slip("compiles", expected, "The first call is timed.", got)
    return Slip("once" if len(timed) == 1 else "disturbed", expected, "Disturbed calls decide.", got)


def first(function, use, make_data, clock, repeats):
    data = [make_data() for _ in range(repeats)]
    start = clock()
    for d in data:
        use(function(d))
    return (clock() - start) / repeats


def second(function, use, make_data, clock, repeats):
    use(function(make_data()))
    times = []
    for _ in range(repeats):
        data = make_data()
        start = clock()
        function(data)
        times.append(clock() - start)
    return statistics.median(times)


def third(function, use, make_data, clock, repeats):
    times = []
    for _ in range(repeats):
        data = make_data()
        start = clock()
        use(function(data))
        times.append(clock() - start)
    return sorted(times)[repeats // 2]


def fourth(function, use, make_data, clock, repeats):
    for _ in range(repeats):
        use(function(make_data()))
    data = make_data()
    start = clock()
    use(function(data))
    return clock() - start


def fifth(function, use, make_data, clock, repeats):
    data = make_data()
    use(function(data))
    times = []
    for _ in range(repeats):
        start = clock()
        use(function(data))
        times.append(clock() - start)
    return statistics.median(times)


CLOCKED = ScenarioTask(
    id="01-protocols",
    title="",
    objective="",
    points=3,
    minutes=12,
    hints=("", "", ""),
    scenario=play_protocol,
    judge=judge_protocol,
    cases=(
        Case("9 repeats, 30 s to compile, nothing disturbed", lambda rng: (9, 30.0, [])),
        Case("9 repeats, 2 s to compile, calls 4 and 10 disturbed", lambda rng: (9, 2.0, [4, 10])),
        Case("5 repeats, 0.5 s to compile, call 6 disturbed", lambda rng: (5, 0.5, [6])),
    ),
)

PROTOCOLS = DetectiveTask(
    id="01-protocols",
    section=Section("1.2", "01_timing", "Mistake 3: work that is not done"),
    title="Five ways to time a function, one of them honest",
    objective="Recognise benchmarks that measure something else",
    points=3,
    minutes=12,
    judge=CLOCKED,
    programs={"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth},
    run="machine",
    faults=(
        Fault("honest", "gives the time of a usual call on every machine of this task"),
        Fault("compiles", "the time to compile is in the result", ("compiles",)),
        Fault("dead", "the compiler leaves out what is timed", ("dead",)),
        Fault("once", "one single call decides", ("once",)),
        Fault("warm", "data that lies in the cache already is timed", ("warm",)),
        Fault("setup", "the time to make the data is in the result", ("setup",)),
        Fault("noisy", "several calls are timed, and disturbed ones decide", ("disturbed",)),
    ),
    advice={
        "verdict": "Go through the calls of this benchmark on this machine one by one: which of them lies between two readings of "
        "the clock, with which data, and who looks at its result?"
    },
    hints=(
        "For each of the five: which call is the first one, and is it timed? If so: does its time get into the result?",
        "Look for three more things: a result that nobody looks at, data that comes twice, a number of timed calls that is one.",
        "Let the first call take 30 s, and write the list `times` of each benchmark. In which of them does an extreme value not "
        "matter?",
    ),
)

# 01-ratio ----------------------------------------------------------------------------------------------------


def play_ratio(median_ratio, rounds, compiling, drift, slow_every):
    """Run `median_ratio(peer, ours, clock, rounds)` on a clock of ours. Returns its value and what happened.

    First calls take `compiling` seconds more, every `slow_every`-th call 30 times as long, and the machine gets
    slower by the share `drift` in each second. Who runs right behind the other is 10 % slower.
    """
    log, state = [], {"now": 0.0, "calls": 0, "last": ""}
    first = set()

    def clock():
        log.append(["clock", 0.0, True])
        return state["now"]

    def candidate(name, seconds):
        def run():
            state["calls"] += 1
            cost = seconds * (1 + drift * state["now"])
            cost *= 1.1 if state["last"] not in ("", name) else 1
            cost *= 30 if state["calls"] % slow_every == 0 else 1
            cost += compiling if name not in first else 0
            first.add(name)
            state["last"] = name
            state["now"] += cost
            log.append([name, cost, True])

        return run

    value = median_ratio(candidate("peer", 0.02), candidate("ours", 0.01), clock, rounds)
    return {"value": value, "log": log}


def judge_ratio(arguments, result):
    return _told(_ratio(arguments, result), result)


def _ratio(arguments, result):
    """The median of the ratios of `rounds` rounds; in a round each runs once, and they take turns in being first."""
    rounds = arguments[0]
    log, value = result["log"], result["value"]
    names = [event[0] for event in log if event[0] != "clock"]
    if {"peer", "ours"} - set(names):
        return Slip("no-call", "calls of peer() and of ours()", "One of the two is never called.")
    intervals = _timed(log)
    if not intervals:
        return Slip("clock", "clock() before and after each call", "Two readings belong to each time: start and end.")
    inside = [event for interval in intervals for event in interval]
    for name in ("peer", "ours"):
        first = next(event for event in log if event[0] == name)
        if any(first is event for event in inside):
            return Slip("warm-up", f"the first call of {name}() outside of what is timed", WARM_UP)
    if any(len(interval) != 1 for interval in intervals):
        return Slip("mixed", "one call between two readings of the clock",
                    "Between two readings there is more than one call, or none. Time each call by itself.")  # fmt: skip
    if len(intervals) != 2 * rounds:
        return Slip("count", f"{rounds} rounds: {2 * rounds} timed calls",
                    f"There are {len(intervals)} timed calls. In a round, each of the two runs once.")  # fmt: skip
    pairs = [(intervals[k][0], intervals[k + 1][0]) for k in range(0, 2 * rounds, 2)]
    if any(a[0] == b[0] for a, b in pairs):
        return Slip("blocks", "peer and ours once in each round",
                    "One is run several times in a row. If the machine drifts, whoever comes later is hit: take turns.")  # fmt: skip
    ahead = [a[0] for a, _ in pairs]
    if abs(2 * ahead.count("peer") - rounds) > 1:
        return Slip("order", "each of the two first in half of the rounds",
                    f"peer was first in {ahead.count('peer')} of {rounds} rounds. Who runs behind the other may find its "
                    "threads or its data: change the order from round to round.")  # fmt: skip
    times = [{a[0]: a[1], b[0]: b[1]} for a, b in pairs]
    ratios = [t["peer"] / t["ours"] for t in times]
    right = statistics.median(ratios)
    if _number(value) and not _close(value, right):
        expected = f"{right:.6g}, the median of the ratios"
        peer, ours = ([t[name] for t in times] for name in ("peer", "ours"))
        if _close(value, statistics.median(t["ours"] / t["peer"] for t in times)):
            return Slip(
                "inverted",
                expected,
                "This is ours / peer. The ratio of this book is peer / ours: above 1, ours is faster.",
            )
        crossed = [r if k % 2 == (ahead[0] == "ours") else 1 / r for k, r in enumerate(ratios)]
        if _close(value, statistics.median(crossed)) or _close(value, statistics.median(1 / r for r in crossed)):
            cause = "In the rounds in which the order is changed, the time of ours is taken for that of peer: keep each by name."
            return Slip("crossed", expected, cause)
        if _close(value, statistics.median(t["peer"] - t["ours"] for t in times)):
            return Slip("difference", expected, "This is a difference of times, in seconds. A ratio is peer / ours.")
        if _close(value, statistics.median(peer) / statistics.median(ours)):
            cause = "This is the ratio of two medians. They may come from different rounds: form the ratio inside each round."
            return Slip("medians", expected, cause)
        if _close(value, math.fsum(peer) / math.fsum(ours)):
            return Slip(
                "sums",
                expected,
                "This is the ratio of the sums: one disturbed run decides it. Form the ratio in each round.",
            )
    return _statistic(value, ratios, right, "the median of the ratios")


RATIO = ScenarioTask(
    id="01-ratio",
    section=Section("1.2", "01_timing", "Mistake 5: first A, then B"),
    title="An honest ratio",
    objective="Write a comparison of two functions that compilation, drift and disturbed runs cannot spoil",
    points=5,
    minutes=20,
    scenario=play_ratio,
    judge=judge_ratio,
    cases=(
        Case("8 rounds on a quiet machine", lambda rng: (8, 0.0, 0.0, 1000)),
        Case("8 rounds, the first calls compile", lambda rng: (8, 5.0, 0.0, 1000)),
        Case("9 rounds, the machine gets slower and slower", lambda rng: (9, 1.0, 3.0, 1000)),
        Case("12 rounds, every 7th call is disturbed", lambda rng: (12, 1.0, 0.5, 7)),
    ),
    hints=(
        "What would go wrong if peer ran 10 times and then ours 10 times, while the machine gets slower?",
        "Warm up both. Then, in each round, time one call of each and keep peer / ours. In every second round, begin with ours.",
        "Let a small function time one call. What tells you, from the number of a round, who begins in it? Keep a "
        "ratio of each round, whoever began; which function of statistics hardly notices one bad round?",
    ),
)

# 01-fit ------------------------------------------------------------------------------------------------------


def fitted(workers, seconds):
    """(a, b) of the line a + b / n through the times, by least squares."""
    slope, fixed = statistics.linear_regression([1 / n for n in workers], seconds)
    return fixed, slope


def _misses(workers, runs, fixed, slope):
    """[(n, what the line says, fastest, slowest)] where the line lies outside of the runs."""
    said = [(n, fixed + slope / n, min(times), max(times)) for n, times in zip(workers, runs, strict=True)]
    return [row for row in said if not row[2] <= row[1] <= row[3]]


def _share(workers, runs, middle, against=lambda n: 1 / n):
    slope, fixed = statistics.linear_regression([against(n) for n in workers], [middle(times) for times in runs])
    return fixed / (fixed + slope)


def judge_fit(arguments, result):
    """The share a / (a + b) of the line through the medians, or None where it lies outside of the runs."""
    workers, runs = arguments
    fixed, slope = fitted(workers, [statistics.median(times) for times in runs])
    share, misses = fixed / (fixed + slope), _misses(workers, runs, fixed, slope)
    if result is None:
        if misses:
            return None
        cause = (
            f"The line through the medians is {fixed:.4g} + {slope:.4g} / n. With each number of workers it lies between the "
            "fastest and the slowest run: nothing speaks against it. Is it yours? "
        )
        cause += (
            "A share below 0 is returned, too." if share < 0 else "(A function without a `return` gives None, too.)"
        )
        return Slip("rejected", f"{share:.6g}", cause)
    if misses:
        n, said, low, high = misses[0]
        expected = "None: the model does not hold"
        cause = f"With {n} worker{'s' if n > 1 else ''} the line says {said:.4g} s, and the runs took {low:.4g} to {high:.4g} s. No share describes that."
        return Slip("accepted", expected, cause)
    expected = f"{share:.6g}"
    if not _number(result):
        return Slip("type", f"one number, {expected}", "Return the share as a float, or None.")
    near = lambda other: abs(result - other) <= 1e-6  # noqa: E731
    if near(share):
        return None
    if near(100 * share):
        return Slip("percent", expected, "That is in per cent. The share is a / (a + b).")
    if near(0) and share < 0:
        cause = "A share below 0 says that the workers are faster than they should be. Do not hide it."
        return Slip("clipped", expected, cause)
    if near(1 - share):
        return Slip("parallel", expected, "This is the share that can be divided, b / (a + b).")
    if near(fixed):
        cause = "This is a, in seconds. The share is a / (a + b): of the time with one worker."
        return Slip("seconds", expected, cause)
    if near(slope) or near(fixed / slope):
        return Slip("share", expected, "With one worker, n = 1, the time is a + b. The share is a / (a + b).")
    if near(_share(workers, runs, statistics.mean)):
        cause = "These are means, or all runs at once, which fits the same line. One disturbed run pulls it: take medians first."
        return Slip("mean", expected, cause)
    if near(_share(workers, runs, min)):
        return Slip("fastest", expected, "These are the fastest runs: lucky ones. Take medians.")
    if near(_share(workers, runs, statistics.median, lambda n: n)):
        return Slip("against-n", expected, "This is a line in n. The model is a line in 1 / n: fit against 1 / n.")
    ends = [0, -1]
    if near(_share([workers[k] for k in ends], [runs[k] for k in ends], statistics.median)):
        return Slip(
            "two-points", expected, "This uses the first and the last number of workers alone. Fit all of them."
        )
    return Slip("other", expected, "Medians first, then a and b of a + b / n by least squares, then a / (a + b).")


def runs_of(serial, workers, noise=0.02, scale=1.0, each=0.0, disturbed=(), repeats=5):
    """make(rng) -> (workers, runs): Amdahl's law, with relative noise, `each` seconds more for each worker (of the time
    with one), and single runs that took 20 times as long."""

    def make(rng):
        runs = []
        for k, n in enumerate(workers):
            time = scale * (serial + (1 - serial) / n + each * (n - 1))
            times = time * (1 + noise * rng.uniform(-1, 1, repeats))
            if k in disturbed:
                times[k % repeats] *= 20
            runs.append([float(t) for t in times])
        return list(workers), runs

    return make


def _superlinear(rng):
    return [1, 2, 4], [[float(t * (1 + x)) for x in (-0.02, 0.0, 0.02)] for t in (1.0, 0.45, 0.18)]


def _one_above(rng):
    """With 4 workers all runs are slower than the line says; with the others the line lies between the runs."""
    return [1, 2, 4, 8], [[0.9, 1.0, 1.1], [0.5, 0.55, 0.65], [0.4, 0.42, 0.44], [0.2, 0.22, 0.3]]


FIT = FunctionTask(
    id="01-fit",
    section=Section("1.3", "01_scaling", "Fitted to measurements"),
    title="The serial share, or none at all",
    objective="Fit Amdahl's law to measured runs, and reject it where it does not hold",
    points=5,
    minutes=20,
    judge=judge_fit,
    cases=(
        Case("1 to 8 workers, 20 % serial", runs_of(0.2, (1, 2, 4, 8), noise=0.05, scale=3.0)),
        Case(
            "1 to 16 workers, two runs were disturbed",
            runs_of(0.1, (1, 2, 4, 8, 16), noise=0.05, scale=0.7, disturbed=(1, 4)),
        ),
        Case("each worker costs something", runs_of(0.1, (1, 2, 4, 8, 16), each=0.02)),
        Case("two numbers of workers only", runs_of(0.35, (1, 2), scale=2.0)),
        Case("faster than the workers explain", _superlinear),
        Case("one number of workers is slower than the line", _one_above),
    ),
    advice={"raised-TypeError": "runs holds a list of times for each number of workers."},
    hints=(
        "One run in a list was disturbed. Which number of the list hardly notices? And against what is a + b / n a straight line?",
        "The median of each list; then a line against 1 / n: b is its slope, a its value at 1 / n = 0. Where does the line lie, "
        "compared with the runs?",
        "np.polyfit(x, y, 1) returns slope and intercept. Work out a + b / n for each n and compare with the fastest and the slowest "
        "run of that n: one that lies outside is enough for None.",
    ),
)

# 01-claims ---------------------------------------------------------------------------------------------------


def mean_ratio(peer, ours):
    ratios = [p / o for p, o in zip(peer, ours, strict=True)]
    return sum(ratios) / len(ratios)


def _geometric(peer, ours):
    return math.exp(sum(math.log(p / o) for p, o in zip(peer, ours, strict=True)) / len(peer))


def both_ways(ratio, peer, ours):
    return {"peer / ours": ratio(peer, ours), "ours / peer": ratio(ours, peer)}


def judge_ways(arguments, result):
    forth, back = result["peer / ours"], result["ours / peer"]
    if forth > 1 + 1e-9 and back > 1 + 1e-9:
        cause = "Each of the two is faster than the other."
        return Slip("both", "at most one of the two above 1", cause, f"{forth:.4g} and, exchanged, {back:.4g}")
    return None


def workers_for(percent, wanted):
    serial = percent / 100
    return math.ceil((1 - serial) / (1 / wanted - serial))


def _workers_for(percent, wanted):
    """In whole numbers: (100 - percent) / (100 / wanted - percent), rounded up."""
    return -(-(100 - percent) * wanted // (100 - percent * wanted))


def judge_claimed(arguments, result):
    percent, wanted = arguments
    right = _workers_for(percent, wanted)
    said = f"{right}: {percent} + {100 - percent} / {right} is at most 100 / {wanted}"
    return None if result == right else Slip("too-many", said, "")


def time_of(call, clock):
    calls = 1
    while True:
        start = clock()
        for _ in range(calls):
            call()
        passed = clock() - start
        if passed > 0:
            return passed / calls
        calls *= 2


def _time_of(call, clock):
    calls, step = 1, 0
    while True:
        start = clock()
        for _ in range(calls):
            call()
        passed = clock() - start
        step = step or passed
        if passed > 12 * step > 0:
            return passed / calls
        calls *= 2


def on_a_coarse_clock(time_of, tick, cost):
    now = [0]

    def call():
        now[0] += cost

    return time_of(call, lambda: now[0] // tick * tick)


def judge_coarse(arguments, result):
    cost = arguments[1]
    if abs(result - cost) > 0.1 * cost:
        return Slip("coarse", f"{cost} microseconds, to within 10 %", "", f"{result:.6g}")
    return None


_UNSEEN = {"points": 1, "minutes": 5, "hints": ("", "", ""), "cases": (), "title": "", "objective": ""}

CLAIMS = CounterexampleTask(
    id="01-claims",
    section=Section("1.2", "01_timing", "What the book does"),
    title="Three functions that are right, nearly always",
    objective="Find times and settings for which a common way to compare, to round or to time is wrong",
    points=4,
    minutes=15,
    flaws=(
        Flaw(
            name="ratio",
            judge=ScenarioTask(id="01-claims", scenario=both_ways, judge=judge_ways, **_UNSEEN),
            wrong=mean_ratio,
            right=_geometric,
            fields={"peer": Numbers(1, 6, 1, 100, np.float64), "ours": Numbers(1, 6, 1, 100, np.float64)},
            rules=((lambda peer, ours: len(peer) == len(ours), "as many times of the one as of the other"),),
            case=lambda peer, ours: Case(f"{len(peer)} times each", lambda rng: (peer.tolist(), ours.tolist())),
            lead="One of the two is the winner here, whoever is asked. When can a mean be above 1 although half of it is below?",
        ),
        Flaw(
            name="workers",
            judge=FunctionTask(id="01-claims", judge=judge_claimed, **_UNSEEN),
            wrong=workers_for,
            right=_workers_for,
            fields={"percent": Whole(1, 50), "wanted": Whole(2, 50)},
            rules=((lambda percent, wanted: percent * wanted < 100, "below the limit: percent * wanted < 100"),),
            case=lambda percent, wanted: Case(
                f"{percent} % serial, {wanted} times as fast", lambda rng: (percent, wanted)
            ),
            lead="A computer's 0.1 is not a tenth. When does the smallest error of a quotient change what ceil makes of it?",
        ),
        Flaw(
            name="clock",
            judge=ScenarioTask(id="01-claims", scenario=on_a_coarse_clock, judge=judge_coarse, **_UNSEEN),
            wrong=time_of,
            right=_time_of,
            fields={"tick": Whole(1, 60), "cost": Whole(1, 60)},
            case=lambda tick, cost: Case(f"a tick of {tick}, a call of {cost}", lambda rng: (tick, cost)),
            lead="The clock stands still between two ticks. How far apart can the time that passed and the time that it shows be?",
        ),
    ),
    hints=(
        "For each function: which step of it throws something away, or treats two things alike that are not?",
        "ratio: let each be faster once. workers: look for inputs whose exact answer is a whole number before it is rounded. clock: "
        "what is shown is a whole number of ticks.",
        "ratio: two pairs of times are enough. workers: a loop over all inputs finds some, if you compare with whole-number "
        "arithmetic. clock: choose a tick so long that the loop ends at the first one, and count calls by hand.",
    ),
)

TASKS = (BUS_TASK, PREDICT, ASM, ROOF, BUG, PROTOCOLS, RATIO, FIT, WORKERS, CLAIMS)
