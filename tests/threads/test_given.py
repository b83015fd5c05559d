"""Programs played step by step: what a schedule comes to, what is impossible, and the furthest of all."""

import itertools

import pytest

from cpulab.explore import Program

pytestmark = pytest.mark.quick

COUNT = """
    value = 0

    def add(times):
        global value
        for k in range(times):
            seen = value
            value = seen + 1
"""
LOCKS = """
    red, blue = Lock(), Lock()

    def forward():
        with red:
            with blue:
                pass

    def backward():
        with blue:
            with red:
                pass
"""


def counters(a, b):
    return Program(COUNT, A=("add", a), B=("add", b))


def by_hand(word, times):
    """The counter after a complete word, computed without threads."""
    value, seen, made = 0, {}, {"A": 0, "B": 0}
    for name in word:
        if made[name] % 2 == 0:
            seen[name] = value
        else:
            value = seen[name] + 1
        made[name] += 1
    assert made == {"A": 2 * times, "B": 2 * times}
    return value


def words(times):
    for places in itertools.combinations(range(4 * times), 2 * times):
        yield "".join("A" if k in places else "B" for k in range(4 * times))


def test_every_word_comes_to_what_is_computed_by_hand():
    program, ends = counters(2, 2), set()
    for word in words(2):
        played = program.play(word)
        assert (played.ending, "".join(played.steps), played.given) == ("ended", word, 8)
        assert played.state == {"value": by_hand(word, 2)}, word
        ends.add(played.state["value"])
    assert -program.furthest(lambda played: -played.state["value"])[0] == min(ends) == 2
    assert program.furthest(lambda played: played.state["value"])[0] == max(ends) == 4


@pytest.mark.parametrize("times", [2, 3])
def test_the_furthest_is_that_of_all_words_and_can_be_played(times):
    program = counters(times, times)
    best, steps, count, complete = program.furthest(lambda played: -played.state["value"])
    assert -best == min(by_hand(word, times) for word in words(times))
    assert complete
    assert count < len(list(words(times))) / 2  # states that were seen are not played again
    assert program.play(steps).state["value"] == -best


def test_the_same_steps_come_to_the_same_and_the_table_has_a_row_for_each():
    program = counters(2, 2)
    one, two = program.play("ABBA"), program.play(list("ABBA"))
    assert one == two
    assert one.table.rows == two.table.rows
    assert [row[:2] for row in one.table.rows] == list(enumerate(one.steps, 1))
    assert one.table.rows[1][2:] == (6, "seen = value", "reads value: 0")
    assert one.table.rows[2][-1] == "writes value: 1"


def test_what_is_left_open_runs_thread_by_thread():
    played = counters(2, 2).play("AB")
    assert (played.given, "".join(played.steps)) == (2, "ABBBBAAA")
    assert counters(1, 1).play("").steps == ("A", "A", "B", "B")


def test_impossible_steps_are_told_with_number_and_state():
    played = counters(1, 1).play("AAA")
    assert played.ending == "impossible"
    assert played.refused == "step 3 is A, but A has ended: it has 2 steps"
    assert played.steps == ("A", "A")
    played = Program(LOCKS, A=("forward",), B=("backward",)).play("ABAA")
    assert played.refused == "step 4 is A, but A waits for blue, which B holds since line 9"
    assert played.waiting == ("A",)
    with pytest.raises(ValueError, match="step 2 is 'X'; the threads are called A, B"):
        counters(1, 1).play("AX")


def test_deadlock_is_an_ending_and_says_why():
    program = Program(LOCKS, A=("forward",), B=("backward",))
    played = program.play("ABAB")
    assert (played.ending, played.waiting, played.given) == ("deadlock", ("A", "B"), 4)
    assert dict(played.why)["A"].startswith("waits for blue, which B holds since line 9")
    assert program.furthest(lambda played: len(played.waiting))[0] == 2
    same_order = Program(LOCKS, A=("forward",), B=("forward",))
    assert same_order.furthest(lambda played: len(played.waiting))[0] == 0


def test_a_broken_invariant_and_starving_are_counted_by_the_program():
    seen = Program(
        """
        left, right, broken = 5, 5, 0

        def move():
            global left, right
            left = 4
            right = 6

        def look():
            global broken
            if left + right != 10:
                broken = 1
        """,
        A=("move",),
        B=("look",),
    )
    assert seen.furthest(lambda played: played.state["broken"])[0] == 1
    starving = Program(
        """
        rounds, done = 0, False

        def eager(times):
            global rounds
            for k in range(times):
                if not done:
                    rounds = rounds + 1

        def patient():
            global done
            done = True
        """,
        A=("eager", 3),
        B=("patient",),
    )
    best, steps, *_ = starving.furthest(lambda played: played.state["rounds"])
    assert best == 3
    assert starving.play(steps).state["rounds"] == 3


def test_a_program_that_fails_or_does_not_end_is_told():
    failing = Program(
        "value = 0\ndef divide():\n    global value\n    value = 1 // value", A=("divide",), B=("divide",)
    )
    assert failing.play("A").ending == "failed"
    with pytest.raises(RuntimeError, match="the program came to failed"):
        failing.furthest(lambda played: 0)
    endless = Program("go = True\ndef run():\n    global go\n    while go:\n        go = True", A=("run",), B=("run",))
    assert endless.play("AB").ending == "too-long"


def test_a_search_that_is_cut_short_says_so():
    *_, count, complete = counters(3, 3).furthest(lambda played: 0, most_runs=10)
    assert (count, complete) == (10, False)
