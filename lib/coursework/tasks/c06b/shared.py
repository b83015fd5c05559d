"""What several of the eight kernels of chapter 06b use: the kinds of faults, and what the x-ray says of them."""

from ...definition import Case, Section, random_values, unwritten
from ...kinds.detective import Fault
from ...kinds.kernel import WRONG_ACCESS
from ..c06.shared import THREADS, blocks_of

FAULTS = (
    Fault("right", "gives what the specification says, for every input and launch that the task allows"),
    Fault(
        "race",
        "two threads use one place of memory, one of them stores, and nothing orders the two",
        ("race", "atomic-against-plain"),
    ),
    Fault(
        "stuck",
        "threads wait at a barrier for others of their block that never come",
        ("divergent-barrier", "barrier-after-exit"),
    ),
    Fault("unset", "a place of shared memory is read that nobody has stored", ("uninitialised-shared",)),
    Fault("outside", "an index lies outside of its array", WRONG_ACCESS),
    Fault(
        "lanes",
        "a lane takes a value from a lane of its warp that takes no part",
        ("inactive-lane-read", "lane-not-in-mask", "divergent-warp-operation"),
    ),
    Fault("wrong number", "no two threads meet, and still a number is wrong", ("wrong-value", "suspect", "precision")),
)
TOGETHER, SHUFFLES = (
    Section("6.3", "06_together", heading) for heading in ("Barriers and races", "Rung 4: shuffles in a warp")
)

_GONE = (
    "Some threads of a block wait at a barrier that others never reach. Which threads go another way, and where does "
    "their way part from that of the others?"
)

# What the x-ray has seen, and a question; what to do about it is the task.
SEEN = {
    "race": "Two threads use one place, and one of them stores. Which line is each of them in, and what would have to "
    "lie between the two?",
    "atomic-against-plain": "One thread changes a place with an atomic operation, another one uses it without, and "
    "nothing says who comes first.",
    "uninitialised-shared": "Shared memory holds anything at first. Which thread should have stored this place, in "
    "this launch?",
    "divergent-barrier": _GONE,
    "barrier-after-exit": _GONE,
    "out-of-bounds": "An index left its array. Which thread is it, and what is there for it to do?",
    "none-beyond": "An index left its array, and every thread has an element here. How large is the index at most, and "
    "how large is the array?",
    "negative-index": "An index fell below 0. Which thread is it, and what is there for it to do?",
    "inactive-lane-read": "A lane asks another one for its value, and that one is not there. Which lanes come to this "
    "line, in this launch?",
    "lane-not-in-mask": "The mask names the lanes that come to this line. Which ones do come, in this launch?",
    "divergent-warp-operation": "The mask names the lanes that come to this line. Which ones do come, in this launch?",
}


def launch(name, n, threads, what="n"):
    """The name of a case, its blocks and its threads: as many blocks as n elements need."""
    blocks, where = blocks_of(n, threads)
    return f"{name}: {what} = {n} in {where}", blocks, threads


def smooth_case(name, n):
    """x and out (n,), blocks of 64."""
    said, blocks, threads = launch(name, n, THREADS)
    return Case(said, lambda rng: (random_values(rng, n), unwritten(n)), blocks, threads)
