"""What PyTorch's autograd makes of random small networks, as a record: who runs the tests needs no PyTorch.

    python tests/training/torch_networks.py      makes torch_networks.json again; needs torch 2.13.0

A network is a list of [name of a layer, its arguments], and both libraries have these names. Inputs and weights come
from a formula, all is computed in float64; of the output and of each gradient two sums of elements are kept, with
weights.
"""

import json
import math
import random
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
TORCH = "2.13.0"
COUNT = 300
ACTIVATIONS = ("ReLU", "GELU", "SiLU", "Tanh", "Sigmoid")


# ---- what the tests use, too ---------------------------------------------------------------------------------------


def numbers(shape, seed):
    """From -1 to 1, no two alike."""
    return np.sin(1.7 * np.arange(math.prod(shape)) + 0.9 * seed).reshape(shape)


def inputs(case):
    return numbers_to(case["words"], case["x"]) if case["words"] else numbers(case["x"], 1)


def numbers_to(n, shape):
    """Whole numbers from 0 to n - 1."""
    return (np.arange(math.prod(shape)).reshape(shape) * 7 + 3) % n


def weights(named):
    """{name: array} for parameters and running statistics of the given shapes."""
    found = {}
    for seed, (name, shape) in enumerate(sorted(named), 2):
        found[name] = numbers(shape, seed) / math.sqrt(max(1, math.prod(shape[1:])))
        if name.endswith("running_var"):
            found[name] = 1 + found[name] / 2
    return found


def sums(array):
    """Two sums, with weights from 1 to 97 and 89."""
    line = np.asarray(array, np.float64).reshape(-1)
    places = np.arange(line.size)
    return [float(f"{(line * (places * step % prime + 1)).sum():.10g}") for step, prime in ((31, 97), (17, 89))]


def recorded():
    return json.loads(FILE.read_text(encoding="utf-8"))


def run(layers, parts, x):
    """x through all layers. parts: an iterator of the modules made for them (`made`)."""
    for name, *arguments in layers:
        if name == "Residual":
            x = run(arguments[0], parts, x) + x
        elif name == "Twice":
            inner = list(modules_of(arguments[0], parts))
            x = run(arguments[0], iter(inner), run(arguments[0], iter(inner), x))
        elif name == "LSTM":
            x = next(parts)(x)[0]
        else:
            x = next(parts)(x)
    return x


def leaves(layers):
    """Every [name, arguments] that is a module, in the order of `run`."""
    for layer in layers:
        if layer[0] in ("Residual", "Twice"):
            yield from leaves(layer[1])
        else:
            yield layer


def modules_of(layers, parts):
    return (next(parts) for _ in leaves(layers))


# ---- making the record ---------------------------------------------------------------------------------------------


def a_picture_network(draw):
    channels, size = draw.choice([1, 2, 3]), draw.choice([4, 5, 6, 8, 9])
    x, layers = [draw.choice([1, 2, 3]), channels, size, size], []
    for _ in range(draw.choice([1, 2, 3])):
        kind = draw.random()
        if kind < 0.45:
            groups = draw.choice([1, 1, 1, channels])
            outs, kernel = groups * draw.choice([1, 2, 3]), min(size, draw.choice([1, 2, 3]))
            stride, padding = draw.choice([1, 1, 2]), draw.choice([0, 1])
            layers.append(["Conv2d", channels, outs, kernel, stride, padding, 1, groups, draw.random() < 0.8])
            channels, size = outs, (size + 2 * padding - kernel) // stride + 1
        elif kind < 0.6:
            layers.append(["Residual", [["Conv2d", channels, channels, 3, 1, 1], [draw.choice(ACTIVATIONS)]]])
        elif kind < 0.75:
            layers.append(["BatchNorm2d", channels])
        elif size >= 2:
            layers.append([draw.choice(["MaxPool2d", "AvgPool2d"]), 2, draw.choice([1, 2])])
            size = (size - 2) // layers[-1][2] + 1
        if size < 2:
            break
        layers.append([draw.choice(ACTIVATIONS)])
    layers.append(["Flatten"])
    return x, None, layers, channels * size * size


def a_sequence_network(draw):
    words, width = draw.choice([5, 11]), draw.choice([4, 6, 8])
    x, layers = [draw.choice([1, 2, 3]), draw.choice([1, 2, 5, 7])], [["Embedding", words, width]]
    for _ in range(draw.choice([1, 2])):
        kind = draw.random()
        if kind < 0.4:
            hidden = draw.choice([4, 6])
            layers.append(["LSTM", width, hidden, draw.choice([1, 2])])
            width = hidden
        elif kind < 0.8:
            layers.append(["TransformerBlock", width, draw.choice([1, 2]), draw.choice([8, 12]), draw.random() < 0.6])
        else:
            layers.append(["Residual", [["LayerNorm", width], ["Linear", width, width], [draw.choice(ACTIVATIONS)]]])
    return x, words, layers, width


def a_vector_network(draw):
    width = draw.choice([1, 3, 5, 8])
    x, layers = [draw.choice([1, 2, 4]), width], []
    for _ in range(draw.choice([1, 2, 3])):
        kind, activation = draw.random(), [draw.choice(ACTIVATIONS)]
        if kind < 0.3:
            layers.append(["Residual", [["Linear", width, width], activation]])
        elif kind < 0.6:
            layers.append(["Twice", [["Linear", width, width, draw.random() < 0.5], activation]])
        elif kind < 0.75:
            layers.append(["LayerNorm", width])
        else:
            layers += [["Linear", width, wide := draw.choice([2, 4, 7])], activation]
            width = wide
    return x, None, layers, width


def a_case(draw):
    x, words, layers, width = draw.choice([a_picture_network, a_sequence_network, a_vector_network])(draw)
    return {"x": x, "words": words, "layers": [*layers, ["Linear", width, draw.choice([1, 3, 10])]]}


def torch_module(name, *arguments):
    import torch

    if name == "TransformerBlock":
        width, heads, hidden, is_causal = arguments
        layer = torch.nn.TransformerEncoderLayer(
            width, heads, hidden, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        if not is_causal:
            return layer
        forward = layer.forward
        layer.forward = lambda x: forward(x, _causal(x.shape[1]), is_causal=True)
        return layer
    if name == "LSTM":
        return torch.nn.LSTM(*arguments, batch_first=True)
    return getattr(torch.nn, name)(*arguments)


def _causal(steps):
    import torch

    return torch.triu(torch.full((steps, steps), -torch.inf, dtype=torch.float64), 1)


def answer(case):
    """What PyTorch computes: {"output": sums, name of a gradient: sums}."""
    import torch

    net = torch.nn.ModuleList(torch_module(*layer) for layer in leaves(case["layers"])).double()
    named = [(name, tuple(x.shape)) for name, x in net.state_dict().items() if "num_batches" not in name]
    net.load_state_dict({name: torch.tensor(array) for name, array in weights(named).items()}, strict=False)
    x = torch.tensor(inputs(case), requires_grad=not case["words"])
    output = run(case["layers"], iter(net), x)
    output.backward(torch.tensor(numbers(output.shape, 0)))
    found = {"output": output.detach(), "x": x.grad} if x.requires_grad else {"output": output.detach()}
    found |= {name: p.grad for name, p in net.named_parameters()}
    found |= {name: x for name, x in net.named_buffers() if "num_batches" not in name}
    return {name: sums(array.numpy()) for name, array in found.items()}


def main():
    import torch

    assert torch.__version__.split("+")[0] == TORCH, torch.__version__
    draw, cases = random.Random(44), []
    while len(cases) < COUNT:
        case = a_case(draw)
        cases.append(case | {"answer": answer(case)})
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    FILE.write_text(f'{{"torch": "{TORCH}", "cases": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
