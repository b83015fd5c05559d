"""04-ahead, the second part of 04-lanes: Who can ask before the data is needed?"""

import inspect
from dataclasses import dataclass

import numpy as np

from ...checking import arguments_of, headline
from ...definition import Case, Section, Task
from ...kinds.detective import DetectiveTask, Fault
from ...outcome import Failed, Failure
from .shared import LINE

LINES_OF_PAGE = 4096 // LINE


def use(record):
    """Works on a record, and returns the number of another one, which stands in it."""
    return record


def ahead_a(rows, chosen, n):
    for k in range(n):
        use(rows[chosen[k]])


def ahead_b(mixed, n):
    i = 0
    for _ in range(n):
        i = use(mixed[i])


def ahead_c(rows, n):
    for i in range(n):
        use(rows[128 * i])


def ahead_d(rows, chosen, n):
    for k in range(n // 32):
        for j in range(32):
            use(rows[32 * chosen[k] + j])


def ahead_e(rows, n):
    i = 1
    for _ in range(n):
        i = (5 * i + 3) % 65536
        use(rows[i])


def ahead_f(neat, n):
    i = 0
    for _ in range(n):
        i = use(neat[i])


class Word(int):
    """A number that came out of memory, or was computed from such ones. `waits`: loads that had to end, one after the
    other, before it was there."""

    def __new__(cls, value, waits=0):
        word = super().__new__(cls, value)
        word.waits = waits
        return word

    def _with(self, other, value):
        return Word(value, max(self.waits, getattr(other, "waits", 0)))

    def __add__(self, other):
        return self._with(other, int(self) + int(other))

    def __mul__(self, other):
        return self._with(other, int(self) * int(other))

    __radd__, __rmul__ = __add__, __mul__


class Records:
    """An array of records, a line each. `asked`: [(line, loads that had to end before its number was known), ...]."""

    def __init__(self, content, asked):
        self.content, self.asked = content, asked

    def __getitem__(self, i):
        waits = getattr(i, "waits", 0)
        self.asked.append((int(i), waits))
        return Word(self.content(int(i)), waits + 1)


def followed(lines, pages=16, ahead=4):
    """The share of the lines that a model of the hardware's prefetcher fetches before they are asked for. It knows the
    `pages` used last; after the same step twice in a page it fetches the next `ahead` lines with that step, in the
    page."""
    known, there, hits = {}, set(), 0
    for line in lines:
        hits += line in there
        page = line // LINES_OF_PAGE
        last, step = known.pop(page, (None, None))
        now = None if last is None else line - last
        if now and now == step:
            there |= {target for k in range(1, ahead + 1) if (target := line + k * now) // LINES_OF_PAGE == page}
        known[page] = line, now
        if len(known) > pages:
            del known[next(iter(known))]
    return hits / len(lines)


@dataclass(frozen=True, kw_only=True)
class AheadTask(Task):
    """Not whether a loop is right, but who can know its addresses early: the model of the hardware, or the program."""

    cases: tuple

    def failures(self):
        return (*super().failures(), "hardware", "prefetch")

    def examine(self, answer, cases, seed):
        (case,) = cases
        things, asked = arguments_of(case, seed, 0)
        program = answer.function
        program(**{name: things[name] for name in inspect.signature(program).parameters})
        lines, waits = zip(*asked, strict=True)
        first_lines, pages = (
            ", ".join(map(str, numbers)) for numbers in (lines[:6], [line // LINES_OF_PAGE for line in lines[:6]])
        )
        facts = (("it said", f"the first lines asked for are {first_lines}; their pages are {pages}"),)
        if followed(lines) > 0.5:
            raise Failed(Failure("hardware", headline(case), facts))
        if max(waits) < 0.5 * len(lines):
            raise Failed(Failure("prefetch", headline(case), facts))
        return (), ""


def records_arguments(n, many=1 << 16):
    """make(rng) -> ({name: what a loop can be called with}, what it asked for)."""

    def make(rng):
        asked, ring = [], rng.permutation(many)
        after = np.empty(many, int)
        after[ring] = np.roll(ring, -1)
        chosen = [Word(line, 1) for line in rng.permutation(many)[:n]]
        contents = {"rows": lambda i: 0, "mixed": lambda i: after[i], "neat": lambda i: i + 1}
        arrays = {name: Records(content, asked) for name, content in contents.items()}
        return arrays | {"chosen": chosen, "n": n}, asked

    return make


AHEAD = DetectiveTask(
    id="04-ahead",
    section=Section("4.2", "04_vectors", "Prefetch: ask before you need it"),
    title="Who can ask before the data is needed?",
    objective="Say of a loop whether the hardware's prefetcher follows it, a prefetch of yours helps, or neither can",
    after="04-lanes",
    points=2,
    minutes=8,
    run="loop",
    judge=AheadTask(
        id="04-ahead-judge",
        title="Who asks ahead",
        objective="Judge a loop",
        points=0,
        minutes=0,
        cases=(Case("n = 1024", records_arguments(1024)),),
        hints=("", "", ""),
    ),
    nothing="n = 1024: each number comes out of the record before, and the hardware cannot guess it.",
    programs={"A": ahead_a, "B": ahead_b, "C": ahead_c, "D": ahead_d, "E": ahead_e, "F": ahead_f},
    faults=(
        Fault(
            "hardware", "the hardware's prefetcher follows: most lines come before they are asked for", ("hardware",)
        ),
        Fault("prefetch", "it does not, but the program can know each address some rounds before", ("prefetch",)),
        Fault("nobody", "neither: no address is known until the load before it has ended"),
    ),
    advice={
        "verdict": "Write down the first six lines that are asked for, and the page of each: the hardware sees no more "
        "than that. Then look at the code: what must be there before the number of the next record is known?"
    },
    hints=(
        "For each loop: does it come back to the same page, with the same step? And could you write down the tenth "
        "address before any record has been read?",
        "The hardware looks at addresses, not at code: how they were found is all the same to it. A step from page to "
        "page teaches it nothing, however regular it is. The program knows what stands in a list of its own, and what "
        "it computes from numbers that it has.",
        "Two loops look alike and differ in where their records lie. One jumps about and needs no memory at all to "
        "know where to. One begins anew at places that nobody can guess, but stays there for half a page.",
    ),
)
