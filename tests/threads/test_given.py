"""Programs played step by step: what a schedule comes to, what is impossible, and the furthest of all."""

import itertools
import random

import pytest

from cpulab.explore import Program, rounds

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


# rounds --------------------------------------------------------------------------------------------------------------

POLITE = """
    first = second = False
    inside = 0

    def one():
        global first, inside
        first = True
        while True:
            if not second:
                break
            first = False
            first = True
        inside = 1
        first = False

    def two():
        global second, inside
        while True:
            second = True
            while True:
                if not first:
                    break
                second = False
                second = True
            inside = 2
            inside = 0
            second = False
"""


def polite():
    return Program(POLITE, A=("one",), B=("two",))


def by_hand_polite(word):
    """(program counters, variables) before each step of a word and after the last, without threads; None once A has
    ended."""
    first = second = False
    inside, a, b, states = 0, 0, 0, []
    for name in (*word, None):
        states.append((a, b, first, second, inside))
        if name == "A":
            if a == 0:
                first, a = True, 1
            elif a == 1:
                a = 2 if second else 4
            elif a in (2, 3):
                first, a = a == 3, 3 if a == 2 else 1
            elif a == 4:
                inside, a = 1, 5
            elif a == 5:
                first, a = False, 6
        elif name == "B":
            if b == 0:
                second, b = True, 1
            elif b == 1:
                b = 2 if first else 4
            elif b in (2, 3):
                second, b = b == 3, 3 if b == 2 else 1
            elif b in (4, 5):
                inside, b = 2 if b == 4 else 0, b + 1
            elif b == 6:
                second, b = False, 0
    return states


@pytest.mark.parametrize(
    "word", ["ABABABAB", "BAAABBBBBAAA", "BBBBBB", "BAAAA", "BAAABBBB", "ABBABABBABABAB", "A", "BABBBAABA"]
)
def test_rounds_are_those_that_a_count_by_hand_gives(word):
    played, states = polite().play(word, to_the_end=False), by_hand_polite(word)
    assert (played.ending, "".join(played.steps)) == ("stopped", word)
    longest = {state: (states.index(state) + 1, k) for k, state in enumerate(states) if states.index(state) < k}
    assert sorted((r.first, r.last) for r in played.rounds) == sorted(longest.values())
    for r in played.rounds:
        assert r.threads == set(word[r.first - 1 : r.last])
        assert [state["inside"] for state in r.states] == [state[-1] for state in states[r.first - 1 : r.last]]
    assert bool(played.nearest) == (not played.rounds)


def starving(r):
    return len(r.threads) + 2 * (len({state["inside"] for state in r.states}) > 1)


def test_the_furthest_round_is_the_best_of_all_and_can_be_played():
    program, reached = polite(), set()
    best, steps, states, complete = program.furthest_round(starving)
    assert (best, complete) == (4, True)
    assert max(starving(r) for r in program.play(steps, to_the_end=False).rounds) == 4
    assert program.furthest_round(lambda r: len(r.threads))[0] == 2
    for word in map("".join, itertools.product("AB", repeat=10)):  # all states within ten steps
        reached |= {state for state in by_hand_polite(word) if state[0] != 6}
    assert states >= len(reached)
    assert program.furthest_round(starving, most_runs=3)[-1] is False


def test_a_program_that_ends_has_no_round_and_one_that_is_fair_starves_nobody():
    assert counters(2, 2).furthest_round(len)[:2] == (None, ())
    fair = """
        turn = "A"

        def one():
            global turn
            while turn != "A":
                pass
            turn = "B"

        def two():
            global turn
            while True:
                if turn == "B":
                    turn = "A"
    """
    assert Program(fair, A=("one",), B=("two",)).furthest_round(lambda r: len(r.threads))[0] == 1


def reachable(follows, start):
    found, waiting = {start}, [start]
    while waiting:
        for other in follows[waiting.pop()].values():
            if other not in found:
                found.add(other)
                waiting.append(other)
    return {state: follows[state] for state in found}


def best_of_all_walks(follows, score):
    """Walks from each state back to it, told apart by what they have collected."""
    best = None
    for home in follows:
        seen = {(home, frozenset(), frozenset())}
        open_walks = list(seen)
        while open_walks:
            at, names, places = open_walks.pop()
            for name, other in follows[at].items():
                now = (other, names | {name}, places | {at})
                if other == home:
                    reached = score(rounds.Round(now[1], tuple(state.values for state in now[2])))
                    best = reached if best is None else max(best, reached)
                if now not in seen:
                    seen.add(now)
                    open_walks.append(now)
    return best


def test_the_best_round_is_that_of_all_walks():
    numbers, with_rounds = random.Random(1), 0

    def score(r):
        return len(r.threads), len({state["n"] for state in r.states})

    for _ in range(60):
        states = [rounds.State((("n", str(n)),), (), {"n": n}, ()) for n in range(numbers.randrange(1, 6))]
        follows = {s: {name: numbers.choice(states) for name in "AB" if numbers.random() < 0.6} for s in states}
        follows = reachable(follows, states[0])
        most, steps = rounds.best(follows, states[0], score)
        assert most == best_of_all_walks(follows, score)
        if most is not None:
            with_rounds += 1
            way = [states[0]]
            for name in steps:
                way.append(follows[way[-1]][name])
            assert max(score(r) for r in rounds.of_steps(steps, way)) == most
    assert 20 < with_rounds < 60


# a barrier -----------------------------------------------------------------------------------------------------------

TWO_TILES = """
    tile, read = [0, 0], [0, 0]

    def warp(w):
        for k in (1, 10):
            tile[w] = k
            syncthreads()
            other = tile[1 - w]
            read[w] = read[w] + other
"""


def warps():
    return Program(TWO_TILES, A=("warp", 0), B=("warp", 1))


def test_a_barrier_lets_nobody_through_before_all_have_come():
    assert warps().play("AA").state["read"] == [20, 11]  # A reads B's second number twice
    assert warps().play("ABABABABABAB").state["read"] == [11, 11]
    played = warps().play("AABA")
    assert played.refused == "step 4 is A, but A waits at the barrier"
    assert played.waiting == ("A",)


def test_to_come_to_a_barrier_is_a_step_and_to_go_on_is_none():
    played = warps().play("ABABBA")
    assert played.table.rows[:6] == [
        (1, "A", 5, "tile[w] = k", "writes tile[w]: 1"),
        (2, "B", 5, "tile[w] = k", "writes tile[w]: 1"),
        (3, "A", 6, "syncthreads()", "comes to the barrier (1 of 2); waits at the barrier"),
        (4, "B", 6, "syncthreads()", "comes to the barrier (2 of 2)"),
        (5, "B", 7, "other = tile[1 - w]", "reads tile[1 - w]: 1"),
        (6, "A", 7, "other = tile[1 - w]", "reads tile[1 - w]: 1"),
    ]


def test_every_order_around_a_barrier_is_found():
    best, steps, _, complete = warps().furthest(lambda played: max(played.state["read"]))
    assert (best, complete) == (20, True)
    assert max(warps().play(steps).state["read"]) == 20
    assert warps().furthest(lambda played: -min(played.state["read"]))[0] == -11  # nothing is read too early
    assert warps().furthest(lambda played: sum(played.state["read"]))[0] == 31  # and one of the two is late


def test_a_barrier_to_which_one_does_not_come_is_a_deadlock():
    one = Program(
        "hits = 0\ndef f(w):\n    global hits\n    hits = hits + 1\n    if w: syncthreads()", A=("f", 0), B=("f", 1)
    )
    played = one.play("")
    assert (played.ending, played.waiting) == ("deadlock", ("B",))
    assert dict(played.why)["why"] == "Fewer threads come to the barrier than it waits for."
