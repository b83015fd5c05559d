"""Which answers look alike after renaming: winnowing (Schleimer, Wilkerson, Aiken 2003) over normalised syntax trees.

An answer becomes a sequence of nodes in which every name of its own is the same word, numbers are numbers, and
comments, docstrings, layout and annotations are gone. Of all runs of K nodes, winnowing keeps at least one in W
neighbours, so that any common stretch of K + W - 1 nodes is found, wherever it stands. No evidence is what stands in
the hand-out or in the public solution. What many of a class wrote may be the natural form, or a ring: it counts only
where nearly all of both is the same, and a long answer among it.
"""

import ast
import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache

from ... import trees

K, W = 18, 6
MOST_NODES = 6000  # of an answer; what is longer is compared by its beginning
LEAST = 10  # shared pieces below which nothing is said: two honest students write the same three lines
SHARE = 0.6  # of the smaller one's evidence
MANY, A_QUARTER = 4, 4  # what more students have than these, or than a quarter of the class, many have
RING = 20  # what more students have than these, and than a quarter, is the natural form: a ring of so many is a class
LEAST_OF_RING = 20  # shared pieces of one cell, and ...
SHARE_OF_RING = 0.9  # ... of all that the smaller one has, where many have it
_DROPPED = ("annotation", "returns", "type_comment", "type_params", "ctx", "kind")


@dataclass(frozen=True)
class Pair:
    """Two students whose answers to an exercise look alike. `lines`: cell -> (lines of the first, of the second)."""

    exercise: str
    first: str
    second: str
    shared: int
    share: float
    lines: dict


def nodes(source):
    """[(word, line), ...] of a source, in order; [] for what is no Python."""
    lines = ["" if line.lstrip()[:1] in ("%", "!") else line for line in source.splitlines()]  # a notebook's commands
    try:
        tree = trees.parse("\n".join(lines))
    except (SyntaxError, trees.TooLarge):
        return []
    defined = _own_names(tree)
    found, waiting = [], [(tree, 1)]
    while waiting and len(found) < MOST_NODES:
        node, line = waiting.pop()
        line = getattr(node, "lineno", line)
        found.append((_word(node, defined), line))
        children = [c for name, value in ast.iter_fields(node) if name not in _DROPPED for c in _nodes_of(value)]
        waiting += [(child, line) for child in reversed(children) if not _is_text(child)]
    return found


def _nodes_of(value):
    return [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)]


def _is_text(node):
    """A docstring, or a text that stands alone as a comment."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _own_names(tree):
    """The names that an answer makes itself."""
    defined = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            defined.add(node.id)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add(node.asname or node.name)
    return defined


def _word(node, defined):
    kind = type(node).__name__
    if isinstance(node, ast.Name):
        return "own" if node.id in defined else node.id
    if isinstance(node, ast.Attribute):
        return "." + (node.attr if node.attr not in defined else "own")
    if isinstance(node, ast.Constant):
        return type(node.value).__name__ if not isinstance(node.value, float) else "int"
    return kind


@lru_cache(maxsize=20_000)
def _grams(source):
    """All runs of K nodes of a source: [(number, first line, last line), ...]."""
    found = nodes(source)
    words = [word for word, _ in found]
    return [
        (
            hashlib.blake2b("\0".join(words[i : i + K]).encode("utf-8", "replace"), digest_size=8).digest(),
            min(line for _, line in found[i : i + K]),
            max(line for _, line in found[i : i + K]),
        )
        for i in range(len(found) - K + 1)
    ]


def pieces(source):
    """{number: lines} of the runs that winnowing keeps: in each window of W, the least, the last of equals."""
    grams, kept = _grams(source), defaultdict(set)
    for start in range(max(1, len(grams) - W + 1)) if grams else ():
        number, first, last = min(reversed(grams[start : start + W]), key=lambda gram: gram[0])
        kept[number].update(range(first, last + 1))
    return kept


def same_code(source, other):
    """Whether two sources are the same but for names, numbers, comments and layout."""
    words = [word for word, _ in nodes(source)]
    return bool(words) and words == [word for word, _ in nodes(other)]


def pairs(answers, common):
    """The Pairs of one exercise's students, most alike first.

    `answers`: student -> {cell: source}. `common`: cell -> sources that all have: the hand-out, the public solution.
    """
    rare, frequent = defaultdict(dict), defaultdict(dict)  # student -> {(cell, number): lines}
    for cell in {cell for sources in answers.values() for cell in sources}:
        known = {number for source in common.get(cell, ()) for number, _, _ in _grams(source)}
        found = {student: pieces(sources[cell]) for student, sources in answers.items() if sources.get(cell)}
        held = Counter(number for numbers in found.values() for number in numbers)
        quarter = len(found) // A_QUARTER
        for evidence, most in ((rare, max(MANY, quarter)), (frequent, max(RING, quarter))):
            for student, numbers in found.items():
                fragments = {(cell, n): lines for n, lines in numbers.items() if n not in known and held[n] <= most}
                evidence[student].update(fragments)
    found = {}
    for evidence, share, fits in ((rare, SHARE, len), (frequent, SHARE_OF_RING, _longest)):
        for (a, b), shared in _shared(evidence).items():
            part = len(shared) / min(len(evidence[a]), len(evidence[b]))
            least = LEAST_OF_RING if evidence is frequent else LEAST
            if fits(shared) >= least and part >= share:
                found[a, b] = Pair("", a, b, len(shared), part, _lines(evidence[a], evidence[b]))
    return sorted(found.values(), key=lambda p: (-p.share, -p.shared, p.first, p.second))


def _shared(evidence):
    """{(student, student): the pieces that both have}."""
    holders, shared = defaultdict(list), defaultdict(list)
    for student in sorted(evidence):
        for piece in evidence[student]:
            holders[piece].append(student)
    for piece, students in holders.items():
        for i, a in enumerate(students):
            for b in students[i + 1 :]:
                shared[a, b].append(piece)
    return shared


def _longest(shared):
    """Pieces of the cell that has most of them."""
    return max(Counter(cell for cell, _ in shared).values())


def rings(pairs):
    """The groups of three students or more that are held together by the pairs of one exercise, as sorted lists."""
    group = {}
    for pair in pairs:
        merged = group.setdefault(pair.first, {pair.first})
        other = group.setdefault(pair.second, {pair.second})
        if merged is not other:
            merged |= other
            group |= dict.fromkeys(other, merged)
    return sorted({tuple(sorted(members)) for members in group.values() if len(members) > 2})


def _lines(fragments, other):
    lines = defaultdict(lambda: (set(), set()))
    for cell, number in fragments.keys() & other.keys():
        lines[cell][0].update(fragments[cell, number])
        lines[cell][1].update(other[cell, number])
    return dict(lines)
