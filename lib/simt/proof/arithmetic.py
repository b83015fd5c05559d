"""Integers of a kernel as linear terms of z3. A product or quotient of two variables gets a name, and facts about it.

Facts only define: whatever the other symbols are, there are values that make them true. So none rules out a launch.

For two products with one factor in common the order of the others is theirs (a > c gives a*f >= c*f + f where f >= 0):
that, instantiated for all pairs by the query, is what makes ``row * width + column`` different for different rows.
"""

from dataclasses import dataclass

import z3

from .values import GRID, Flag, Number, Unknown

MOST_BITS = 8  # of a constant in `x & constant`


@dataclass(frozen=True, eq=False)
class Pair:
    """result = a * b, or a ^ b. level: whose it is."""

    a: object
    b: object
    result: object
    level: int
    exclusive: bool = False  # ^


class Arithmetic:
    """Symbols, facts, and operations on `Number`s."""

    def __init__(self):
        self.made = 0
        self.symbols = []  # (symbol, level)
        self.facts = []  # (term, level, the symbols that it is about)
        self.expansions = []  # products of sums, multiplied out: as facts
        self.pairs = []
        self._named = {}  # (operation, ids) -> what was made of it

    def fresh(self, name, level, sort=None):
        self.made += 1  # no name is given twice, not even of what a trial has made
        symbol = z3.Const(f"{name}!{self.made}", z3.IntSort() if sort is None else sort)
        self.symbols.append((symbol, level))
        return symbol

    def number(self, name, level, natural=False):
        symbol = self.fresh(name, level)
        if natural:
            self.fact(symbol >= 0, level, symbol)
        return Number(symbol, level, natural)

    def flag(self, name, level):
        return Flag(self.fresh(name, level, z3.BoolSort()), level)

    def fact(self, term, level, *of):
        """Something that holds. of: the symbols that it defines; of use only where one of them is asked for."""
        self.facts.append((term, level, of))

    def mark(self):
        return len(self.symbols), len(self.facts), len(self.expansions), len(self.pairs), len(self._named)

    def back_to(self, mark):
        """Forget what a trial has made."""
        symbols, facts, expansions, pairs, named = mark
        del self.symbols[symbols:], self.facts[facts:], self.expansions[expansions:], self.pairs[pairs:]
        while len(self._named) > named:
            self._named.popitem()

    # -- operations ----------------------------------------------------------------------------------------------------

    def binary(self, operation, a, b, unsigned=False):
        """``a operation b`` by the name of its node: "Add"."""
        level = max(a.level, b.level)
        method = getattr(self, "_" + operation.lower(), None)
        if method is None:
            return Unknown(level) if operation == "Div" else self.number(operation, level)
        return method(a, b, level, unsigned)

    def _add(self, a, b, level, _):
        return Number(a.term + b.term, level, a.natural and b.natural)

    def _sub(self, a, b, level, unsigned):
        if unsigned and isinstance(a.term - b.term, z3.ExprRef):  # below zero it wraps round
            wrapped = self.number("wrapped", level)
            return Number(z3.If(a.term >= b.term, a.term - b.term, wrapped.term), level)
        return Number(a.term - b.term, level, isinstance(a.term - b.term, int) and a.term >= b.term)

    def _mult(self, a, b, level, _):
        natural = a.natural and b.natural
        if a.constant is not None or b.constant is not None:
            return Number(a.term * b.term, level, natural)
        return Number(self._product(a.term, b.term, level), level, natural)

    def _floordiv(self, a, b, level, _):
        return self._divided(a, b, level)[0]

    def _mod(self, a, b, level, _):
        return self._divided(a, b, level)[1]

    def _divided(self, a, b, level):
        if b.constant is not None and b.constant > 0:
            if a.constant is not None:
                q, r = divmod(a.constant, b.constant)
                return Number(q, GRID, q >= 0), Number(r, GRID, True)
            return Number(a.term / b.term, level, a.natural), Number(a.term % b.term, level, True)
        if b.constant is not None:
            return self.number("quotient", level), self.number("remainder", level)
        key = "//", _id(a.term), _id(b.term)
        if key not in self._named:
            q, r = self.fresh("quotient", level), self.fresh("remainder", level)
            product = self._product(q, b.term, level)
            above = z3.And(r >= 0, r < b.term, z3.Implies(a.term >= 0, q >= 0))
            below = z3.And(r <= 0, r > b.term, z3.Implies(a.term >= 0, q <= 0))
            self.fact(z3.Implies(b.term > 0, above), level, q, r)
            self.fact(z3.Implies(b.term < 0, below), level, q, r)
            self.fact(z3.Implies(b.term != 0, a.term == product + r), level, q, r)
            self._named[key] = q, r, a.term, b.term
        q, r = self._named[key][:2]
        if not (a.natural and b.natural):
            return Number(q, level), Number(r, level)
        # by zero is not defined: whatever comes out is no index of a launch without errors
        self.fact(z3.And(q >= 0, r >= 0), level, q, r)
        return Number(q, level, True), Number(r, level, True)

    def _product(self, a, b, level):
        key = "*", *sorted((_id(a), _id(b)))
        if key not in self._named:
            p = self.fresh("product", level)
            self._named[key] = p, a, b
            self.pairs.append(Pair(a, b, p, level))
            self.fact(z3.And(*_about(a, b, p), *_about(b, a, p)), level, p)
            for x, y in ((a, b), (b, a)):
                parts = _summands(x)
                if len(parts) > 1 or parts[0][0] != 1:
                    products = [c * (y if t is None else self._product(t, y, level)) for c, t in parts]
                    self.expansions.append((p == z3.Sum(products), level, (p,)))
        return self._named[key][0]

    # -- bits ----------------------------------------------------------------------------------------------------------

    def _lshift(self, a, b, level, _):
        if b.constant is not None and 0 <= b.constant < 64:
            return Number(a.term * 2**b.constant, level, a.natural)
        return self.number("shifted", level, a.natural)

    def _rshift(self, a, b, level, _):
        if b.constant is not None and 0 <= b.constant < 64:
            return self._divided(a, Number(2**b.constant), level)[0]
        return self.number("shifted", level, a.natural)

    def _bitand(self, a, b, level, _):
        if a.constant is not None:
            a, b = b, a
        mask = b.constant
        if mask is None or mask < 0:
            return self.number("and", level, a.natural or b.natural)
        if a.constant is not None:
            return Number(a.constant & mask, GRID, True)
        if mask & (mask + 1) == 0:
            return Number(a.term % (mask + 1), level, True)
        if mask.bit_count() > MOST_BITS:
            return self.number("and", level, True)
        return Number(z3.Sum([_bit(a.term, k) * 2**k for k in _bits(mask)]), level, True)

    def _bitor(self, a, b, level, _):
        common = self._bitand(a, b, level, _)
        return Number(a.term + b.term - common.term, level, a.natural and b.natural)

    def _bitxor(self, a, b, level, _):
        if a.constant is not None:
            a, b = b, a
        natural, mask = a.natural and b.natural, b.constant
        if a.constant is not None and mask is not None:
            return Number(a.constant ^ mask, GRID, natural)
        if mask is not None and mask >= 0 and mask.bit_count() <= MOST_BITS:
            return Number(
                a.term + z3.Sum([2**k - 2 ** (k + 1) * _bit(a.term, k) for k in _bits(mask)] or [0]), level, natural
            )
        if a.constant is not None or mask is not None:
            return self.number("xor", level, natural)
        key = "^", *sorted((_id(a.term), _id(b.term)))
        if key not in self._named:
            result = self.number("xor", level, natural).term
            self._named[key] = result, a.term, b.term
            self.pairs.append(Pair(a.term, b.term, result, level, True))
        return Number(self._named[key][0], level, natural)

    # -- comparisons ---------------------------------------------------------------------------------------------------

    def compare(self, operation, a, b):
        """ "Lt" of two numbers: a `Flag`."""
        x, y = a.term, b.term
        term = {
            "Lt": lambda: x < y,
            "LtE": lambda: x <= y,
            "Gt": lambda: x > y,
            "GtE": lambda: x >= y,
            "Eq": lambda: x == y,
            "NotEq": lambda: x != y,
        }[operation]()
        return Flag(term, max(a.level, b.level))


def shared_factor(p, q):
    """What follows for two results with a factor in common: clauses, [] where nothing does."""
    found = []
    for a, f in ((p.a, p.b), (p.b, p.a)):
        for c, g in ((q.a, q.b), (q.b, q.a)):
            if p.exclusive:
                found.append(z3.Implies(f == g, (p.result == q.result) == (a == c)))
            elif _id(f) == _id(g) and _id(a) != _id(c):
                found += [
                    z3.Implies(z3.And(f >= 0, a > c), p.result >= q.result + f),
                    z3.Implies(z3.And(f >= 0, a < c), q.result >= p.result + f),
                    z3.Implies(z3.And(f < 0, a > c), p.result <= q.result + f),
                    z3.Implies(z3.And(f < 0, a < c), q.result <= p.result + f),
                    z3.Implies(a == c, p.result == q.result),
                ]
    return found


def _about(a, f, p):
    """What holds of p = a * f whatever they are."""
    return [
        z3.Implies(a == 0, p == 0),
        z3.Implies(a == 1, p == f),
        z3.Implies(z3.And(a >= 1, f >= 0), p >= f),
        z3.Implies(z3.And(a >= 2, f >= 0), p >= 2 * f),
        z3.Implies(z3.And(a <= -1, f >= 0), p <= -f),
        z3.Implies(z3.And(a >= 1, f <= 0), p <= f),
        z3.Implies(z3.And(a <= -1, f <= 0), p >= -f),
    ]


def _summands(term):
    """A sum as [(coefficient, summand)], summand None for a constant."""
    found = []

    def collect(t, sign):
        if z3.is_int_value(t):
            found.append((sign * t.as_long(), None))
        elif z3.is_add(t):
            for child in t.children():
                collect(child, sign)
        elif z3.is_sub(t):
            first, *others = t.children()
            collect(first, sign)
            for child in others:
                collect(child, -sign)
        elif z3.is_mul(t) and t.num_args() == 2 and any(z3.is_int_value(child) for child in t.children()):
            constant, factor = sorted(t.children(), key=lambda child: not z3.is_int_value(child))
            collect(factor, sign * constant.as_long())
        else:
            found.append((sign, t))

    collect(term, 1)
    return found


def _id(term):
    return term if isinstance(term, int) else term.get_id()


def _bits(mask):
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def _bit(term, k):
    return (term / 2**k) % 2
