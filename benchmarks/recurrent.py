"""LSTM and GRU against PyTorch's, forward, and forward with backward.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py recurrent           all, recorded in results/recurrent.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py recurrent --quick   a few, not recorded

float32, one layer in one direction, as many features as hidden units; PyTorch as a user calls it: `torch.nn.LSTM` and
`torch.nn.GRU`. sides.py says how it is timed.
"""

import numpy as np
import sides

SIZES = ((128, 32, 256), (100, 1, 256), (512, 1, 128), (64, 64, 512))  # steps, batch, hidden
GATES = {"LSTM": 4, "GRU": 3}

stored_as = sides.stored_as


def benchmark(quick=False):
    """Rows for every size, and geometric means over them; see sides.compare."""
    cases = [
        described(network, *size, passes)
        for network in GATES
        for size in (SIZES[:2] if quick else SIZES)
        for passes in (sides.FORWARD, sides.BOTH)
    ]
    return sides.compare(__file__, cases, label, quick)


def described(network, steps, batch, hidden, passes):
    multiplies = steps * batch * GATES[network] * hidden * 2 * hidden
    work = 2 * multiplies * (1 if passes == sides.FORWARD else 3)
    kind = network if batch > 1 else f"{network}, one sequence"
    shape = {"steps": steps, "batch": batch, "hidden": hidden}
    return {"kind": kind, "network": network, **shape, "passes": passes, "work": work}


def label(row):
    return f"{row['network']} {row['steps']} x {row['batch']} x {row['hidden']}"


def arrays(case):
    """x, the states, the weights, and the gradient of the output."""
    random = np.random.default_rng(0)
    steps, batch, hidden = case["steps"], case["batch"], case["hidden"]
    rows = GATES[case["network"]] * hidden
    x = random.standard_normal((steps, batch, hidden), np.float32)
    states = [np.zeros((1, batch, hidden), np.float32) for _ in range(2 if case["network"] == "LSTM" else 1)]
    shapes = ((rows, hidden), (rows, hidden), (rows,), (rows,))
    weights = [((2 * random.random(shape, np.float32) - 1) / np.float32(np.sqrt(hidden))) for shape in shapes]
    return x, states, weights, random.standard_normal(x.shape, np.float32)


def warm():
    return ours(described("LSTM", *SIZES[0], sides.FORWARD))[0]


def ours(case):
    import dlkernels
    from dlkernels import implementations

    name = case["network"].lower()
    forward, backward = getattr(dlkernels, name), getattr(dlkernels, f"{name}_backward")
    x, states, weights, grad = arrays(case)
    rungs = [implementations.public_rung(one.__name__, "cpu", x.dtype).name for one in (forward, backward)]
    if case["passes"] == sides.FORWARD:
        return lambda: forward(x, *states, *weights), rungs[0], forward(x, *states, *weights)[:1]

    def both():
        gradients = backward(grad, x, *states, *weights)
        return forward(x, *states, *weights)[0], gradients[0], *gradients[-4:]

    return both, ", ".join(rungs), both()


def pytorch(case):
    import torch

    x, states, weights, grad = arrays(case)
    x, grad, *states = (torch.from_numpy(one) for one in (x, grad, *states))
    network = getattr(torch.nn, case["network"])(case["hidden"], case["hidden"])
    for parameter, weight in zip(network.parameters(), weights, strict=True):
        parameter.data = torch.from_numpy(weight)
    before = tuple(states) if len(states) == 2 else states[0]
    if case["passes"] == sides.FORWARD:

        def forward():
            with torch.inference_mode():
                return network(x, before)[0]

        return forward, "PyTorch", [forward().numpy()]
    x.requires_grad_()

    def both():
        y = network(x, before)[0]
        return y, *torch.autograd.grad(y, (x, *network.parameters()), grad)

    return both, "PyTorch", [one.detach().numpy() for one in both()]


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
