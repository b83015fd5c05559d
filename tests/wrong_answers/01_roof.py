"""Answers to 01-roof."""

import numpy as np
from answers import edit, replace


def _total(loops, peak, bandwidth):
    return sum(max(f / (peak * 1e9), b / (bandwidth * 1e9)) for f, b in loops)


def _options(loops, kept, peak, bandwidth, total=_total, saved=1):
    found = {"peak": total(loops, 2 * peak, bandwidth), "bandwidth": total(loops, peak, 2 * bandwidth)}
    for k in range(len(kept)):
        (f, b), (g, c) = loops[k], loops[k + 1]
        found[k] = total([*loops[:k], (f + g, b + c - saved * kept[k]), *loops[k + 2 :]], peak, bandwidth)
    return found


def with_numpy(loops, kept, peak, bandwidth):
    """right"""
    rates = np.array([peak, bandwidth]) * 1e9

    def seconds(table, rates):
        return (np.array(table, dtype=np.float64) / rates).max(axis=1).sum()

    tried = [("bandwidth", seconds(loops, rates * [1, 2])), ("peak", seconds(loops, rates * [2, 1]))]
    for k, saved in enumerate(kept):
        table = np.array(loops, dtype=np.float64)
        table[k] += table[k + 1]
        table[k, 1] -= saved
        keep = [row for row in range(len(loops)) if row != k + 1]
        tried.append((k, seconds(table[keep], rates)))
    tried.sort(key=lambda pair: pair[1])
    return list(tried[0])


def as_one_loop(loops, kept, peak, bandwidth):
    """wrong whole: one after the other"""

    def total(loops, peak, bandwidth):
        return max(sum(f for f, _ in loops) / (peak * 1e9), sum(b for _, b in loops) / (bandwidth * 1e9))

    found = _options(loops, kept, peak, bandwidth, total)
    choice = min(found, key=found.get)
    return choice, found[choice]


def sums(loops, kept, peak, bandwidth):
    """wrong sum: the longer of the two times"""

    def total(loops, peak, bandwidth):
        return sum(f / (peak * 1e9) + b / (bandwidth * 1e9) for f, b in loops)

    found = _options(loops, kept, peak, bandwidth, total)
    choice = min(found, key=found.get)
    return choice, found[choice]


def saved_twice(loops, kept, peak, bandwidth):
    """wrong saved-twice: Subtract them once"""
    found = _options(loops, kept, peak, bandwidth)
    choice = min(found, key=found.get)
    return choice, _options(loops, kept, peak, bandwidth, saved=2)[choice]


nothing_saved = edit(saved_twice, "wrong nothing-saved: Subtract them", replace("saved=2", "saved=0"))


def never_fuses(loops, kept, peak, bandwidth):
    """wrong not-best: another change gives less"""
    found = _options(loops, [], peak, bandwidth)
    choice = min(found, key=found.get)
    return choice, found[choice]


def the_worst(loops, kept, peak, bandwidth):
    """wrong not-best: another change gives less"""
    found = _options(loops, kept, peak, bandwidth)
    choice = max(found, key=found.get)
    return choice, found[choice]


def unchanged(loops, kept, peak, bandwidth):
    """wrong before: before any change"""
    found = _options(loops, kept, peak, bandwidth)
    return min(found, key=found.get), _total(loops, peak, bandwidth)


without_giga = edit(the_worst, "wrong units: 1 G is 1e9", replace("max", "min"), replace("[choice]", "[choice] * 1e9"))
only_the_choice = edit(unchanged, "wrong type: Return two values", replace(", _total(loops, peak, bandwidth)", ""))


def the_other_way_round(loops, kept, peak, bandwidth):
    """wrong type: the choice, and the seconds"""
    found = _options(loops, kept, peak, bandwidth)
    choice = min(found, key=found.get)
    return found[choice], choice


def another_word(loops, kept, peak, bandwidth):
    """wrong choice: by the names of the statement"""
    return "memory", min(_options(loops, kept, peak, bandwidth).values())


def a_flag(loops, kept, peak, bandwidth):
    """wrong choice: by the names of the statement"""
    return False, min(_options(loops, kept, peak, bandwidth).values())


def a_list_for_a_choice(loops, kept, peak, bandwidth):
    """wrong choice: by the names of the statement"""
    return [0], min(_options(loops, kept, peak, bandwidth).values())


def all_minima(loops, kept, peak, bandwidth):
    """wrong other: the longer of flops / peak and bytes / bandwidth"""
    return "bandwidth", sum(min(f / (peak * 1e9), b / (2 * bandwidth * 1e9)) for f, b in loops)


def one_too_many(loops, kept, peak, bandwidth):
    """wrong raised-IndexError: nothing to fuse"""
    return loops[len(loops)], kept[0]


def empties_the_lists(loops, kept, peak, bandwidth):
    """wrong input-changed: The caller still needs its list"""
    loops.clear()
    kept.clear()
    return "peak", 0.0
