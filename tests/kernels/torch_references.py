"""What PyTorch makes of random convolutions and poolings, as a record: who runs the tests needs no PyTorch.

    python tests/kernels/torch_references.py     makes torch_references.json again; needs torch 2.13.0

Inputs are small whole numbers that a formula gives. Their products add up without rounding, in any order: each result
is the same everywhere, and three sums of its elements, two of them with weights, tell it from all others that we may
make. What PyTorch refuses is kept, too. Pixels of means are multiples of all lengths that a window has.
"""

import json
import math
import random
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
TORCH = "2.13.0"
COUNTS = {"conv2d": 900, "max_pool2d": 250, "avg_pool2d": 200, "adaptive_max_pool2d": 60, "adaptive_avg_pool2d": 60}
DIVISIBLE = 360360  # by all numbers to 13: a mean of multiples of its square is a whole number


# ---- inputs and sums: what the tests use, too --------------------------------------------------------------------


def whole_numbers(shape, seed, most=4):
    """An array of whole numbers from -most to most, in float64."""
    scrambled = (np.arange(math.prod(shape), dtype=np.uint64) + np.uint64(7919 * seed + 1)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    scrambled = (scrambled ^ scrambled >> np.uint64(31)) * np.uint64(0xBF58476D1CE4E5B9)
    return ((scrambled >> np.uint64(33)) % np.uint64(2 * most + 1)).astype(np.float64).reshape(shape) - most


def sums(result):
    """The sum of an array of whole numbers, and two of them times weights from 1 to 97 and 89, none of them zero."""
    numbers = np.asarray(result).reshape(-1)
    exact = numbers.astype(np.int64)
    assert (exact == numbers).all(), "not whole numbers"
    places = np.arange(exact.size, dtype=np.int64)
    return [
        int(exact.sum()),
        *(int((exact * ((places * step) % prime + 1)).sum()) for step, prime in ((31, 97), (17, 89))),
    ]


def told(result):
    """What the record keeps of a result."""
    return {"shape": list(result.shape), "sums": sums(result)}


def inputs(case):
    """(x, weight, bias or None) of a recorded convolution."""
    bias = None if case["bias"] is None else whole_numbers(case["bias"], 3)
    return whole_numbers(case["x"], 1), whole_numbers(case["weight"], 2), bias


def pixels(case, mean):
    """The pictures of a recorded pooling, and what may arrive at the result when their gradient is computed."""
    factor = DIVISIBLE**2 if mean else 1
    return factor * whole_numbers(case["x"], 5), lambda shape: factor * whole_numbers(shape, 6)


def options(case):
    """Its arguments beside arrays; two numbers as a tuple."""
    chosen = (
        item
        for item in case.items()
        if item[0] not in ("x", "weight", "bias", "result", "indices", "gradients", "refused")
    )
    return {name: tuple(value) if isinstance(value, list) else value for name, value in chosen}


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


# ---- making the record ---------------------------------------------------------------------------------------------


def one_or_two(draw, *choices):
    """A choice for both axes, or one for each."""
    return draw.choice(choices) if draw.random() < 0.6 else [draw.choice(choices), draw.choice(choices)]


def a_convolution(draw):
    """Random parameters of all kinds. Most of them fit together."""
    groups = draw.choice([1, 1, 1, 2, 3, 4])
    ins, outs = draw.choice([1, 1, 2, 3, 5]), draw.choice([1, 2, 3, 6])
    kernel = [draw.choice([1, 1, 2, 3, 3, 4, 5, 7]) for _ in range(2)]
    if draw.random() < 0.5:
        kernel[1] = kernel[0]
    picture = [draw.choice([1, 2, 3, 5, 6, 8, 9, 13]) for _ in range(2)]
    if draw.random() < 0.1:
        picture = list(kernel)
    padding = draw.choice(["same", "valid"]) if draw.random() < 0.25 else one_or_two(draw, 0, 0, 1, 1, 2, 3)
    stride = 1 if padding == "same" and draw.random() < 0.8 else one_or_two(draw, 1, 1, 1, 2, 3, 5)
    batch = draw.choice([[], [0], [1], [2], [3]])
    case = {
        "x": [*batch, ins * groups, *picture],
        "weight": [outs * groups, ins, *kernel],
        "bias": [outs * groups] if draw.random() < 0.5 else None,
        "stride": stride,
        "padding": padding,
        "dilation": one_or_two(draw, 1, 1, 1, 2, 3),
        "groups": groups,
    }
    if draw.random() < 0.06:
        spoil(draw, case)
    return case


def spoil(draw, case):
    """Make one parameter impossible."""
    name, value = draw.choice(
        [("groups", 0), ("groups", case["groups"] + 1), ("stride", 0), ("padding", -1), ("padding", "full"),
         ("bias", [case["weight"][0] + 1]), ("weight", [case["weight"][0], case["weight"][1] + 1, *case["weight"][2:]])]
    )  # fmt: skip
    case[name] = value


def a_window(draw):
    """Random parameters of a pooling."""
    batch = draw.choice([[], [0], [1], [2]])
    kernel = one_or_two(draw, 1, 2, 2, 3, 3, 4, 5)
    return {
        "x": [*batch, draw.choice([1, 2, 3]), draw.choice([1, 2, 5, 6, 9]), draw.choice([1, 3, 4, 8, 11])],
        "kernel_size": kernel,
        "stride": None if draw.random() < 0.3 else one_or_two(draw, 1, 2, 3, 4),
        "padding": one_or_two(draw, 0, 0, 1, 1, 2),
        "ceil_mode": draw.random() < 0.4,
    }


def a_maximum(draw):
    return a_window(draw) | {"dilation": one_or_two(draw, 1, 1, 1, 2, 3)}


def a_mean(draw):
    divisor = draw.choice([3, 7, -2]) if draw.random() < 0.2 else None
    return a_window(draw) | {"count_include_pad": draw.random() < 0.5, "divisor_override": divisor}


def shares(draw):
    sizes = [draw.choice([None, 1, 2, 3, 5, 8, 13]) for _ in range(2)]
    return {"x": a_window(draw)["x"], "output_size": sizes if draw.random() < 0.7 else draw.choice([1, 2, 7])}


def convolved(case):
    """The case with what PyTorch makes of it."""
    import torch

    x, weight, bias = (None if a is None else torch.from_numpy(a).requires_grad_() for a in inputs(case))
    try:
        result = torch.nn.functional.conv2d(x, weight, bias, **options(case))
    except RuntimeError:
        return case | {"refused": True}
    result.backward(torch.from_numpy(whole_numbers(result.shape, 4)))
    gradients = [told(a.grad.numpy()) for a in (x, weight, bias) if a is not None]
    return case | {"result": told(result.detach().numpy()), "gradients": gradients}


def pooled(name, case):
    """The same for a pooling; None where a dilated window has no pixel, for which PyTorch names one that does not
    exist."""
    import torch

    values, arriving = pixels(case, mean="avg" in name)
    x, more = torch.from_numpy(values).requires_grad_(), {}
    try:
        pool = getattr(torch.nn.functional, name)
        result = pool(x, **options(case))
        if "max" in name:
            more = {"indices": told(pool(x, **options(case), return_indices=True)[1].numpy())}
    except RuntimeError:
        return case | {"refused": True}
    if torch.isinf(result).any():
        return None
    result.backward(torch.from_numpy(arriving(result.shape)))
    return case | {"result": told(result.detach().numpy()), **more, "gradients": [told(x.grad.numpy())]}


def cases(name):
    make = {"conv2d": a_convolution, "max_pool2d": a_maximum, "avg_pool2d": a_mean}.get(name, shares)
    draw, found = random.Random(9), []
    while len(found) < COUNTS[name]:
        case = make(draw)
        case = convolved(case) if name == "conv2d" else pooled(name, case)
        found += [] if case is None else [case]
    return found


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, f"torch is {torch.__version__}; the record is made with {TORCH}"
    parts = []
    for name in COUNTS:
        found = cases(name)
        parts.append(f'"{name}": [\n' + ",\n".join(map(json.dumps, found)) + "\n]")
        print(f"{name}: {len(found)}, {sum('refused' in case for case in found)} of them refused")
    FILE.write_text(f'{{"torch": "{TORCH}",\n' + ",\n".join(parts) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
