"""The question to z3: is there a launch, and two threads of it, that meet?

Two threads of one block share what is the same for the block; two of different blocks share what is the same for the
grid. All else gets a second name for the second thread (the two-thread reduction of GPUVerify).
"""

import z3

from .arithmetic import Pair, shared_factor
from .values import BLOCK, THREAD, YES
from .walk import conflict

EFFORT = 600_000  # z3's own units, the same on every machine; some seconds


class Query:
    """Two threads of one block (apart: of two blocks), and all that is known of them. conditions: of the launch."""

    def __init__(self, walk, any_launch, apart, conditions=()):
        self.walk, self.any_launch, self.apart = walk, any_launch, apart
        self.least = BLOCK if apart else THREAD
        self.renamed = [
            (s, z3.Const(f"{s}'", s.sort())) for s, level in any_launch.arithmetic.symbols if level >= self.least
        ]
        places = any_launch.block_index if apart else any_launch.thread
        different = z3.Or([p.term != self.other(p.term) for p in places])
        self.always = [different, *any_launch.limits(), *conditions]
        self.facts = self._twice(any_launch.arithmetic.facts)
        self.expanded = [*self.facts, *self._twice(any_launch.arithmetic.expansions)]
        self.bounds = [term for term, _ in self._twice((t, level, ()) for t, level in self._inside())]
        self.pairs = list(any_launch.arithmetic.pairs)
        self.pairs += [
            Pair(self.other(p.a), self.other(p.b), self.other(p.result), p.level, p.exclusive)
            for p in any_launch.arithmetic.pairs
            if p.level >= self.least
        ]
        self.names = {}  # of the symbols of a term

    def _twice(self, facts):
        """[(term, ids of the symbols that it is about)] for both threads."""
        found = []
        for term, level, of in facts:
            found.append((term, frozenset(s.get_id() for s in of)))
            if level >= self.least:
                found.append((self.other(term), frozenset(self.other(s).get_id() for s in of)))
        return found

    def _inside(self):
        """No index lies outside its array, no divisor is 0: other faults, that are not looked for here."""
        return [
            (z3.Implies(live, bound) if live is not True else bound, level) for live, bound, level in self.walk.inside
        ]

    def known(self, parts, facts):
        """What of some facts is about the symbols in some terms, and about those in that."""
        asked, taken, found = set(), set(), []
        new = list(parts)
        while new:
            for term in new:
                asked |= self._symbols(term)
            new = []
            for number, (term, of) in enumerate(facts):
                if number not in taken and of & asked:
                    taken.add(number)
                    new.append(term)
            found += new
        pairs = [p for p in self.pairs if p.result.get_id() in asked]
        for k, p in enumerate(pairs):
            for q in pairs[k + 1 :]:
                found += shared_factor(p, q)
        return found

    def _symbols(self, term):
        """Ids of the symbols in a term."""
        if term.get_id() not in self.names:
            found, seen, left = set(), set(), [term]
            while left:
                part = left.pop()
                if part.get_id() in seen:
                    continue
                seen.add(part.get_id())
                if z3.is_const(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                    found.add(part.get_id())
                left += part.children()
            self.names[term.get_id()] = term, found  # the term too: an id is given again when its term is gone
        return self.names[term.get_id()][1]

    def other(self, term):
        """A term as the second thread has it."""
        return term if isinstance(term, int | bool) else z3.substitute(term, *self.renamed)

    def meet(self, a, b, flag):
        """The condition that the first thread does `a` where the second does `b`."""
        parts = [a.live.term, flag.term, self.other(b.live.term)]
        parts += [x == self.other(y) for x, y in zip(a.index, b.index, strict=True)]
        for x, size in zip(a.index, a.array.shape, strict=True):
            parts += [x >= 0, x < size.term]
        return [part for part in parts if part is not True]

    def differ(self, live, condition):
        """The condition that two threads, both where `live` holds, do not agree."""
        parts = [live.term, self.other(live.term), condition.term, z3.Not(self.other(condition.term))]
        return [part for part in parts if part is not True]

    def exactly(self):
        """Products and quotients as z3 multiplies: of use where all of them are small."""
        pairs = [p for p in self.any_launch.arithmetic.pairs if not p.exclusive]
        exact = [p.result == p.a * p.b for p in pairs]
        return [*exact, *(self.other(e) for e, p in zip(exact, pairs, strict=True) if p.level >= self.least)]

    def ask(self, parts, more=(), effort=EFFORT):
        """A model where all parts hold, None where there is none, "undecided" where z3 does not find out.

        z3 is told more only where it finds no contradiction without: what products of sums are, multiplied out, and
        that indices lie in their arrays.
        """
        if any(part is False for part in parts):
            return None
        stages = (self.facts, []), (self.expanded, []), (self.expanded, self.bounds)
        for facts, bounds in stages if not more else stages[2:]:
            terms = [*self.always, *parts, *more, *bounds]
            solver = z3.Solver()
            solver.set("rlimit", effort)
            solver.add(*terms, *self.known(terms, facts))
            answer = solver.check()
            if answer == z3.unsat:
                return None
        return solver.model() if answer == z3.sat else "undecided"


def candidates(walk, any_launch, conditions=()):
    """(Query, parts, what: (Access, Access) or a site) for everything that may go wrong; none where nothing can.

    A question that z3 cannot answer is one, too: with "undecided" as its model.
    """
    near = Query(walk, any_launch, False, conditions)
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
    pairs = [(a, b) for k, a in enumerate(everywhere) for b in everywhere[k:] if a.array is b.array and conflict(a, b)]
    if not pairs:
        return
    far = Query(walk, any_launch, True, conditions)
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
