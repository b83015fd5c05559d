"""The question to z3: is there a launch, and two threads of it, that meet?

Two threads of one block share what is the same for the block; two of different blocks share what is the same for the grid. All
else gets a second name for the second thread (the two-thread reduction of GPUVerify).
"""

import z3

from .arithmetic import Pair, shared_factor
from .values import BLOCK, THREAD, YES
from .walk import conflict

EFFORT = 3_000_000  # z3's own units, the same on every machine; some seconds


class Query:
    """Two threads of one block (apart: of two blocks), and all that is known of them. inside: whether indices are known to lie
    in their arrays.
    """

    def __init__(self, walk, place, apart):
        self.walk, self.place, self.apart = walk, place, apart
        arithmetic = place.arithmetic
        least = BLOCK if apart else THREAD
        self.renamed = [(s, z3.Const(f"{s}'", s.sort())) for s, level in arithmetic.symbols if level >= least]
        self.least = least
        self.solver = z3.Solver()
        self.solver.set("rlimit", EFFORT)
        self.solver.add(*place.limits())
        for term, level in (*arithmetic.facts, *self._bounds()):
            self.solver.add(term)
            if level >= least:
                self.solver.add(self.other(term))
        self.solver.add(*self._products())
        places = place.here if apart else place.thread
        self.solver.add(z3.Or([p.term != self.other(p.term) for p in places]))

    def _bounds(self):
        """No index lies outside its array: another fault, that is not looked for here."""
        return [(z3.Implies(live, bound) if live is not True else bound, level) for live, bound, level in self.walk.inside]

    def _products(self):
        pairs = list(self.place.arithmetic.pairs)
        pairs += [
            Pair(self.other(p.one), self.other(p.other), self.other(p.result), p.level, p.exclusive)
            for p in pairs
            if p.level >= self.least
        ]
        groups = {}
        for p in pairs:
            for factor in ("^",) if p.exclusive else (p.one.get_id(), p.other.get_id()):
                groups.setdefault(factor, []).append(p)
        seen = set()
        for group in groups.values():
            for k, p in enumerate(group):
                for q in group[k + 1 :]:
                    if (id(p), id(q)) not in seen:
                        seen.add((id(p), id(q)))
                        yield from shared_factor(p, q)

    def other(self, term):
        """A term as the second thread has it."""
        return term if isinstance(term, int | bool) else z3.substitute(term, *self.renamed)

    def meet(self, a, b, flag):
        """The condition that the first thread does `a` where the second does `b`."""
        parts = [a.live.term, flag.term, self.other(b.live.term)]
        parts += [x == self.other(y) for x, y in zip(a.index, b.index, strict=True)]
        return [part for part in parts if part is not True]

    def differ(self, live, condition):
        """The condition that two threads, both where `live` holds, do not agree."""
        parts = [live.term, self.other(live.term), condition.term, z3.Not(self.other(condition.term))]
        return [part for part in parts if part is not True]

    def exactly(self):
        """Products and quotients as z3 multiplies: of use where all of them are small."""
        pairs = [p for p in self.place.arithmetic.pairs if not p.exclusive]
        exact = [p.result == p.one * p.other for p in pairs]
        return [*exact, *(self.other(e) for e, p in zip(exact, pairs, strict=True) if p.level >= self.least)]

    def ask(self, parts, more=()):
        """A model where all parts hold, None where there is none, "undecided" where z3 does not find out."""
        if any(part is False for part in parts):
            return None
        self.solver.push()
        try:
            self.solver.add(*parts, *more)
            answer = self.solver.check()
            if answer == z3.unsat:
                return None
            return self.solver.model() if answer == z3.sat else "undecided"
        finally:
            self.solver.pop()


def candidates(walk, place):
    """(Query, parts, what: (Access, Access) or a site) for everything that may go wrong; none where nothing can.

    A question that z3 cannot answer is one, too: with "undecided" as its model.
    """
    near = Query(walk, place, apart=False)
    for live, condition, site in walk.meetings:
        parts = near.differ(live, condition)
        model = near.ask(parts)
        if model is not None:
            yield near, parts, site, model
    for a, b, flag in _each(walk.pairs):
        parts = near.meet(a, b, flag)
        model = near.ask(parts)
        if model is not None:
            yield near, parts, (a, b), model
    everywhere = [access for access in walk.everywhere if access.array.space == "global"]
    pairs = [
        (a, b)
        for k, a in enumerate(everywhere)
        for b in everywhere[k:]
        if a.array is b.array and conflict(a, b)
    ]
    if not pairs:
        return
    far = Query(walk, place, apart=True)
    for a, b in pairs:
        parts = far.meet(a, b, YES)
        model = far.ask(parts)
        if model is not None:
            yield far, parts, (a, b), model


def _each(pairs):
    """Pairs without those that are there already, under the same condition."""
    seen = set()
    for a, b, flag in pairs:
        key = id(a), id(b), id(flag)
        if key not in seen:
            seen.add(key)
            yield a, b, flag

