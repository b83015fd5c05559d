"""Answers to 11-window."""

import numpy as np


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


def no_sink(first, last, keys, tile, window, sink):
    """wrong mask: The sink is missing"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window)
        every = end <= first and (begin > last - window)
        if some:
            (full if every else partial).append(number)
    return full, partial


def not_causal(first, last, keys, tile, window, sink):
    """wrong mask: Keys that come after a query"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = end > first - window or begin < sink
        every = begin > last - window or last - window < sink or end < sink
        if some:
            (full if every else partial).append(number)
    return full, partial


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


def one_too_many(first, last, keys, tile, window, sink):
    """wrong mask: One key too many"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window - 1 or begin < sink)
        every = end <= first and (begin >= last - window or last - window - 1 < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def sink_too_long(first, last, keys, tile, window, sink):
    """wrong mask: One key of the sink too many"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin <= sink)
        every = end <= first and (begin > last - window or last - window <= sink or end <= sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def own_key_missing(first, last, keys, tile, window, sink):
    """wrong mask: its own key"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin < last and (end > first - window or begin < sink)
        every = end < first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def first_query_only(first, last, keys, tile, window, sink):
    """wrong mask: right for the first query alone"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= first and (end > first - window or begin < sink)
        every = end <= first and (begin > first - window or first - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def last_query_only(first, last, keys, tile, window, sink):
    """wrong mask: right for the last query alone"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > last - window or begin < sink)
        every = end <= last and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def beyond_the_keys(first, last, keys, tile, window, sink):
    """wrong mask: It is full if all keys that it has"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, (number + 1) * tile - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full, partial


def all_partial(first, last, keys, tile, window, sink):
    """wrong kind: is full, not partial"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        if some:
            partial.append(number)
    return full, partial


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


def backwards(first, last, keys, tile, window, sink):
    """wrong order: in ascending order"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full[::-1], partial[::-1]


def a_set_of_all(first, last, keys, tile, window, sink):
    """wrong type: Two lists are asked for"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full + partial


def last_full_tile_lost(first, last, keys, tile, window, sink):
    """wrong lost: its keys would be lost"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some:
            (full if every else partial).append(number)
    return full[:-1], partial


def all_tiles(first, last, keys, tile, window, sink):
    """wrong too-much: is loaded for nothing"""
    full, partial = [], []
    for number in range(-(-keys // tile)):
        begin, end = number * tile, min((number + 1) * tile, keys) - 1
        some = begin <= last and (end > first - window or begin < sink)
        every = end <= first and (begin > last - window or last - window < sink or end < sink)
        if some or begin <= last:
            (full if every else partial).append(number)
    return full, partial


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
