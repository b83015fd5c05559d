"""14-tensor: Two layers, cut among workers."""

import numpy as np

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...events import Events, Played
from ...kinds.scenario import ScenarioTask
from .shared import CUTTING, all_reduces, at_once, not_shared, processes

NAMES = "y", "grad_x", "grad_w1", "grad_w2", "grad_b2"


def play_tensor(layers, x, w1, w2, b2, grad, n):
    """Worker k has the k-th part of the hidden features: rows of w1, columns of w2."""
    events, ends = Events(), all_reduces(n)
    times, numbers = [0] * n, [0] * n
    programs, problem = processes(layers, n)
    if problem:
        return Played(problem, events.counts())
    w1s, w2s = np.split(w1, n, axis=0), np.split(w2, n, axis=1)

    def work(rank):
        def all_reduce(data):
            times[rank] += 1
            numbers[rank] += np.size(data)
            return ends[rank](data)

        arguments = (x, w1s[rank], w2s[rank], b2, grad)
        return programs[rank](rank, n, *(a.copy() for a in arguments), all_reduce)

    found = at_once(n, work)
    events.add("all-reduces", max(times))
    events.add("numbers that are all-reduced", max(numbers))
    return Played({"found": found, "brought": min(numbers)}, events.counts())


def parts_of(x, w1, w2, b2, grad, n, mask=True):
    """{name: [what worker k has by itself]} before anything is added up, in float64."""
    found = {name: [] for name in NAMES}
    for v1, v2 in zip(np.split(w1, n, axis=0), np.split(w2, n, axis=1), strict=True):
        z = x @ v1.T
        h = np.maximum(z, 0)
        back = (grad @ v2) * ((z > 0) if mask else 1)
        for name, part in zip(NAMES, (h @ v2.T, back @ v1, back.T @ x, grad.T @ h, grad.sum(axis=0)), strict=True):
            found[name].append(part)
    return found


def judge_tensor(arguments, result):
    if slip := not_shared(result, "all_reduce"):
        return slip
    b2, n = arguments[3], arguments[5]
    parts = parts_of(*arguments)
    right = {name: [sum(of)] * n if name in ("y", "grad_x") else of for name, of in parts.items()}
    right["y"] = [y + b2 for y in right["y"]]
    for rank, said in enumerate(result["found"]):
        if not isinstance(said, list | tuple) or len(said) != 5:
            return Slip("type", f"five arrays: {', '.join(NAMES)}", "Each worker returns all five.", short(said))
        for name, got in zip(NAMES, said, strict=True):
            wanted = right[name][rank]
            expected = f"{name} of worker {rank}: {_shown(wanted)}"
            if not isinstance(got, np.ndarray) or got.shape != wanted.shape:
                said = f"shape {got.shape}" if isinstance(got, np.ndarray) else short(got)
                cause = f"{name} has the shape of what it is the gradient of, of the worker's own part."
                if name == "y":
                    cause = "y has a row for each row of x and a number for each output, in each worker."
                return Slip("shape", f"{name} of shape {wanted.shape}", cause, said)
            if not np.allclose(got, wanted, rtol=1e-9, atol=1e-9):
                return _wrong(name, rank, got, expected, parts, arguments)
    least = (len(arguments[0]) * (arguments[0].shape[1] + len(b2))) if n > 1 else 0
    if result["brought"] < least:
        cause = (
            "Workers are processes: what one knows comes to another by `all_reduce` alone, not through a variable that "
            "both see."
        )
        return Slip(
            "shared", f"at least {least} numbers brought to `all_reduce` by each worker", cause, f"{result['brought']}"
        )
    return None


def _wrong(name, rank, got, expected, parts, arguments):
    x, w1, w2, b2, grad, n = arguments
    said = f"{name} of worker {rank}: {_shown(got)}"
    own_part, all_of = parts[name][rank], sum(parts[name])
    no_mask = parts_of(*arguments, mask=False)

    def like(mistaken):
        return np.shape(mistaken) == got.shape and np.allclose(got, mistaken, rtol=1e-9, atol=1e-9)

    known = [
        ("not-reduced", own_part, "This is the worker's own part of the sum. Each hidden feature adds to all of it: it "
                                  "has to be all-reduced."),
        ("times-n", n * own_part, "This is as many times too large as there are workers: it is the same in each of "
                                  "them, or added up twice."),
        ("times-n", n * all_of, "This is as many times too large as there are workers: it was all-reduced twice."),
    ]  # fmt: skip
    if name == "y":
        known += [
            ("bias-n", all_of + n * b2, "The bias was added in each worker, and then all-reduced: it counts n times. "
                                        "It is added to the sum."),
            ("no-bias", all_of, "The bias is missing."),
            ("mean", all_of / n + b2, "The parts of y were averaged. Each hidden feature adds to y: it is their sum."),
            ("not-reduced", own_part + b2, "This is the worker's own part of the sum. Each hidden feature adds to all "
                                           "of it: it has to be all-reduced."),
            ("no-relu", x @ w1.T @ w2.T + b2, "ReLU is missing between the two layers."),
            ("relu-late", np.maximum(x @ w1.T @ w2.T, 0) + b2, "ReLU stands between the two layers, on the hidden "
                                                               "features."),
        ]  # fmt: skip
    elif name in ("grad_x", "grad_w1"):
        unmasked, unmasked_part = sum(no_mask[name]), no_mask[name][rank]
        cause = (
            "Where ReLU gave 0 it passes no gradient on: multiply by the hidden features that are above 0, before `w1`."
        )
        known += [("no-mask", unmasked, cause), ("no-mask", unmasked_part, cause)]
    if name == "grad_x":
        known += [
            (
                "mean",
                all_of / n,
                "The parts were averaged. Each hidden feature adds to the gradient of x: it is their sum.",
            )
        ]
    if name in ("grad_w1", "grad_w2", "grad_b2"):
        cause = (
            "These are gradients of different weights in each worker, added up. A worker's part belongs to it alone."
            if name != "grad_b2"
            else "Each worker has the whole gradient of y, so it has the whole gradient of the bias: adding up counts "
            "it n times."
        )
        known = [("reduced", all_of, cause), *(slip for slip in known if slip[0] != "not-reduced")]
    if name == "grad_b2":
        known += [("mean", grad.mean(axis=0), "The sum over the rows: grad is the gradient of y already.")]
    for kind, mistaken, cause in known:
        if not (n == 1 and kind in ("reduced", "times-n", "not-reduced")) and like(mistaken):
            return Slip(kind, expected, cause, said)
    causes = {
        "y": "relu(x @ w1.T) is the worker's part of the hidden features; times w2.T it is the worker's part of y.",
        "grad_x": "The gradient of the hidden features is grad @ w2, where they are above 0; times w1 it is the "
        "worker's part of grad_x.",
        "grad_w1": "The gradient of the hidden features, transposed, times x.",
        "grad_w2": "grad, transposed, times the hidden features.",
        "grad_b2": "The sum of grad over its rows.",
    }
    return Slip("formula", expected, causes[name], said)


def _shown(x):
    return np.array2string(np.ravel(x), threshold=6, precision=4, max_line_width=200) + f", shape {np.shape(x)}"


def network(rows, ins, hidden, outs, n):
    """make(rng) -> x, w1 (hidden, ins), w2 (outs, hidden), b2, the gradient of y, and the number of workers;
    float64."""

    def make(rng):
        shapes = (rows, ins), (hidden, ins), (outs, hidden), (outs,), (rows, outs)
        return (*(rng.uniform(-1, 1, shape) for shape in shapes), n)

    return make


TENSOR = ScenarioTask(
    id="14-tensor",
    section=Section("14.3", CUTTING, "The layers"),
    title="Two layers, cut among workers",
    objective="Write a pair of tensor-parallel linear layers with its backward pass, with one all-reduce in each "
    "direction",
    points=4,
    minutes=25,
    scenario=play_tensor,
    judge=judge_tensor,
    cases=(
        Case("2 workers, 3 hidden features each", network(5, 4, 6, 2, 2)),
        Case("3 workers, 1 hidden feature each", network(5, 4, 3, 3, 3)),
        Case("4 workers, more outputs than inputs", network(2, 2, 8, 5, 4)),
        Case("1 worker", network(3, 2, 4, 1, 1)),
    ),
    advice={
        "deadlock": "A worker waits in `all_reduce` for others that do not come: all workers have to call it equally "
        "often. Does a call depend on the rank?",
        "raised-ValueError": "Do the shapes fit? A worker's x is (rows, ins), w1 (part, ins), w2 (outs, part), grad "
        "(rows, outs), where part is hidden / n. What is all-reduced has one shape in all workers.",
    },
    budget=Budget(
        points=1,
        text="two all-reduces, of rows x (ins + outs) numbers: 40 for 4 rows, 6 inputs and 4 outputs",
        require={"all-reduces": 2, "numbers that are all-reduced": 40},
        over="The results are right, but more is sent than needed. Hidden features stay where they are, and so do the "
        "gradients of w1, w2 and b2. What is a sum over all hidden features?",
        case=Case("2 workers, 4 rows, 6 inputs, 4 outputs", network(4, 6, 8, 4, 2)),
    ),
    hints=(
        "Which of the five results is a sum over all hidden features, of which a worker has only a part? Which are "
        "whole already, and which belong to the worker alone?",
        "Forward: the worker's hidden features, ReLU, its part of y, all-reduce, and then the bias. Backward: grad is "
        "whole, so the gradient of the worker's hidden features is whole, too.",
        "back = grad @ w2, zero where the hidden features are 0. grad_w1 is back, transposed, times x; grad_w2 is "
        "grad, transposed, times the hidden features; only back @ w1 is all-reduced. grad_b2 is grad's sum over the "
        "rows.",
    ),
)
