"""10-wavefront: Where a wave breaks."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from .shared import types_of


def rounds_case(name, directions, steps):
    return Case(
        f"{name}: layers {directions}, {steps} step{'s' if steps > 1 else ''}", lambda rng: (list(directions), steps)
    )


def earliest_rounds(
    directions,
    steps,
    first=1,
    needs=lambda below, way, t: below[:, t].max(),
    joined=lambda before, under: max(before, under) + 1,
    both=True,
):
    """[(directions, steps), ...]: in which round each cell can be computed; the options are mistakes. `needs`: what is
    needed of the layer below; `joined(round of the step before, round of what is needed below)`."""
    below, found = np.full((1, steps), first - 1), []
    for count in directions:
        layer = np.zeros((count, steps), np.int64)
        for way in range(count):
            before = first - 1
            for t in range(steps) if way == 0 or not both else reversed(range(steps)):
                before = layer[way, t] = joined(before, needs(below, way, t))
        found.append(layer)
        below = layer
    return found


def _one_by_one(directions, steps):
    """A worker alone."""
    numbers = iter(range(1, sum(directions) * steps + 1))
    return [np.array([[next(numbers) for _ in range(steps)] for _ in range(count)]) for count in directions]


ROUNDS = (
    (lambda *a: earliest_rounds(*a, first=0), "The first round has the number 1, not 0."),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[min(way, len(below) - 1), t]),
        "A cell waited for one direction of the layer below, or for the earlier of both. Its input is the outputs of "
        "both, side by side.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[0, t]),
        "Only the forward direction of the layer below was waited for. The input of a cell is the outputs of both "
        "directions.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below[-1, t]),
        "Only the backward direction of the layer below was waited for. The input of a cell is the outputs of both "
        "directions.",
    ),
    (
        lambda *a: earliest_rounds(*a, both=False),
        "The second direction was read forwards, too. It begins at the last step: its step t needs its own step t + 1.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: below.max()),
        "Every layer waited for the end of the layer below. A cell needs step t of it alone.",
    ),
    (
        lambda *a: earliest_rounds(*a, needs=lambda below, way, t: 0),
        "The layer below was not waited for: a cell needs its outputs of the same step.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: under + 1),
        "The step before in the same layer and direction was not waited for.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: before + under + 1),
        "The rounds of what a cell waits for were added. It can begin when the later one is done: the larger of the "
        "two.",
    ),
    (
        lambda *a: earliest_rounds(*a, joined=lambda before, under: min(before, under) + 1),
        "A cell began when the first of what it needs was done. It waits for the last: the larger round.",
    ),
    (
        _one_by_one,
        "One cell after the other, as a single worker would. In a round all cells are computed whose inputs are there.",
    ),
)


def judge_rounds(arguments, result):
    """A Slip, or None for the earliest rounds."""
    directions, steps = arguments
    right = earliest_rounds(directions, steps)
    shapes = [part.shape for part in right]
    wanted = f"{len(right)} arrays, of shapes {', '.join(map(str, shapes))}"
    try:
        said = [np.asarray(part) for part in result]
    except (TypeError, ValueError, OverflowError):
        said = []
    numbers = all(part.dtype.kind in "iuf" for part in said)
    if type(result) not in (list, tuple) or [part.shape for part in said] != shapes or not numbers:
        cause = "A list is asked for, with an array (directions, steps) for each layer."
        return Slip("type", wanted, cause, types_of(result)[:120])
    wrong = [k for k, pair in enumerate(zip(said, right, strict=True)) if not np.array_equal(*pair)]
    if not wrong:
        return None
    layer = wrong[0]
    way, t = (int(k) for k in np.argwhere(said[layer] != right[layer])[0])
    cell = f"layer {layer}, {('forwards', 'backwards')[way]}, step {t}"
    expected, got = (f"{cell}: round {part[layer][way, t]:g}" for part in (right, said))
    for formula, cause in ROUNDS:
        if all(map(np.array_equal, said, formula(directions, steps))):
            return Slip("rounds", expected, cause, got)
    if any((part < 1).any() for part in said):
        return Slip("rounds", expected, "The first round has the number 1, not 0; and no cell is left out.", got)
    cause = (
        "What does this cell need? Its own direction's step before it, if there is one, and step "
        f"{t} of every direction of the layer below. When is the last of these done?"
    )
    return Slip("cell", expected, cause, got)


WAVEFRONT = FunctionTask(
    id="10-wavefront",
    section=Section("10.2", "10_lstm", "Layers as a wavefront"),
    title="Where a wave breaks",
    objective="Compute the earliest round of each cell of a network with layers of one direction and of two",
    points=3,
    minutes=15,
    judge=judge_rounds,
    cases=(
        rounds_case("two over one", [1, 2], 4),
        rounds_case("both directions", [2], 4),
        rounds_case("a wave", [1, 1, 1], 5),
        rounds_case("two over two", [2, 2], 4),
        rounds_case("one over two", [2, 1], 5),
        rounds_case("mixed", [1, 2, 2, 1, 1], 3),
        rounds_case("one cell", [1], 1),
    ),
    advice={
        "raised-IndexError": "Step 0 has no step before it forwards, the last step has none backwards, and layer 0 has "
        "no layer below: their inputs are there from the start.",
        "raised-ValueError": "Two shapes do not fit. The array of a layer has its own number of directions: 1 or 2 "
        "rows.",
    },
    hints=(
        "Draw layers [2, 1] with three steps. In which round is the input of the upper layer's step 0 complete?",
        "A cell can be computed one round after the last of what it needs. Go through the layers from below, and "
        "through each direction in its own order.",
        "Keep the rounds of the layer below. For each direction begin with 0 before its first step; each cell is 1 "
        "more than the larger of two numbers: that of the step before, and the largest of column t below.",
    ),
)
