"""A whole step of training against PyTorch: forward pass, loss, backward pass and AdamW, of small networks.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_step           all, recorded in
                                                                                 results/training_step.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_step --quick   one thread, not recorded

Ours is what a user of lib/training writes: modules, a tape, an optimiser. So is PyTorch's, but for what makes it
faster: its Transformer block is made of functions, and its AdamW is the fused one. Both begin with the same weights,
and the loss and all gradients of the first step are compared. float32. sides.py says how it is timed. "split" of the
record: the seconds of each layer forward, of each operation backward, and of what is no operation, as Python between
them. "operations": rows and means of what such a network has beside its products, one operation at a time, on tensors
as above.
"""

import statistics
import time

import numpy as np
import sides

STEPS, BATCH, WIDTH, HEADS, CHARACTERS = 64, 32, 128, 4, 103
PICTURES, HIDDEN, CLASSES = 64, 128, 10
RATE = 1e-4
OPERATIONS = {  # the shape of x
    "gelu": (STEPS * BATCH, 4 * WIDTH),
    "layer_norm": (STEPS * BATCH, WIDTH),
    "softmax": (STEPS * BATCH * HEADS, STEPS),
    "cross_entropy": (STEPS * BATCH, CHARACTERS),
    "batch_norm": (PICTURES, 32, 28, 28),
    "AdamW": (),
}
ROUNDS = 15  # steps of which the split is the median

stored_as = sides.stored_as


def benchmark(quick=False):
    """Rows and means of sides.compare, and of each network and number of threads what its parts take."""
    import numba

    from cpulab.measure import timing

    cases = [network("CNN", edge) for edge in (28, 8)] + [network("LSTM"), network("Transformer")]
    found = sides.compare(__file__, cases, label, quick)
    single = [{"kind": name, "passes": one, "work": 0} for name in OPERATIONS for one in (sides.FORWARD, sides.BOTH)]
    single[-2:] = [{"kind": "AdamW", "passes": "update", "work": 0}]
    others = sides.compare(__file__, single, lambda row: row["kind"], quick)
    split = []
    for threads in (1, 2)[: min(1 if quick else 2, numba.config.NUMBA_NUM_THREADS)]:
        with timing.limit_threads(threads):
            split += [{"network": label(case), "threads": threads, "parts": spent(case)} for case in cases]
    for one in split:
        parts = ", ".join(f"{name} {seconds * 1e3:.2f}" for name, seconds in one["parts"].items())
        print(f"{one['threads']} thr {one['network']:<14} ms: {parts}")
    return found | {"operations": {name: others[name] for name in ("rows", "means")}, "split": split}


def network(kind, edge=0):
    case = {"kind": kind, "edge": edge, "passes": sides.BOTH}
    layers = model(case)[2]
    if kind == "CNN":  # a convolution uses its weights once for each pixel
        first, second, *linear = (arrays[0].size for _, _, arrays in layers if arrays)
        return case | {"work": 6 * PICTURES * (edge**2 * first + (edge // 2) ** 2 * second + sum(linear))}
    weights = sum(one.size for name, _, arrays in layers for one in arrays if one.ndim > 1 and name != "Embedding")
    return case | {"work": 6 * STEPS * BATCH * weights}


def label(row):
    return f"CNN {row['edge']} x {row['edge']}" if row["kind"] == "CNN" else row["kind"]


def model(case):
    """(x, the right answers, layers as (name of a module, its arguments, its weights in the order of state_dict))."""
    random = np.random.default_rng(0)

    def weight(*shape):
        return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    def layer(name, *arguments, shapes=()):
        return name, arguments, [weight(*shape) if len(shape) > 1 else weight(1, *shape)[0] for shape in shapes]

    def linear(ins, outs):
        return layer("Linear", ins, outs, shapes=((outs, ins), (outs,)))

    def convolution(ins, outs):
        return layer("Conv2d", ins, outs, 3, 1, 1, shapes=((outs, ins, 3, 3), (outs,)))

    if case["kind"] == "CNN":
        edge, halved, relu = case["edge"], layer("MaxPool2d", 2), layer("ReLU")
        flat = 64 * (edge // 4) ** 2
        first, second = convolution(1, 32), convolution(32, 64)
        layers = [first, relu, halved, second, relu, halved, layer("Flatten")]
        layers += [linear(flat, HIDDEN), relu, linear(HIDDEN, CLASSES)]
        return (
            random.standard_normal((PICTURES, 1, edge, edge), np.float32),
            random.integers(0, CLASSES, PICTURES),
            layers,
        )
    layers, norm = [layer("Embedding", CHARACTERS, WIDTH, shapes=((CHARACTERS, WIDTH),))], ((WIDTH,), (WIDTH,))
    if case["kind"] == "LSTM":
        rows = 4 * WIDTH
        layers.append(layer("LSTM", WIDTH, WIDTH, shapes=((rows, WIDTH), (rows, WIDTH), (rows,), (rows,))))
        shape = STEPS, BATCH
    else:
        attention = (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,)
        feed = (4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,)
        layers += [layer("TransformerBlock", WIDTH, HEADS, shapes=(*attention, *feed, *norm, *norm)) for _ in range(2)]
        layers.append(layer("LayerNorm", WIDTH, shapes=norm))
        shape = BATCH, STEPS
    words, answers = random.integers(0, CHARACTERS, (2, *shape))
    return words, answers.reshape(-1), [*layers, linear(WIDTH, CHARACTERS)]


class Ours:
    """A network, and a step of its training."""

    def __init__(self, case):
        from training import AdamW, Tensor, modules

        x, self.answers, layers = model(case)
        self.x, self.parts = x if x.dtype.kind == "i" else Tensor(x), []
        for name, arguments, arrays in layers:
            kind = getattr(modules, name)
            part = (
                kind(*arguments, generator=np.random.default_rng(0))
                if arrays and name != "LayerNorm"
                else kind(*arguments)
            )
            for parameter, array in zip(part.parameters(), arrays, strict=True):
                parameter.data = array
            self.parts.append(part)
        self.parameters = [one for part in self.parts for one in part.parameters()]
        self.optimizer = AdamW(self.parameters, lr=RATE)

    def step(self, clock=lambda name: None):
        """The loss. clock: called with a name after each layer."""
        from training import functional as F

        self.optimizer.zero_grad()
        y = self.x
        for part in self.parts:
            y = part(y)
            y = y[0] if isinstance(y, tuple) else y
            clock(type(part).__name__)
        loss = F.cross_entropy(F.reshape(y, (-1, y.shape[-1])), self.answers)
        clock("loss")
        loss.backward()
        clock("the rest")
        self.optimizer.step()
        clock("AdamW")
        return loss.data


def spent(case):
    """{layer or operation: median seconds of a step}, all calls of it together."""
    from training.tensor import Node

    ours, rounds, gradients = Ours(case), [], Node.gradients

    def clock(name):
        nonlocal before
        now = time.perf_counter()
        took[name], before = took.get(name, 0) + now - before, now

    def clocked(node, grads):
        clock("the rest")
        found = gradients(node, grads)
        clock(f"{node.name}, backward")
        return found

    ours.step()
    Node.gradients = clocked
    try:
        for _ in range(ROUNDS):
            took, before = {}, time.perf_counter()
            ours.step(clock)
            rounds.append(took)
    finally:
        Node.gradients = gradients
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


def warm():
    return Ours(network("LSTM")).step


def numbers(case):
    """(x, the gradient that comes back, weight and bias) of an operation alone; answers in the place of the
    gradient."""
    shape, random = OPERATIONS[case["kind"]], np.random.default_rng(0)
    x, grad = random.standard_normal((2, *shape), np.float32)
    if case["kind"] == "cross_entropy":
        grad = random.integers(0, CHARACTERS, len(x))
    count = shape[1] if case["kind"] == "batch_norm" else shape[-1]
    return x, grad, random.standard_normal((2, count), np.float32)


def alone(case, tensor, functions, arrays):
    """(function without arguments, its results) of an operation on tensors. arrays(tensor or array): of the library."""
    x, grad, pair = numbers(case)
    x, (weight, bias) = tensor(x, requires_grad=True), [tensor(one, requires_grad=True) for one in pair]
    leaves = [x, weight, bias] if case["kind"].endswith("norm") else [x]

    def forward():
        return functions[case["kind"]](x, weight, bias, grad)

    def both():
        for leaf in leaves:
            leaf.grad = None
        y = forward()
        y.backward(None if y.shape == () else arrays(grad))
        return y

    run = forward if case["passes"] == sides.FORWARD else both
    y = run()
    return run, [y.detach().numpy(), *(leaf.grad for leaf in leaves if case["passes"] != sides.FORWARD)]


def update(case, parameters, optimizer):
    """As `alone`, of an optimiser: with the gradients of the first step."""
    optimizer.step()
    return optimizer.step, [getattr(one, "data", one) for one in parameters[:4]]


def ours_alone(case):
    from training import Tensor
    from training import functional as F

    if case["kind"] == "AdamW":
        made = Ours(network("Transformer"))
        made.step()
        return update(case, made.parameters, made.optimizer)
    functions = {
        "gelu": lambda x, *_: F.gelu(x),
        "softmax": lambda x, *_: F.softmax(x, -1),
        "layer_norm": lambda x, weight, bias, _: F.layer_norm(x, weight, bias),
        "batch_norm": lambda x, weight, bias, _: F.batch_norm_with_statistics(x, weight, bias)[0],
        "cross_entropy": lambda x, weight, bias, answers: F.cross_entropy(x, answers),
    }
    return alone(case, Tensor, functions, np.asarray)


def pytorch_alone(case):
    import torch
    from torch.nn import functional

    if case["kind"] == "AdamW":
        _, _, (_, parameters, optimizer) = pytorch_step(network("Transformer"))
        return update(case, parameters, optimizer)
    functions = {
        "gelu": lambda x, *_: functional.gelu(x),
        "softmax": lambda x, *_: functional.softmax(x, -1),
        "layer_norm": lambda x, weight, bias, _: functional.layer_norm(x, x.shape[-1:], weight, bias),
        "batch_norm": lambda x, weight, bias, _: functional.batch_norm(x, None, None, weight, bias, training=True),
        "cross_entropy": lambda x, weight, bias, answers: functional.cross_entropy(x, torch.from_numpy(answers)),
    }
    return alone(
        case, lambda x, requires_grad: torch.from_numpy(x).requires_grad_(requires_grad), functions, torch.from_numpy
    )


def ours(case):
    if case["kind"] in OPERATIONS:
        run, results = ours_alone(case)
        return run, "lib/training", results
    made = Ours(case)
    loss = made.step()
    return made.step, "lib/training", [loss, *(one.grad for one in made.parameters)]


def pytorch(case):
    if case["kind"] in OPERATIONS:
        run, results = pytorch_alone(case)
        return run, "PyTorch", results
    step, loss, (_, parameters, _) = pytorch_step(case)
    return step, "PyTorch", [loss.numpy(), *(one.grad.numpy() for one in parameters)]


def pytorch_step(case):
    """(a step, the first loss, (layers, parameters, optimiser))."""
    import torch

    x, answers, layers = model(case)
    x, answers, parts = torch.from_numpy(x), torch.from_numpy(answers), []
    for name, arguments, arrays in layers:
        part = Block(arrays) if name == "TransformerBlock" else getattr(torch.nn, name)(*arguments)
        for parameter, array in zip(part.parameters(), arrays, strict=True):
            parameter.data = torch.from_numpy(array)
        parts.append(part)
    parameters = [one for part in parts for one in part.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=RATE, fused=True)

    def step():
        optimizer.zero_grad()
        y = x
        for part in parts:
            y = part(y)
            y = y[0] if isinstance(y, tuple) else y
        loss = torch.nn.functional.cross_entropy(y.reshape(-1, y.shape[-1]), answers)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, step(), (parts, parameters, optimizer)


class Block:
    """A Transformer's block of PyTorch's functions, with the weights in the order of ours."""

    def __init__(self, arrays):
        import torch

        self.weights = [torch.nn.Parameter(torch.from_numpy(one)) for one in arrays]

    def parameters(self):
        return self.weights

    def __call__(self, x):
        from torch.nn import functional

        into, out, up, down, first, second = zip(self.weights[::2], self.weights[1::2], strict=True)
        qkv = functional.linear(functional.layer_norm(x, x.shape[-1:], *first), *into)
        heads = [one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in qkv.chunk(3, dim=-1)]
        y = functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
        x = x + functional.linear(y, *out)
        y = functional.linear(functional.layer_norm(x, x.shape[-1:], *second), *up)
        return x + functional.linear(functional.gelu(y), *down)


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
