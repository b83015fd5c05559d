"""Answers to 15-faults."""

import statistics

from answers import MASTER, edit, replace


def first_by_itself(run, make_data, right, clock, repeats):
    """right"""
    now = clock["now"]
    data = make_data()
    if not right(data, run(data).result()):
        return None
    every = [make_data() for _ in range(repeats)]
    times, values = [], []
    for data in every:
        begun = now()
        values.append(run(data).result())
        times.append(now() - begun)
    return statistics.median(times) if all(map(right, every, values)) else None


compile_counts = edit(MASTER, "wrong compiles: Does its time count", replace("median(times[1:])", "mean(times)"))
same_data = edit(
    MASTER,
    "wrong warm: The data was in the cache",
    replace('now, times = clock["now"], []', 'now, times, data = clock["now"], [], make_data()'),
    replace("data = make_data()\n", "pass\n"),
)
a_clock_that_was_changed = edit(
    MASTER,
    "wrong patched: Which clock does the benchmark look at",
    replace("begun = now()", 'begun = clock["now"]()'),
    replace("times.append(now() - begun)", 'times.append(clock["now"]() - begun)'),
)
nothing_checked = edit(
    MASTER, "wrong unchecked: None: results are wrong", replace("if not right(data, value):", "if False:")
)
making_is_timed = edit(
    MASTER,
    "wrong setup: what stands between the two looks",
    replace("data = make_data()\n", "pass\n"),
    replace("value = run(data).result()", "data = make_data()\nvalue = run(data).result()\n"),
)
checking_is_timed = edit(
    MASTER,
    "wrong setup: checking or compiling is timed",
    replace("times.append(now() - begun)", "right(data, value)\ntimes.append(now() - begun)\n"),
)
refuses_all = edit(MASTER, "wrong refused: its own result", replace("right(data, value)", "right(value, data + 1)"))
no_seconds = edit(
    MASTER, "wrong type: Return seconds, or None", replace("return statistics.median(times[1:])", "return times")
)
