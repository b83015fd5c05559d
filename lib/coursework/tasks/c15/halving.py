"""15-halving: Successive halving."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask


def halved(samples, first=1, keep="half", judge="all", growth=2, ceil=True, most=False, ties="number", more=False):
    """(winner, samples taken): the runners have 1, 2, 4 ... samples, and after each round the better half goes on."""
    runners, seen, total = list(range(len(samples))), first, 0
    taken = [0] * len(samples)
    while True:
        seen = min(seen, len(samples[0]))
        before = taken[runners[0]]
        for i in runners:
            total += seen if judge == "again" else seen - taken[i]
            taken[i] = seen
        begin = seen - 1 if judge == "last" else min(before, seen - 1) if judge == "new" else 0
        score = {i: float(_OF[judge](samples[i][begin:seen])) for i in runners}
        if len(runners) == 1:
            return runners[0], total
        order = sorted(runners, key=lambda i: (-score[i] if most else score[i], {"number": i, "last": -i}.get(ties, 0)))
        count = (len(runners) + 1) // 2 if ceil else max(1, len(runners) // 2)
        runners = order[:count] if keep == "half" else order[:1]
        if len(runners) == 1 and not more:
            return runners[0], total
        seen *= growth


_OF = {"all": np.median, "again": np.median, "last": np.median, "new": np.median, "mean": np.mean, "best": np.min}
_EACH_ROUND = "In each round half of the candidates go on, and those get twice as many samples: 1, 2, 4, ..."
_TIES = (
    "Of those with the same median the ones with the smaller numbers go on, whatever their order was in the round "
    "before."
)
_SLIPS = (
    ({"ceil": False}, "Of an odd number the larger half goes on: of 5 candidates, 3."),
    ({"judge": "again"}, "Samples that a candidate has already are not taken again: only what is new counts."),
    ({"ties": "last"}, _TIES),
    ({"ties": "round"}, _TIES),
    ({"judge": "last"}, "A candidate is judged by the median of all its samples, not by the last one."),
    ({"judge": "new"}, "A candidate is judged by the median of all its samples, not by that of the new ones."),
    ({"judge": "mean"}, "A candidate is judged by the median of its samples, not by their mean."),
    ({"judge": "best"}, "A candidate is judged by the median of its samples, not by the fastest one."),
    ({"more": True}, "When one is left, it has won, and gets no more samples."),
    ({"keep": "one"}, _EACH_ROUND),
    ({"growth": 1}, _EACH_ROUND),
    ({"most": True}, "Samples are seconds: less is better."),
)


def judge_halving(arguments, result):
    samples = arguments[0]
    winner, taken = halved(samples)
    expected = f"candidate {winner}, after {taken} samples"
    well_formed = isinstance(result, tuple | list) and len(result) == 2
    if not well_formed or not all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in result):
        return Slip(
            "type", expected, "Return two whole numbers: the number of the winner, and how many samples were taken."
        )
    result = tuple(map(int, result))
    if result == (winner, taken):
        return None
    got = f"candidate {result[0]}, after {result[1]} samples"
    for mistake, cause in _SLIPS:
        if result == halved(samples, **mistake):
            return Slip("halving", expected, cause, got)
    if result[1] == samples.size:
        return Slip("halving", expected, "All samples were taken: this is an exhaustive search.", got)
    if result[0] == winner:
        return Slip(
            "samples", expected, "The winner is right. Count what each candidate took: its samples, each once.", got
        )
    return Slip("halving", expected, "Write down which candidates go on after the first round, by hand.", got)


#: Samples of the first two of eight candidates, of which the first is the best by its median. Each tells one mistake.
NEARLY = {
    "an outlier in the second sample": (
        (1.0, 9.0, 1.0, 1.0),
        (2.0, 2.0, 2.0, 2.0),
    ),  # by their means the other one wins
    "an outlier in the third sample": ((1.0, 1.0, 4.0, 1.0), (2.0, 2.0, 2.0, 2.0)),  # by the new samples alone
    "an outlier in the fourth sample": ((1.0, 1.0, 1.0, 3.0), (2.5, 2.5, 2.5, 2.5)),  # by the last sample
    "a lucky first sample": ((3.0, 3.0, 3.0, 3.0), (1.0, 5.0, 5.0, 5.0)),  # by the fastest sample
}
TIED = ((2.0, 2.0), (1.0, 3.0), (3.0, 3.0), (3.0, 1.0))  # after two samples the first two have one median


def nearly(name, two):
    rest = [[20.0 + 10 * (i > 3)] * 4 for i in range(2, 8)]
    return Case(f"8 candidates, {name}", lambda rng: (np.array([*two, *rest]),))


def table(candidates, rounds, noise=0.3):
    def make(rng):
        true = rng.permutation(candidates) * 0.05 + 1
        return (np.round(true[:, None] * (1 + noise * rng.exponential(size=(candidates, rounds))), 4),)

    return Case(f"{candidates} candidates, up to {rounds} samples each", make)


HALVING = FunctionTask(
    id="15-halving",
    section=Section("15.2", "15_tuning", "Strategies"),
    title="Successive halving",
    objective="Write successive halving on a recorded table of samples",
    points=2,
    minutes=15,
    judge=judge_halving,
    cases=(
        table(1, 4),
        *(nearly(name, two) for name, two in NEARLY.items()),
        table(2, 8),
        table(8, 8),
        table(13, 16),
        table(40, 4),
        Case("4 candidates, two with the same median", lambda rng: (np.array(TIED),)),
        Case("20 candidates, all the same", lambda rng: (np.ones((20, 4)),)),
    ),
    advice={
        "raised-IndexError": "A row of samples may be shorter than the number of samples that the rule asks for: take "
        "those that are there."
    },
    hints=(
        "How many samples has a candidate that goes on after the second round, and how many of them are new?",
        "A loop over rounds, with a list of the candidates that are left and the number of samples that each of them "
        "has.",
        "Take what is new: seen minus what the candidates had before, for each of them. Sort by the median of the "
        "first `seen` samples, ties by number; the first (count + 1) // 2 go on, with twice as many, at most all. Stop "
        "with one.",
    ),
)
