"""14-chunk: Which chunk goes next?"""

import operator

from ...checking import short
from ...definition import Case, Section, Slip
from ...kinds.scenario import ScenarioTask
from .shared import COLLECTIVES


def play_chunk(sends, n):
    """What each worker says that it sends in each of n - 1 steps."""
    return [[sends(rank, step, n) for rank in range(n)] for step in range(n - 1)]


def judge_chunk(arguments, result):
    (n,) = arguments
    holds = [[{rank} for _ in range(n)] for rank in range(n)]  # whose numbers are in chunk k of a worker
    for step, row in enumerate(result):
        chunks, slip = [], None
        for rank, said in enumerate(row):
            try:
                chunks.append(operator.index(said))
            except TypeError:
                return Slip("type", f"a chunk, 0 to {n - 1}", "Return the number of a chunk.", short(said))
            if not 0 <= chunks[-1] < n:
                cause = (
                    f"Chunks are numbered 0 to {n - 1}. What comes behind the last one, or before the first? `% n` "
                    "brings it back."
                )
                return Slip("range", f"a chunk, 0 to {n - 1}", cause, f"{chunks[-1]} of worker {rank} in step {step}")
        moved = [(rank, (rank + 1) % n, chunk, holds[rank][chunk]) for rank, chunk in enumerate(chunks)]
        for rank, to, chunk, brings in moved:
            if brings & holds[to][chunk] and slip is None:
                slip = _twice(n, step, rank, to, chunk, brings & holds[to][chunk])
        if slip:
            return slip
        for _, to, chunk, brings in moved:
            holds[to][chunk] = holds[to][chunk] | brings
    for rank in range(n):
        most = max(holds[rank], key=len)
        if len(most) < n:
            cause = (
                "A worker passes on the chunk that came in the step before, with its own numbers added: then a chunk "
                "meets every worker once. Which chunk came to it?"
            )
            got = f"the fullest chunk of worker {rank} has the numbers of {len(most)}"
            return Slip(
                "lacking", f"after {n - 1} steps a chunk in each worker with the numbers of all {n}", cause, got
            )
    return None


def _twice(n, step, rank, to, chunk, again):
    whose = ", ".join(map(str, sorted(again)))
    cause = (
        f"In step {step} worker {rank} sends chunk {chunk} to worker {to}, whose sum of chunk {chunk} holds the "
        f"numbers of worker {whose} already. A chunk goes round the ring in one direction: what a worker sends next is "
        "what has just come to it."
    )
    return Slip("twice", "the numbers of each worker once in each sum", cause, f"those of worker {whose} twice")


CHUNK = ScenarioTask(
    id="14-chunk",
    section=Section("14.2", COLLECTIVES, "The ring"),
    title="Which chunk goes next?",
    objective="Say which chunk a worker of a ring sends in each step, so that each chunk meets every worker once",
    points=1,
    minutes=6,
    scenario=play_chunk,
    judge=judge_chunk,
    cases=tuple(Case(f"{n} workers", lambda rng, n=n: (n,)) for n in (2, 3, 4, 8)),
    advice={"raised-ZeroDivisionError": "There are n chunks, one for each worker: n is not 0."},
    hints=(
        "Step 0: each worker sends the chunk of its own number. Which chunk comes to worker 2, and from whom?",
        "In the next step a worker sends what has come to it: the chunk that its left neighbour sent in the step "
        "before.",
        "Worker 2 sends chunk 2, then 1, then 0: one less in each step. And what is one less than 0, of n chunks?",
    ),
)
