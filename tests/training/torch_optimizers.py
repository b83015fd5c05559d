"""What PyTorch's optimizers make of weights in 8 steps, as a record: who runs the tests needs no PyTorch.

    python tests/training/torch_optimizers.py      makes torch_optimizers.json again; needs torch 2.13.0

Weights and gradients come from a formula, in float64. One weight has no gradient in some steps: it is left alone there.
"""

import json
from pathlib import Path

from torch_networks import TORCH, numbers

FILE = Path(__file__).with_suffix(".json")
STEPS, SHAPES = 8, ((3, 4), (5,), ())
CASES = [
    ["SGD", {"lr": 0.1}],
    ["SGD", {"lr": 0.1, "momentum": 0.9}],
    ["SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.1}],
    ["SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True, "weight_decay": 0.1}],
    ["Adam", {"lr": 0.1}],
    ["Adam", {"lr": 0.1, "betas": [0.8, 0.9], "eps": 0.01, "weight_decay": 0.1}],
    ["AdamW", {"lr": 0.1}],
    ["AdamW", {"lr": 0.1, "betas": [0.8, 0.9], "eps": 0.01, "weight_decay": 0.2}],
]


def gradient(step, which):
    """That of a weight in a step, or None."""
    return None if which == 1 and step in (0, 3, 4) else numbers(SHAPES[which], 10 * step + which)


def options(case):
    return {name: tuple(value) if isinstance(value, list) else value for name, value in case[1].items()}


def rate(step):
    """What the learning rate is multiplied by: it changes on the way."""
    return 1 if step < 5 else 0.5


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


def answer(case):
    import torch

    weights = [torch.nn.Parameter(torch.tensor(numbers(shape, k))) for k, shape in enumerate(SHAPES)]
    optimizer = getattr(torch.optim, case[0])(weights, **options(case))
    norms = []
    for step in range(STEPS):
        for k, weight in enumerate(weights):
            grad = gradient(step, k)
            weight.grad = None if grad is None else torch.tensor(grad)
        optimizer.param_groups[0]["lr"] = case[1]["lr"] * rate(step)
        norms.append(float(torch.nn.utils.clip_grad_norm_(weights, 1.5)))
        optimizer.step()
    return {"norms": norms, "weights": [weight.detach().numpy().tolist() for weight in weights]}


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, torch.__version__
    lines = ",\n".join(json.dumps(answer(case), separators=(",", ":")) for case in CASES)
    FILE.write_text(f'{{"torch": "{TORCH}", "answers": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
