"""What PyTorch makes of random attentions, as a record: who runs the tests needs no PyTorch.

    python tests/kernels/torch_attention.py      makes torch_attention.json again; needs torch 2.13.0

Inputs come from a formula. All is computed in float64; of each result three sums of its elements are kept, two of them
with weights, to twelve digits, and which elements are NaN. What PyTorch refuses is kept, too.
"""

import json
import random
from pathlib import Path

import numpy as np

try:
    from .torch_references import TORCH, whole_numbers
except ImportError:  # as a script
    from torch_references import TORCH, whole_numbers

FILE = Path(__file__).with_suffix(".json")
COUNT = 760
MASKS = ("which", "terms", "rows", "rows of terms")
ARGUMENTS = ("is_causal", "scale", "enable_gqa")


# ---- inputs and sums: what the tests use, too --------------------------------------------------------------------


def sums(result):
    """[number of NaN, where they are, the sum, two sums with weights]; infinite numbers are kept as they are."""
    line = np.asarray(result, np.float64).reshape(-1)
    places = np.arange(line.size)
    nan = np.isnan(line)
    finite = np.where(nan, 0, line)
    weights = [np.ones(line.size), *((places * step) % prime + 1.0 for step, prime in ((31, 97), (17, 89)))]
    return [int(nan.sum()), int((places * nan).sum()), *(float(f"{(finite * w).sum():.12g}") for w in weights)]


def inputs(case):
    """(q, k, v, mask or None) of a recorded attention."""
    q, k, v = (whole_numbers(case[name], seed) / 4 for seed, name in enumerate("qkv", 1))
    return q * case["factor"], k, v, mask_of(case)


def mask_of(case):
    kind, shape = case["kind"], case["mask"]
    if kind is None:
        return None
    numbers = whole_numbers(shape, 4)
    allowed = numbers > -3
    if kind.startswith("rows"):
        allowed[..., ::2, :] = False
    return np.where(allowed, numbers / 2, -np.inf) if kind.endswith("terms") else allowed


def options(case):
    return {name: case[name] for name in ARGUMENTS}


def arriving(shape):
    """What arrives at the result when gradients are computed."""
    return whole_numbers(shape, 5) / 4


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


# ---- making the record ---------------------------------------------------------------------------------------------


def a_case(draw):
    """Random parameters of all kinds. Most of them fit together."""
    lead = draw.choice([[], [1], [2], [3], [2, 3], [1, 2], [2, 2], [2, 1, 2]])
    queries, keys = (draw.choice([1, 1, 2, 3, 5, 8, 13, 17, 33, 70]) for _ in range(2))
    width = draw.choice([1, 2, 3, 4, 8, 16, 24])
    values = width if draw.random() < 0.7 else draw.choice([1, 3, 5, 12])
    group = draw.choice([2, 3]) if len(lead) == 2 and draw.random() < 0.5 else 1
    is_causal = draw.random() < 0.3
    kind = None if is_causal or draw.random() < 0.4 else draw.choice(MASKS)
    heads = [*lead[:-1], lead[-1] * group] if group > 1 else lead
    mask = draw.choice(
        [[*heads, queries, keys], [queries, keys], [1, keys], [queries, 1], [*[1] * len(lead), queries, keys]]
    )
    case = {
        "q": [*heads, queries, width],
        "k": [*lead, keys, width],
        "v": [*lead, keys, values],
        "kind": kind,
        "mask": mask if kind else None,
        "factor": draw.choice([1, 1, 1, 30, 5000, -5000]),
        "is_causal": is_causal,
        "scale": draw.choice([None, None, 1.0, 0.1, 2.0]),
        "enable_gqa": group > 1,
    }
    if draw.random() < 0.05:
        spoil(draw, case)
    return case


def spoil(draw, case):
    """Make it impossible.

    Not with fewer values than keys, or with a mask and is_causal: of its ways on a CPU, PyTorch 2.13 checks these in
    some.
    """
    if draw.random() < 0.5:
        case["k"][-1] += 1
    else:
        case |= {"kind": "which", "mask": [case["q"][-2], case["k"][-2] + 2], "is_causal": False}


def attended(case):
    """The case with what PyTorch makes of it."""
    import torch

    q, k, v = (torch.from_numpy(x).requires_grad_() for x in inputs(case)[:3])
    mask = inputs(case)[3]
    mask = None if mask is None else torch.from_numpy(mask)
    try:
        result = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, 0.0, **options(case))
    except (RuntimeError, ValueError):
        return case | {"refused": True}
    result.backward(torch.from_numpy(arriving(tuple(result.shape))))
    gradients = [sums(x.grad.numpy()) for x in (q, k, v)]
    return case | {"shape": list(result.shape), "result": sums(result.detach().numpy()), "gradients": gradients}


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, f"torch is {torch.__version__}; the record is made with {TORCH}"
    draw = random.Random(11)
    found = [attended(a_case(draw)) for _ in range(COUNT)]
    lines = ",\n".join(map(json.dumps, found))
    FILE.write_text(f'{{"torch": "{TORCH}",\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(found)}, {sum('refused' in case for case in found)} of them refused")


if __name__ == "__main__":
    main()
