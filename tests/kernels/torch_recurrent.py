"""What PyTorch makes of random recurrent networks, as a record: who runs the tests needs no PyTorch.

    python tests/kernels/torch_recurrent.py      makes torch_recurrent.json again; needs torch 2.13.0

Inputs come from a formula. All is computed in float64 by torch.nn.RNN, LSTM and GRU, padded batches by
pack_padded_sequence; of each result and gradient three sums are kept (torch_attention.sums).
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
EACH = 150
KINDS = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}  # gates


# ---- inputs: what the tests use, too -----------------------------------------------------------------------------


def inputs(case):
    """(x, [h0 or None, c0 if it is an LSTM], (w_ih, w_hh, b_ih, b_hh) as lists) of a recorded network."""
    hidden, gates = case["hidden"], KINDS[case["kind"]]
    directions = 2 if case["bidirectional"] else 1
    count = case["layers"] * directions
    x = (
        whole_numbers(shape_of(case), 1) / 3 + 0.0137
    )  # so that no sum is zero: PyTorch, too, then has one slope of relu
    batch = () if case["batch"] is None else (case["batch"],)
    states = [whole_numbers((count, *batch, hidden), 2 + k) / 5 for k in range(2 if case["kind"] == "lstm" else 1)]
    widths = [case["features"] if k < directions else directions * hidden for k in range(count)]
    w_ih = [whole_numbers((gates * hidden, width), 10 + k) / (4 * width) + 0.0071 for k, width in enumerate(widths)]
    w_hh = [whole_numbers((gates * hidden, hidden), 30 + k) / (4 * hidden) for k in range(count)]
    biases = [[whole_numbers((gates * hidden,), first + k) / 7 for k in range(count)] for first in (50, 70)]
    return (
        x,
        states if case["states"] else [None] * len(states),
        (w_ih, w_hh, *(biases if case["bias"] else [None] * 2)),
    )


def shape_of(case):
    if case["batch"] is None:
        return case["steps"], case["features"]
    lead = (case["batch"], case["steps"]) if case["batch_first"] else (case["steps"], case["batch"])
    return (*lead, case["features"])


def options(case):
    relu = {"nonlinearity": "relu"} if case["kind"] == "relu" else {}
    return relu | {name: case[name] for name in ("bidirectional", "batch_first", "lengths")}


def arriving(shapes):
    """What arrives at the results when gradients are computed."""
    return tuple(whole_numbers(shape, 90 + k) / 6 for k, shape in enumerate(shapes))


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


# ---- making the record -------------------------------------------------------------------------------------------


def a_case(draw, kind):
    steps, batch = draw.choice([1, 2, 3, 5, 8, 13]), draw.choice([None, 1, 2, 3, 5, 7])
    padded = batch is not None and draw.random() < 0.4
    return {
        "kind": kind,
        "steps": steps,
        "batch": batch,
        "features": draw.choice([1, 2, 3, 5, 9]),
        "hidden": draw.choice([1, 2, 3, 4, 7, 10]),
        "layers": draw.choice([1, 1, 1, 2, 3]),
        "bidirectional": draw.random() < 0.4,
        "batch_first": batch is not None and draw.random() < 0.4,
        "bias": draw.random() < 0.7,
        "states": draw.random() < 0.7,
        "lengths": [draw.randint(1, steps) for _ in range(batch)] if padded else None,
    }


def ran(case):
    """The case with what PyTorch makes of it."""
    import torch

    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(case["kind"], torch.nn.RNN)
    relu = {"nonlinearity": case["kind"]} if kind is torch.nn.RNN else {}
    sizes = case["features"], case["hidden"], case["layers"]
    flags = {"bias": case["bias"], "batch_first": case["batch_first"], "bidirectional": case["bidirectional"]}
    network = kind(*sizes, **flags, **relu, dtype=torch.float64)
    x, states, weights = inputs(case)
    for name, given in zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), weights, strict=True):
        for k, one in enumerate(given or ()):
            layer, back = divmod(k, 2) if case["bidirectional"] else (k, 0)
            getattr(network, f"{name}_l{layer}{'_reverse' * back}").data = torch.from_numpy(one)
    x = torch.from_numpy(x).requires_grad_()
    states = [None if one is None else torch.from_numpy(one).requires_grad_() for one in states]
    hx = None if states[0] is None else tuple(states) if len(states) == 2 else states[0]
    if case["lengths"] is None:
        output, last = network(x, hx)
    else:
        from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

        packed = pack_padded_sequence(x, case["lengths"], case["batch_first"], enforce_sorted=False)
        output, last = network(packed, hx)
        output, _ = pad_packed_sequence(output, case["batch_first"], total_length=case["steps"])
    results = [output, *(last if isinstance(last, tuple) else (last,))]
    grads = [torch.from_numpy(one) for one in arriving([tuple(one.shape) for one in results])]
    torch.autograd.backward(results, grads)
    leaves = [x, *(one for one in states if one is not None)]
    for name in ("weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if case["bias"] else ())):
        leaves += [one for label, one in network.named_parameters() if label.startswith(name)]
    return case | {
        "results": [sums(one.detach().numpy()) for one in results],
        "gradients": [sums(one.grad.numpy()) for one in leaves],
    }


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, f"torch is {torch.__version__}; the record is made with {TORCH}"
    torch.set_num_threads(1)
    draw = random.Random(10)
    found = [ran(a_case(draw, kind)) for kind in KINDS for _ in range(EACH)]
    for case in found:
        assert np.isfinite(case["results"][0]).all(), case
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in found)
    FILE.write_text(f'{{"torch": "{TORCH}",\n"cases": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{len(found)} networks, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
