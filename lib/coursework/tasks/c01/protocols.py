"""01-protocols: Five ways to time a function, one of them honest."""

import statistics

from ...definition import Case, Section, Slip
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.scenario import ScenarioTask
from .shared import timed_events

USUAL = 0.002  # seconds of one call, compiled, undisturbed, with data that it has not seen


def play_protocol(protocol, repeats, compiling, disturbed):
    """Run `protocol(function, use, make_data, clock, repeats)` on a clock of ours. Returns its value and what happened.

    The first call takes `compiling` seconds more, the calls of which `disturbed` has the number 40 times as long, a
    call with data that was seen before a quarter. As a compiler does, the machine leaves out a call whose result is
    never used: the protocol is run twice, and in the first run we see which results it uses.
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
    inside = [event for interval in timed_events(result["log"]) or () for event in interval]
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
        "verdict": "Go through the calls of this benchmark on this machine one by one: which of them lies between two "
        "readings of the clock, with which data, and who looks at its result?"
    },
    hints=(
        "For each of the five: which call is the first one, and is it timed? If so: does its time get into the result?",
        "Look for three more things: a result that nobody looks at, data that comes twice, a number of timed calls "
        "that is one.",
        "Let the first call take 30 s, and write the list `times` of each benchmark. In which of them does an extreme "
        "value not matter?",
    ),
)
