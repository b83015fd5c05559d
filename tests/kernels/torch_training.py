"""What PyTorch makes of random steps of optimisers and batch normalisations, as a record: the tests need no PyTorch.

    python tests/kernels/torch_training.py      makes torch_training.json again; needs torch 2.13.0

Inputs come from a formula. All is computed in float64; of each result sums are kept (torch_attention.sums).
"""

import json
import random
from pathlib import Path

import numpy as np

try:
    from .torch_attention import sums
    from .torch_references import TORCH, whole_numbers
except ImportError:  # as a script
    from torch_attention import sums
    from torch_references import TORCH, whole_numbers

FILE = Path(__file__).with_suffix(".json")
STEPS = 4
SHAPES = ((3, 4), (5,), (), (2, 1, 3))
COUNTS = {"sgd": 40, "adam": 30, "adamw": 30, "clip_grad_norm": 20, "batch_norm": 60}


# ---- inputs: what the tests use, too -----------------------------------------------------------------------------


def arrays(seed):
    """An array of each shape."""
    return tuple(np.asarray(whole_numbers(shape, seed + 10 * k) / 8) for k, shape in enumerate(SHAPES))


def options(case):
    chosen = {key: value for key, value in case.items() if key not in ("name", "shape", "given", "results", "seed")}
    return {key: tuple(value) if isinstance(value, list) else value for key, value in chosen.items()}


def normalised(case):
    """(input, what arrives at the result, running_mean, running_var, weight or None, bias or None)."""
    shape, channels = case["shape"], case["shape"][1:2]
    x, grad = whole_numbers(shape, case["seed"]) / 8 + case["given"]["mean"], whole_numbers(shape, case["seed"] + 1) / 8
    running = whole_numbers(channels, 3) / 8, np.abs(whole_numbers(channels, 4)) / 4
    weight, bias = (
        whole_numbers(channels, k) / 4 if case["given"][n] else None for k, n in ((5, "weight"), (6, "bias"))
    )
    return x, grad, *running, weight, bias


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))["cases"]


# ---- making the record ---------------------------------------------------------------------------------------------


def a_case(draw, name):
    case = {"name": name, "seed": draw.randrange(1000)}
    if name == "sgd":
        momentum = draw.choice([0.0, 0.5, 0.9])
        nesterov = momentum > 0 and draw.random() < 0.4
        dampening = draw.choice([0.0, 0.3]) if momentum and not nesterov else 0.0
        case |= {"lr": draw.choice([0.1, 1e-3]), "momentum": momentum, "dampening": dampening, "nesterov": nesterov}
        return case | {"weight_decay": draw.choice([0.0, 0.01, 0.3])}
    if name in ("adam", "adamw"):
        case |= {"lr": draw.choice([0.1, 1e-3]), "betas": draw.choice([[0.9, 0.999], [0.5, 0.9], [0.0, 0.99]])}
        return case | {"eps": draw.choice([1e-8, 1e-3]), "weight_decay": draw.choice([0.0, 0.01, 0.3])}
    if name == "clip_grad_norm":
        return case | {"max_norm": draw.choice([0.0, 0.5, 2.0, 1000.0])}
    shape = draw.choice([[7, 3], [2, 1], [4, 3, 5], [3, 4, 2, 3], [2, 17, 3, 3], [1, 2, 3, 4]])
    given = {"weight": draw.random() < 0.7, "bias": draw.random() < 0.7, "mean": draw.choice([0, 0, 1000])}
    case |= {"shape": shape, "given": given, "training": draw.random() < 0.7}
    return case | {"momentum": draw.choice([0.1, 0.9]), "eps": draw.choice([1e-5, 0.1])}


def stepped(case):
    """[sums of all parameters and states after the last step]."""
    import torch

    params = [torch.nn.Parameter(torch.from_numpy(x)) for x in arrays(case["seed"])]
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[case["name"]]
    optimizer = kind(params, **options(case))
    for step in range(STEPS):
        for p, g in zip(params, arrays(case["seed"] + 100 * (step + 1)), strict=True):
            p.grad = torch.from_numpy(g)
        optimizer.step()
    names = ("momentum_buffer",) if case["name"] == "sgd" else ("exp_avg", "exp_avg_sq")
    states = [optimizer.state[p][name] for name in names for p in params if optimizer.state[p].get(name) is not None]
    return [sums(x.detach().numpy()) for x in (*params, *states)]


def clipped(case):
    import torch

    params = [torch.nn.Parameter(torch.from_numpy(x)) for x in arrays(case["seed"])]
    for p, g in zip(params, arrays(case["seed"] + 100), strict=True):
        p.grad = torch.from_numpy(g)
    norm = torch.nn.utils.clip_grad_norm_(params, case["max_norm"])
    return [sums(norm.numpy()), *(sums(p.grad.numpy()) for p in params)]


def of_batch(case):
    """[sums of the result, of both running statistics, of the gradients]."""
    import torch

    x, grad, mean, var, weight, bias = (None if y is None else torch.from_numpy(y) for y in normalised(case))
    moving = [y.requires_grad_() for y in (x, weight, bias) if y is not None]
    result = torch.nn.functional.batch_norm(x, mean, var, weight, bias, **options(case))
    result.backward(grad)
    return [sums(y.detach().numpy()) for y in (result, mean, var, *(y.grad for y in moving))]


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, f"torch is {torch.__version__}; the record is made with {TORCH}"
    draw, makers = random.Random(12), {"clip_grad_norm": clipped, "batch_norm": of_batch}
    cases = [a_case(draw, name) for name, count in COUNTS.items() for _ in range(count)]
    found = [case | {"results": makers.get(case["name"], stepped)(case)} for case in cases]
    lines = ",\n".join(map(json.dumps, found))
    FILE.write_text(f'{{"torch": "{TORCH}",\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(found)} cases")


if __name__ == "__main__":
    main()
