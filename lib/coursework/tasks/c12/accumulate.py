"""12-accumulate: A batch that does not fit."""

import numpy as np

from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.scenario import ScenarioTask


def play_accumulate(accumulate, x, t, most):
    """Run `accumulate(gradient, x, t, most)` with a gradient that has memory for `most` rows, and uses it again."""
    events, room, slips = Events(), np.zeros(x.shape[1]), []

    def gradient(x, t):
        if np.ndim(x) != 2 or np.ndim(t) != 1:
            slips.append(
                f"called with x of {np.ndim(x)} dimensions and t of {np.ndim(t)}; a single row is x[k : k + 1]"
            )
            return room
        if len(x) != len(t) or not 0 < len(x):
            slips.append(f"called with {len(x)} rows of x and {len(t)} of t")
            return room
        if len(x) > most:
            slips.append(f"out of memory: {len(x)} rows, where {most} fit")
            return room
        events.add("calls")
        room[:] = mean_gradient(x, t)
        return room

    found = accumulate(gradient, x, t, most)
    return Played({"found": found, "slips": slips[:1]}, events.counts())


def mean_gradient(x, t):
    """The gradient of the mean of (x @ w - t)^2 / 2, where w is 0 but for its first number, 1."""
    return ((x[:, 0] - t)[:, None] * x).mean(axis=0)


def _parts(x, t, most):
    return [(x[k : k + most], t[k : k + most]) for k in range(0, len(x), most)]


def judge_accumulate(arguments, result):
    x, t, most = arguments
    found, slips = result["found"], result["slips"]
    right, parts = mean_gradient(x, t), _parts(x, t, most)
    expected = f"the mean gradient of {len(x)} rows, as {np.array2string(right, precision=4)}"
    if slips:
        memory = slips[0].startswith("out")
        cause = (
            "`gradient` has memory for `most` rows. Cut x and t in parts that have no more."
            if memory
            else "Each part of x needs the same part of t, and at least one row."
        )
        return Slip(
            "memory" if memory else "part", f"1 to {most} rows in each call, as many of t as of x", cause, slips[0]
        )
    if not isinstance(found, np.ndarray) or found.shape != right.shape:
        got = f"shape {found.shape}" if isinstance(found, np.ndarray) else None
        return Slip("type", f"an array of shape {right.shape}", "Return one gradient, an array.", got or "")
    if np.allclose(found, right, rtol=1e-9, atol=1e-12):
        return None
    means = [mean_gradient(*part) for part in parts]
    sizes = [len(part[0]) for part in parts]
    full = [k for k, size in enumerate(sizes) if size == most]
    n = len(x)
    slips = (
        (
            "alias",
            len(parts) * means[-1] * (sizes[-1] / n if len(set(sizes)) > 1 else 1 / len(parts)),
            "`gradient` uses its memory again: what it returned before holds the new numbers now. Add to an array of "
            "your own.",
        ),
        ("alias", 2 * means[-1], "`gradient` uses its memory again. Add to an array of your own."),
        (
            "sum",
            sum(means),
            "These are the gradients added up. The loss of all rows is a mean, and so is its gradient.",
        ),
        (
            "unweighted",
            sum(means) / len(parts),
            "This is the mean of the parts' means. The last part has fewer rows than the others, and counted as much: "
            "weigh each by its rows.",
        ),
        ("last", means[-1], "This is the gradient of the last part alone: they are added up."),
        ("last", means[-1] * sizes[-1] / n, "This is the gradient of the last part alone: they are added up."),
        ("first", means[0], "This is the gradient of the first part alone. Go through all rows, in steps of `most`."),
        ("not-divided", right * n, "Each part was multiplied by its rows, and the sum was not divided by all rows."),
        (
            "tail",
            sum((means[k] * most for k in full), np.zeros_like(right)) / n,
            "The last rows are missing: they make a part that is not full.",
        ),
        (
            "tail",
            sum((means[k] for k in full), np.zeros_like(right)) / max(len(full), 1),
            "The last rows are missing: they make a part that is not full.",
        ),
        ("wrong-weight", sum(means) * most / n, "Each part was weighed by `most`. The last one has fewer rows."),
    )
    cause = "Work out two parts by hand: what does `gradient` return for each, and how many rows stand behind it?"
    kind, cause = next(
        ((kind, words) for kind, mistaken, words in slips if np.allclose(found, mistaken, rtol=1e-9)),
        ("wrong-result", cause),
    )
    return Slip(kind, expected, cause, np.array2string(found, precision=4))


def rows(n, most, width=3):
    return lambda rng: (rng.integers(-4, 5, (n, width)).astype(float), rng.integers(-3, 4, n).astype(float), most)


ACCUMULATE = ScenarioTask(
    id="12-accumulate",
    section=Section("12.2", "12_step", "A larger batch"),
    title="A batch that does not fit",
    objective="Write gradient accumulation that gives the gradient of the whole batch, ragged parts included",
    points=2,
    minutes=15,
    scenario=play_accumulate,
    judge=judge_accumulate,
    cases=(
        Case("8 rows, 4 fit", rows(8, 4)),
        Case("10 rows, 4 fit", rows(10, 4)),
        Case("3 rows, 8 fit", rows(3, 8)),
        Case("7 rows, 1 fits", rows(7, 1, 2)),
        Case("65 rows, 64 fit", rows(65, 64, 5)),
    ),
    budget=Budget(
        points=1,
        text="no more calls of gradient than needed",
        require={"calls": 9},
        over="The gradient is right, but the parts are smaller than they may be: each call is a forward and a backward "
        "pass.",
        case=Case("100 rows, 12 fit", rows(100, 12)),
    ),
    advice={
        "raised-ValueError": "Do the shapes fit? `gradient` returns an array with a number for each column of x.",
        "raised-IndexError": "A slice that goes beyond the end is cut by itself: x[k : k + most].",
    },
    hints=(
        "The loss is a mean over all rows. What must a part's mean be multiplied by, before the parts are added?",
        "Go through the rows in steps of `most`; each part's gradient counts by its rows. What it returns belongs to "
        "`gradient`: the next call writes over it.",
        "Begin with zeros of your own, as many as x has columns. Add to it, for each part, its gradient times its "
        "rows, divided by all rows.",
    ),
)
