"""Answers that look alike: found after renaming, moving and padding; not where the hand-out or the class is the
reason."""

import itertools
import random
import re
from pathlib import Path

import pytest

from coursework.grading.extras import flags, similarity

pytestmark = pytest.mark.quick

OWN = """
from numba import njit, prange

@njit(parallel=True)
def histogram(values, bins):
    workers = 4
    partial = np.zeros((workers, bins), np.int64)
    step = (len(values) + workers - 1) // workers
    for worker in prange(workers):
        begin, end = worker * step, min(len(values), (worker + 1) * step)
        for place in range(begin, end):
            slot = int(values[place] * bins)
            if slot == bins:
                slot -= 1
            partial[worker, slot] += 1
    total = np.zeros(bins, np.int64)
    for worker in range(workers):
        total += partial[worker]
    return total
"""
OTHER = """
@njit(parallel=True)
def histogram(values, bins):
    n = values.shape[0]
    rows = np.zeros((8, bins), dtype=np.int64)
    for t in prange(8):
        i = t
        while i < n:
            where = min(bins - 1, int(np.floor(bins * values[i])))
            rows[t][where] = rows[t][where] + 1
            i += 8
    return rows.sum(axis=0)
"""
NAMES = (
    "values",
    "bins",
    "workers",
    "partial",
    "step",
    "worker",
    "begin",
    "end",
    "place",
    "slot",
    "total",
    "histogram",
)


def renamed(source, seed=1):
    """Every name another one, with a comment and blank lines in between."""
    rng = random.Random(seed)
    for name in NAMES:
        source = re.sub(rf"\b{name}\b", f"{name[0]}{rng.randrange(10**6)}", source)
    return source.replace("\n    ", "\n\n    # see below\n    ", 2)


def alike(answers, given=()):
    return similarity.pairs({student: {"c": source} for student, source in answers.items()}, {"c": given})


def test_renamed_commented_and_annotated_copies_are_the_same():
    assert similarity.same_code(OWN, renamed(OWN))
    assert similarity.same_code("def f(x: int) -> int:\n    'why'\n    return x + 1.0", "def g(y):\n    return y + 2")
    assert not similarity.same_code(OWN, OTHER)
    assert not similarity.same_code("def", "def")  # no Python says nothing
    assert similarity.nodes("%timeit f()\nx = 1") == similarity.nodes("\nx = 1")


def test_a_disguised_copy_is_a_pair_and_an_answer_of_ones_own_is_not():
    padded = renamed(OWN) + "\n\ndef unused(q):\n    return [q, q, q]\n"
    moved = "def helper(a):\n    b = a\n    return b\n" + renamed(OWN, 2)
    (pair,) = alike({"anna": OWN, "ben": padded, "carla": OTHER})
    assert (pair.first, pair.second) == ("anna", "ben")
    assert pair.share == 1.0
    (pair,) = alike({"anna": OWN, "dora": moved, "carla": OTHER})
    assert pair.share > 0.8
    mine, theirs = pair.lines["c"]
    assert {8, 9, 10} <= mine  # the loops are marked ...
    assert not theirs & {1, 2}  # ... and the helper, which only one has, is not


@pytest.mark.parametrize("statement", ["partial[worker, slot] += 1", "slot -= 1", "total += partial[worker]"])
def test_one_statement_written_anew_does_not_hide_a_copy(statement):
    name, sign, value = re.fullmatch(r"(.+) ([+-])= (.+)", statement).groups()
    anew = renamed(OWN.replace(statement, f"{name} = {name} {sign} {value}"))
    (pair,) = alike({"anna": OWN, "ben": anew})
    assert pair.share >= 0.6


def test_what_all_were_given_is_no_evidence():
    assert alike({"anna": OWN, "ben": renamed(OWN)}, given=(OWN,)) == []
    assert alike({"anna": OWN, "ben": renamed(OWN)}, given=(OTHER,)) != []


SHORT = (
    "def launch(n):\n    threads = min(1024, 32 * ((n + 31) // 32))\n    return (n + threads - 1) // threads, threads\n"
)


def of_ones_own(number):
    """An answer that nobody else has."""
    rng = random.Random(number)
    lines = [
        f"    x{k} = n{rng.choice('+-*/%')}{rng.choice(['a', 'b(n)', '-c', 'd[n]', '(e, n)[0]'])}" for k in range(20)
    ]
    return "def f(n, a, b, c, d, e):\n" + "\n".join(lines) + "\n    return x19\n"


@pytest.mark.parametrize("size", [5, 10, 20, 60])
@pytest.mark.parametrize("ring", [3, 5])
def test_a_ring_is_found_in_a_class_of_any_size(size, ring):
    copies = {f"copy{i}": renamed(OWN, i) for i in range(ring)}
    others = {f"student{i:02d}": of_ones_own(i) for i in range(size - ring)}
    found = alike(copies | others)
    assert {(p.first, p.second) for p in found} == set(itertools.combinations(sorted(copies), 2))
    assert similarity.rings(found) == [tuple(sorted(copies))]


@pytest.mark.parametrize("size", [5, 10, 20, 60])
def test_a_short_natural_answer_is_no_evidence_in_a_class_of_any_size(size):
    assert alike({f"student{i:02d}": SHORT.replace("threads", f"t{i}") for i in range(size)}) == []
    mixed = {f"student{i:02d}": SHORT + of_ones_own(i) for i in range(size)}
    assert alike(mixed) == []


def test_what_a_quarter_of_a_large_class_wrote_is_the_natural_form():
    crowd = {f"student{i:02d}": renamed(OWN, i) for i in range(30)}
    assert alike(crowd) == []
    assert similarity.rings(alike(dict(list(crowd.items())[:4]))) == [
        ("student00", "student01", "student02", "student03")
    ]


def test_a_ring_is_one_flag():
    like = {f"student{i:02d}": {"07-add"} for i in range(12)}
    (said,) = flags._looks_like(like)
    assert said.startswith("looks like 12 others: student00, student01")
    assert said.endswith("and 4 more (07-add)")
    assert flags._looks_like({"ben": {"07-add", "07-axpy"}}) == ["looks like ben (07-add, 07-axpy)"]


def test_short_answers_say_nothing():
    short = "def f(x):\n    return (x + 255) // 256, 256"
    assert alike({"anna": short, "ben": short}) == []


def test_strange_sources_end():
    for source in ("a[" * 10_000, "1" + "+1" * 5000, "\x00", "def", "x = " + "(" * 90, "é = 1\ud800", "elif " * 400):
        assert isinstance(similarity.nodes(source), list)
    long = "\n".join(f"x{i} = y{i} * {i}" for i in range(2000))
    assert len(similarity.nodes(long)) == similarity.MOST_NODES
    chain = "def f(x):\n    if x == 0:\n        return 0\n" + "".join(
        f"    elif x == {i}:\n        return {i}\n" for i in range(1, 600)
    )
    assert len(similarity.nodes(chain)) > 100


def test_winnowing_keeps_every_stretch_that_is_long_enough():
    """The guarantee of the method: a common run of K + W - 1 nodes shares a piece, wherever it stands."""
    rng = random.Random(7)
    words = [f"v{rng.randrange(5)} = w{rng.randrange(5)} {rng.choice('+-*/')} u{rng.randrange(9)}" for _ in range(60)]
    common = words[20:32]
    for _ in range(40):
        before = [f"print(a{rng.randrange(99)}, {rng.choice(['x', 'y'])})" for _ in range(rng.randrange(12))]
        other = "\n".join(before + common + before)
        assert similarity.pieces("\n".join(words)).keys() & similarity.pieces(other).keys()


def test_the_instructors_page_says_what_the_numbers_here_are():
    page = (Path(__file__).parents[2] / "chapters" / "instructors.md").read_text(encoding="utf-8")
    words = {10: "ten", 0.6: "six tenths"}
    assert f"{words[similarity.LEAST]} pieces or more, and {words[similarity.SHARE]} of what" in " ".join(page.split())
