"""11-window: Which tiles does a window need?"""

import operator

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def sees(i, j, window, sink):
    """Whether query i may look at key j: causal, the last `window` keys, and the first `sink` ones."""
    return (j <= i) & ((i - j < window) | (j < sink))


def window_case(name, first, last, keys, tile, window, sink):
    said = f"{name}: queries {first} to {last}, {keys} keys in tiles of {tile}, window {window}, sink {sink}"
    return Case(said, lambda rng: (first, last, keys, tile, window, sink))


def tiles_of_window(first, last, keys, tile, window, sink, mask=sees, tail=False, most=None):
    """(full, partial): tiles that every query sees as a whole, and others of which some query sees something.
    `tail`: whether keys beyond the last count, too; `most`: queries that are asked. Those, and other masks, are
    mistakes."""
    queries = np.array(most(first, last) if most else range(first, last + 1))[:, None]
    full, partial = [], []
    for number in range(-(-keys // tile)):
        end = (number + 1) * tile
        seen = mask(queries, np.arange(number * tile, end if tail else min(end, keys)), window, sink)
        if seen.all():
            full.append(number)
        elif seen.any():
            partial.append(number)
    return full, partial


WINDOWS = (
    (
        {"mask": lambda i, j, window, sink: (j <= i) & (i - j < window)},
        "The sink is missing: the first keys are seen by every later query, however far away.",
    ),
    (
        {"mask": lambda i, j, window, sink: (i - j < window) | (j < sink)},
        "Keys that come after a query are taken for seen. Query i sees keys up to i.",
    ),
    ({"mask": lambda i, j, window, sink: j <= i}, "The window is missing: these are the tiles of a causal mask."),
    (
        {"mask": lambda i, j, window, sink: (j <= i) & ((i - j <= window) | (j < sink))},
        "One key too many: query i sees `window` keys, its own among them, so j = i - window is the first one that it "
        "does not see.",
    ),
    ({"tail": True}, "The last tile has fewer keys. It is full if all keys that it has are seen."),
    (
        {"mask": lambda i, j, window, sink: (j <= i) & ((i - j < window) | (j <= sink))},
        "One key of the sink too many: the sink is keys 0 to sink - 1.",
    ),
    ({"mask": lambda i, j, window, sink: (j < i) & ((i - j < window) | (j < sink))}, "A query sees its own key, too."),
    (
        {"most": lambda first, last: [first]},
        "This is right for the first query alone. A tile is needed if any of the queries needs it, and full if all of "
        "them see all of it.",
    ),
    (
        {"most": lambda first, last: [last]},
        "This is right for the last query alone. A tile is needed if any of the queries needs it, and full if all of "
        "them see all of it.",
    ),
)


def _ordered(x):
    """Whether it is something with a length and an order, which a judge may look at."""
    return type(x) in (list, tuple, np.ndarray)


def _two_lists(result):
    """(full, partial) as lists of whole numbers, or None for anything else: floats, text, sets, truth values."""
    if type(result) not in (tuple, list) or len(result) != 2 or not all(map(_ordered, result)):
        return None
    try:
        said = tuple([operator.index(x) for x in part] for part in result)
    except TypeError:
        return None
    return None if any(isinstance(x, bool | np.bool_) for part in result for x in part) else said


def judge_window(arguments, result):
    """A Slip, or None for the right tiles."""
    right = tiles_of_window(*arguments)
    expected = f"full {_tiles(right[0])}, partial {_tiles(right[1])}"
    said = _two_lists(result)
    if said is None:
        cause = "Two lists are asked for: the numbers of the full tiles, and those of the partial ones."
        if _ordered(result) and any(isinstance(x, float) for part in result if _ordered(part) for x in part):
            cause = (
                "A tile has a whole number. `/` gives a float even where the division has no rest; `//` gives a whole "
                "number."
            )
        return Slip("type", expected, cause)
    got = f"full {_tiles(said[0])}, partial {_tiles(said[1])}"
    if said == right:
        return None
    for options, cause in WINDOWS:
        if said == tiles_of_window(*arguments, **options):
            return Slip("mask", expected, cause, got)
    there = -(-arguments[2] // arguments[3])
    beyond = [number for number in said[0] + said[1] if not 0 <= number < there]
    if beyond:
        cause = (
            f"There is no tile {beyond[0]}: {arguments[2]} keys in tiles of {arguments[3]} are tiles 0 to {there - 1}."
        )
        return Slip("no-tile", expected, cause, got)
    both = set(said[0]) & set(said[1])
    if both:
        cause = (
            f"Tile {min(both)} stands in both lists. A tile that is full needs no mask: it stands in the first list "
            "only."
        )
        return Slip("twice", expected, cause, got)
    again = [number for part in said for number in part if part.count(number) > 1]
    if again:
        cause = f"Tile {again[0]} stands in a list more than once. Once is enough, however many queries see it."
        return Slip("twice", expected, cause, got)
    if sorted(said[0] + said[1]) == sorted(right[0] + right[1]):
        if said[0] == sorted(right[0]) or sorted(said[0]) != said[0] or sorted(said[1]) != said[1]:
            return Slip("order", expected, "The tiles come in ascending order.", got)
        number = min(set(said[0]) ^ set(right[0]))
        if number in right[0] and _mixed(number, *arguments):
            cause = (
                f"Tile {number} is full: its first keys are seen because they belong to the sink, the others because "
                "all queries have them in their window. A key needs only one of the two."
            )
            return Slip("kind", expected, cause, got)
        which, other = ("full", "partial") if number in said[0] else ("partial", "full")
        cause = (
            f"Tile {number} is {other}, not {which}. Full means that every query from the first to the last sees every "
            "key of the tile: which query sees least at its right end, and which one at its left end?"
        )
        return Slip("kind", expected, cause, got)
    lost = sorted(set(right[0] + right[1]) - set(said[0] + said[1]))
    if lost:
        cause = f"Tile {lost[0]} is missing: its keys would be lost. Which query sees one of them?"
        return Slip("lost", expected, cause, got)
    number = sorted(set(said[0] + said[1]) - set(right[0] + right[1]))[0]
    cause = f"Tile {number} is loaded for nothing: no query from the first to the last sees a key of it."
    return Slip("too-much", expected, cause, got)


def _mixed(number, first, last, keys, tile, window, sink):
    """Whether of a full tile some keys are seen by the sink alone, and the others by the window."""
    begin, end = number * tile, min(number * tile + tile, keys)
    return begin <= last - window < end - 1 and begin < sink < end


def _tiles(numbers):
    if len(numbers) > 8:
        return f"[{', '.join(map(str, numbers[:4]))} ... {numbers[-1]}], {len(numbers)} of them"
    return str(numbers)


_SLOW = (
    "Perhaps right, but too slow for a long text: 64 queries and 100,064 keys are 6 million questions, and a check "
    "stops after 2 million lines. Ask of a tile, not of each of its keys: its first and its last key, and the first "
    "and the last query, tell."
)

WINDOW = FunctionTask(
    id="11-window",
    section=Section("11.6", "11_beyond", "Your function in our loop"),
    title="Which tiles does a window need?",
    objective="Say for a block of queries which tiles of keys a sliding window with a sink needs, and which need no "
    "mask",
    points=3,
    minutes=25,
    judge=judge_window,
    cases=(
        window_case("one query", 12, 12, 16, 4, 4, 0),
        window_case("a block", 32, 47, 64, 8, 17, 0),
        window_case("a block, with a sink", 32, 47, 64, 8, 20, 30),
        window_case("a window of more than all", 8, 15, 16, 4, 100, 4),
        window_case("a sink of a whole tile", 60, 63, 64, 4, 6, 4),
        window_case("a last tile with fewer keys", 25, 25, 26, 8, 12, 0),
        window_case("the first block", 0, 7, 32, 4, 6, 10),
        window_case("a long text", 100_000, 100_063, 100_064, 64, 4096, 4),
    ),
    advice={"raised-TooManyIterations": _SLOW, "raised-MemoryError": _SLOW},
    hints=(
        "Of the queries first to last, which one sees the furthest to the left, and which one to the right? And of "
        "which keys is it true that all queries see them?",
        "Some query sees a key of the window: from first - window + 1 to last. Every query sees it: from last - window "
        "+ 1 to first. The sink, as far as it is not after the query, is seen by all. A tile is partial if it meets "
        "the first kind and is not made of the second.",
        "For a tile with keys a to b: two conditions with `or` say that something is seen. For full, every key of it "
        "must be seen by all: it ends at or before `first`, and what of it lies before last - window + 1 must be sink.",
    ),
)
