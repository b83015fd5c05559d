"""Answers to 01-bug."""

import statistics

from answers import MASTER, cut, edit, insert, replace


def all_data_first(function, make_data, clock, repeats):
    """right"""
    pieces = [make_data() for _ in range(repeats + 1)]
    function(pieces.pop())
    times = []
    for data in pieces:
        times.append(-clock())
        function(data)
        times[-1] += clock()
    times.sort()
    half = repeats // 2
    return times[half] if repeats % 2 else (times[half - 1] + times[half]) / 2


three_to_warm_up = edit(
    MASTER, "right", replace("function(make_data())", "for _ in range(3):\n    function(make_data())")
)


warm_up_alone = edit(
    "as_given", "wrong setup-timed: before you read the clock", insert("function(make_data())", before="times = []")
)
warm_up_with_the_first_data = edit(
    MASTER,
    "wrong cached: Call make_data() for each",
    cut("function(make_data())"),
    replace("_ in", "k in"),
    insert("if k == 0:\n    function(data)", after="data = make_data()"),
)


def all_at_once(function, make_data, clock, repeats):
    """wrong count: One pair around each call"""
    function(make_data())
    pieces = [make_data() for _ in range(repeats)]
    start = clock()
    for data in pieces:
        function(data)
    return (clock() - start) / repeats


def first_time_thrown_away(function, make_data, clock, repeats):
    """wrong warm-up: Make it before you read the clock"""
    times = []
    for _ in range(repeats + 1):
        data = make_data()
        start = clock()
        function(data)
        times.append(clock() - start)
    return statistics.median(times[1:])


not_sorted = edit(
    MASTER, "wrong middle: Sort it first", replace("return statistics.median(times)", "return times[repeats // 2]")
)
upper_of_two = edit(
    MASTER,
    "wrong upper: the mean of the two in the middle",
    replace("return statistics.median(times)", "return sorted(times)[repeats // 2]"),
)


def never_called(function, make_data, clock, repeats):
    """wrong no-call: never called"""
    start = clock()
    make_data()
    return clock() - start


def one_reading(function, make_data, clock, repeats):
    """wrong clock: Two readings belong to each time"""
    function(make_data())
    data = make_data()
    function(data)
    return clock()
