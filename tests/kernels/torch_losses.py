"""What PyTorch makes of random losses and embeddings, as a record: who runs the tests needs no PyTorch.

    python tests/kernels/torch_losses.py      makes torch_losses.json again; needs torch 2.13.0

As in torch_attention.py: inputs come from a formula, all is computed in float64, and of each result and gradient three
sums of its elements are kept. What PyTorch refuses is kept, too.
"""

import json
import math
import random
from pathlib import Path

import numpy as np

try:
    from .torch_attention import arriving, sums
    from .torch_references import TORCH, whole_numbers
except ImportError:  # as a script
    from torch_attention import arriving, sums
    from torch_references import TORCH, whole_numbers

FILE = Path(__file__).with_suffix(".json")
COUNTS = {"cross_entropy": 120, "mse_loss": 24, "embedding": 60}
REDUCTIONS = ("none", "mean", "sum")


# ---- inputs: what the tests use, too ---------------------------------------------------------------------------------


def indices(shape, seed, below):
    return whole_numbers(shape, seed, 1 << 20).astype(np.int64) % below


def inputs(case):
    """(positional arrays, options) of a recorded call."""
    arrays, options = _inputs(case)
    return [np.asarray(x) for x in arrays], options


def _inputs(case):
    name, shape = case["name"], case["shape"]
    if name == "cross_entropy":
        classes = shape[1] if len(shape) > 1 else shape[0]
        target = indices([shape[0], *shape[2:]] if len(shape) > 1 else [], 2, classes)
        odd = whole_numbers(target.shape, 3, 9)
        target = np.where(odd > case["ignored_above"], case["ignore_index"], target)
        if case["wrong"] is not None:
            target.reshape(-1)[0] = case["wrong"]
        x = whole_numbers(shape, 1) * case["factor"]
        return (x, target), {key: case[key] for key in ("ignore_index", "reduction", "label_smoothing")}
    if name == "mse_loss":
        return (whole_numbers(shape, 1) / 4, whole_numbers(shape, 2) / 8), {"reduction": case["reduction"]}
    input, weight = indices(shape, 1, case["rows"]), whole_numbers([case["rows"], case["width"]], 2) / 4
    if case["wrong"] is not None:
        input.reshape(-1)[0] = case["wrong"]
    return (input, weight), {"padding_idx": case["padding_idx"]}


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


# ---- making the record -----------------------------------------------------------------------------------------------


def a_loss(draw):
    shape = draw.choice([[1], [6], [1, 1], [3, 5], [8, 1], [17, 65], [40, 10], [2, 7, 3], [3, 2, 4, 5], [1, 300]])
    shape = [0, 4] if draw.random() < 0.03 else shape
    classes = shape[1] if len(shape) > 1 else shape[0]
    wrong = draw.choice([classes, -1, -7]) if math.prod(shape) and draw.random() < 0.08 else None
    return {
        "shape": shape,
        "factor": draw.choice([0.25, 1, 1, 30, 5000]),
        "ignored_above": draw.choice([9, 9, 5, 0, -10]),  # -10: all are
        "ignore_index": draw.choice([-100, -100, 0, 2]),
        "reduction": draw.choice(REDUCTIONS),
        "label_smoothing": draw.choice([0.0, 0.0, 0.1, 0.5, 1.0]),
        "wrong": wrong,
    }


def a_difference(draw):
    return {"shape": draw.choice([[], [0], [1], [7], [3, 5], [2, 3, 4]]), "reduction": draw.choice(REDUCTIONS)}


def a_table(draw):
    rows, shape = draw.choice([1, 2, 9, 103]), draw.choice([[], [0], [1], [30], [4, 5], [2, 3, 2]])
    padding = draw.choice([None, 0, rows - 1, -1, -rows, rows if draw.random() < 0.3 else None])
    wrong = draw.choice([rows, -1]) if math.prod(shape) and draw.random() < 0.1 else None
    return {"shape": shape, "rows": rows, "width": draw.choice([1, 4, 33]), "padding_idx": padding, "wrong": wrong}


MAKE = {"cross_entropy": a_loss, "mse_loss": a_difference, "embedding": a_table}


def answered(case):
    """The case with what PyTorch makes of it."""
    import torch

    arrays, options = inputs(case)
    given = [torch.from_numpy(np.array(x)) for x in arrays]
    moving = [x.requires_grad_() for x in given if x.is_floating_point()]
    try:
        result = getattr(torch.nn.functional, case["name"])(*given, **options)
    except (IndexError, RuntimeError, ValueError, AssertionError):
        return case | {"refused": True}
    result.backward(torch.from_numpy(np.array(arriving(tuple(result.shape)))))
    gradients = [sums(x.grad.numpy()) for x in moving]
    return case | {"of_shape": list(result.shape), "result": sums(result.detach().numpy()), "gradients": gradients}


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, f"torch is {torch.__version__}; the record is made with {TORCH}"
    draw = random.Random(12)
    found = [answered({"name": name} | MAKE[name](draw)) for name, count in COUNTS.items() for _ in range(count)]
    lines = ",\n".join(map(json.dumps, found))
    FILE.write_text(f'{{"torch": "{TORCH}",\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(found)}, {sum('refused' in case for case in found)} of them refused")


if __name__ == "__main__":
    main()
