"""Answers to 11-window."""

import numpy as np
from answers import cut, edit, replace


def by_asking_every_pair(first, last, keys, tile, window, sink):
    """right"""
    i, j = np.arange(first, last + 1)[:, None], np.arange(keys)
    seen = (j <= i) & ((j > i - window) | (j < sink))
    any_, all_ = seen.any(axis=0), seen.all(axis=0)
    starts = range(0, keys, tile)
    full = [s // tile for s in starts if all_[s : s + tile].all()]
    return [full, [s // tile for s in starts if any_[s : s + tile].any() and s // tile not in full]]


def by_numbers_of_tiles(first, last, keys, tile, window, sink):
    """right"""
    full, partial = [], []
    for number in range(min(last, keys - 1) // tile + 1):
        a, b = number * tile, min(number * tile + tile, keys) - 1
        if a >= sink and b < first - window + 1:
            continue
        left = max(a, sink)
        if b <= first and (left > b or left >= last - window + 1):
            full += [number]
        else:
            partial += [number]
    return full, partial


def two_conditions(first, last, keys, tile, window, sink):
    """right"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


no_sink = edit(
    two_conditions,
    "wrong mask: The sink is missing",
    replace("- window or begin < sink", "- window"),
    replace("- window or last - window < sink or end < sink", "- window"),
)


def no_window(first, last, keys, tile, window, sink):
    """wrong mask: these are the tiles of a causal mask"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last
        every = end <= first
        if some:
            (full if every else partial).append(number)
    return full, partial


not_causal = edit(
    no_window,
    "wrong mask: Keys that come after a query",
    replace("begin <= last", "end > first - window or begin < sink"),
    replace("end <= first", "begin > last - window or last - window < sink or end < sink"),
)
one_too_many = edit(
    two_conditions,
    "wrong mask: One key too many",
    replace("first - window", "first - window - 1"),
    replace("begin > last - window or last - window", "begin >= last - window or last - window - 1"),
)
sink_too_long = edit(
    two_conditions,
    "wrong mask: One key of the sink too many",
    replace("begin < sink", "begin <= sink"),
    replace("- window < sink or end < sink", "- window <= sink or end <= sink"),
)
own_key_missing = edit(
    two_conditions,
    "wrong mask: its own key",
    replace("begin <= last", "begin < last"),
    replace("end <= first", "end < first"),
)
first_query_only = edit(
    two_conditions,
    "wrong mask: right for the first query alone",
    replace("begin <= last", "begin <= first"),
    replace("last - window or last", "first - window or first"),
)
last_query_only = edit(
    two_conditions,
    "wrong mask: right for the last query alone",
    replace("end > first", "end > last"),
    replace("end <= first", "end <= last"),
)
beyond_the_keys = edit(
    two_conditions,
    "wrong mask: It is full if all keys that it has",
    replace("min((number + 1) * tile, keys)", "(number + 1) * tile"),
)


def full_in_both(first, last, keys, tile, window, sink):
    """wrong twice: stands in both lists"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            partial.append(number)
        if some and every:
            full.append(number)
    return full, partial


all_partial = edit(
    full_in_both,
    "wrong kind: is full, not partial",
    cut("every = end <= first and (begin > last - window or last - window < sink or end < sink)"),
    cut("if some and every:\n    full.append(number)"),
)
backwards = edit(
    two_conditions,
    "wrong order: in ascending order",
    replace("return full, partial", "return full[::-1], partial[::-1]"),
)
a_set_of_all = edit(
    two_conditions, "wrong type: Two lists are asked for", replace("return full, partial", "return full + partial")
)
last_full_tile_lost = edit(
    two_conditions, "wrong lost: its keys would be lost", replace("return full", "return full[:-1]")
)
all_tiles = edit(
    two_conditions, "wrong too-much: is loaded for nothing", replace("if some:", "if some or begin <= last:")
)


def one_tile_beyond(first, last, keys, tile, window, sink):
    """wrong no-tile: There is no tile 4"""
    full, partial = [], []
    for number in range(keys // tile + 1):
        begin, end = number * tile, min(keys, (number + 1) * tile)
        seen = [j <= i and (i - j < window or j < sink) for i in range(first, last + 1) for j in range(begin, end)]
        if all(seen):
            full.append(number)
        elif any(seen):
            partial.append(number)
    return full, partial


def _lists(first, last, keys, tile, window, sink):
    i, j = np.arange(first, last + 1)[:, None], np.arange(keys)
    seen = (j <= i) & ((j > i - window) | (j < sink))
    parts = [seen[:, begin : begin + tile] for begin in range(0, keys, tile)]
    full = [number for number, part in enumerate(parts) if part.all()]
    return full, [number for number, part in enumerate(parts) if part.any() and not part.all()]


def arrays_and_tuples(*arguments):
    """right"""
    full, partial = _lists(*arguments)
    return [np.array(full, np.int32), tuple(partial)]


def three_quarters_more(*arguments):
    """wrong type: A tile has a whole number"""
    return tuple([number + 0.75 for number in part] for part in _lists(*arguments))


def divided_with_a_point(*arguments):
    """wrong type: `//` gives a whole number"""
    tile = arguments[3]
    return tuple([number * tile / tile for number in part] for part in _lists(*arguments))


def as_text(*arguments):
    """wrong type: Two lists are asked for"""
    return tuple([str(number) for number in part] for part in _lists(*arguments))


def as_sets(*arguments):
    """wrong raised-NotPlain: a set, which has no order"""
    return tuple(set(part) for part in _lists(*arguments))


def as_keys_of_dicts(*arguments):
    """wrong type: Two lists are asked for"""
    return tuple(dict.fromkeys(part) for part in _lists(*arguments))


def as_truth_values(*arguments):
    """wrong type: Two lists are asked for"""
    return tuple([bool(number) if number < 2 else number for number in part] for part in _lists(*arguments))
