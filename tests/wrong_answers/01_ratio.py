"""Answers to 01-ratio."""

import statistics


def _seconds(call, clock):
    start = clock()
    call()
    return clock() - start


def ours_begins(peer, ours, clock, rounds):
    """right"""
    ours()
    peer()
    ratios = []
    for r in range(rounds):
        if r % 2:
            p = _seconds(peer, clock)
            o = _seconds(ours, clock)
        else:
            o = _seconds(ours, clock)
            p = _seconds(peer, clock)
        ratios.append(p / o)
    ratios.sort()
    return (ratios[(rounds - 1) // 2] + ratios[rounds // 2]) / 2


def no_warm_up(peer, ours, clock, rounds):
    """wrong warm-up: The first call compiles"""
    ratios = []
    for r in range(rounds):
        if r % 2:
            p, o = _seconds(peer, clock), _seconds(ours, clock)
        else:
            o, p = _seconds(ours, clock), _seconds(peer, clock)
        ratios.append(p / o)
    return statistics.median(ratios)


def only_ours_warm(peer, ours, clock, rounds):
    """wrong warm-up: Make it before you read the clock"""
    ours()
    ratios = [_seconds(peer, clock) / _seconds(ours, clock) for _ in range(rounds)]
    return statistics.median(ratios)


def one_after_the_other(peer, ours, clock, rounds):
    """wrong blocks: take turns"""
    peer()
    ours()
    p = [_seconds(peer, clock) for _ in range(rounds)]
    o = [_seconds(ours, clock) for _ in range(rounds)]
    return statistics.median(p) / statistics.median(o)


def always_peer_first(peer, ours, clock, rounds):
    """wrong order: from round to round"""
    peer()
    ours()
    return statistics.median([_seconds(peer, clock) / _seconds(ours, clock) for _ in range(rounds)])


def _rounds(peer, ours, clock, rounds):
    peer()
    ours()
    pairs = []
    for r in range(rounds):
        order = (peer, ours) if r % 2 == 0 else (ours, peer)
        first, second = _seconds(order[0], clock), _seconds(order[1], clock)
        pairs.append((first, second) if r % 2 == 0 else (second, first))
    return pairs


def with_a_helper(peer, ours, clock, rounds):
    """right"""
    return statistics.median([p / o for p, o in _rounds(peer, ours, clock, rounds)])


def upside_down(peer, ours, clock, rounds):
    """wrong inverted: peer / ours"""
    return statistics.median([o / p for p, o in _rounds(peer, ours, clock, rounds)])


def mean_of_ratios(peer, ours, clock, rounds):
    """wrong mean: One long run pulls it up"""
    pairs = _rounds(peer, ours, clock, rounds)
    return sum(p / o for p, o in pairs) / rounds


def ratio_of_medians(peer, ours, clock, rounds):
    """wrong medians: inside each round"""
    pairs = _rounds(peer, ours, clock, rounds)
    return statistics.median([p for p, _ in pairs]) / statistics.median([o for _, o in pairs])


def ratio_of_sums(peer, ours, clock, rounds):
    """wrong sums: one disturbed run decides"""
    pairs = _rounds(peer, ours, clock, rounds)
    return sum(p for p, _ in pairs) / sum(o for _, o in pairs)


def a_round_too_few(peer, ours, clock, rounds):
    """wrong count: each of the two runs once"""
    pairs = _rounds(peer, ours, clock, rounds - 1)
    return statistics.median([p / o for p, o in pairs])


def both_in_one(peer, ours, clock, rounds):
    """wrong mixed: Time each call by itself"""
    peer()
    ours()
    ratios = []
    for _ in range(rounds):
        start = clock()
        peer()
        ours()
        ratios.append(clock() - start)
    return statistics.median(ratios)


def ours_never_runs(peer, ours, clock, rounds):
    """wrong no-call: never called"""
    return _seconds(peer, clock) / _seconds(peer, clock)


def as_text(peer, ours, clock, rounds):
    """wrong type: Return one number"""
    return f"{statistics.median([p / o for p, o in _rounds(peer, ours, clock, rounds)]):.2f}x"
