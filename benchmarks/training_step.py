"""Forward and backward of three small networks against PyTorch: what a step of training spends in kernels.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_step           all, recorded in results/training_step.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_step --quick   one thread, not recorded

A network is a chain of operations of the table, so its backward pass is `keep` and `gradients` of each
(dlkernels/implementations.py); PyTorch computes the same by autograd. Loss and optimiser are not part of it: the gradient
of the last result is given. float32. sides.py says how it is timed. "split" of the record: the seconds of each operation.
"""

import statistics
import time

import numpy as np
import sides

STEPS, BATCH, WIDTH, HEADS, CHARACTERS = 64, 32, 128, 4, 103
PICTURES, HIDDEN = 64, 128
ROUNDS = 15  # steps of which the split is the median

stored_as = sides.stored_as


def benchmark(quick=False):
    """Rows and means of sides.compare, and of each network and number of threads what its operations take."""
    import numba

    from cpulab.measure import timing

    cases = [network("CNN", edge) for edge in (28, 8)] + [network("LSTM"), network("Transformer")]
    found = sides.compare(__file__, cases, label, quick)
    split = []
    for threads in (1, 2)[: min(1 if quick else 2, numba.config.NUMBA_NUM_THREADS)]:
        with timing.limit_threads(threads):
            split += [{"network": label(case), "threads": threads, "operations": spent(case)} for case in cases]
    for one in split:
        parts = ", ".join(f"{name} {seconds * 1e3:.2f}" for name, seconds in one["operations"].items())
        print(f"{one['threads']} thr {one['network']:<14} ms: {parts}")
    return found | {"split": split}


def network(kind, edge=0):
    case = {"kind": kind, "edge": edge, "passes": sides.BOTH}
    x, layers = model(case)[:2]
    weights = sum(one.size for _, arrays, _ in layers for one in arrays if one.ndim > 1)
    if kind == "CNN":  # a convolution uses its weights once for each pixel
        first, second, *linear = (arrays[0].size for _, arrays, _ in layers if arrays)
        return case | {"work": 6 * len(x) * (edge**2 * first + (edge // 2) ** 2 * second + sum(linear))}
    return case | {"work": 6 * STEPS * BATCH * weights}


def label(row):
    return f"CNN {row['edge']} x {row['edge']}" if row["kind"] == "CNN" else row["kind"]


def model(case):
    """x, layers as (operation, weights, options), and the gradient of the last result."""
    random = np.random.default_rng(0)

    def weight(*shape):
        return (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)

    def layer(name, *shapes, **options):
        return name, [weight(*shape) if len(shape) > 1 else weight(1, *shape)[0] for shape in shapes], options

    if case["kind"] == "CNN":
        edge, flat = case["edge"], 64 * (case["edge"] // 4) ** 2
        halved = layer("max_pool2d", kernel_size=2)
        layers = [
            layer("conv2d", (32, 1, 3, 3), (32,), padding=1), layer("relu"), halved,
            layer("conv2d", (64, 32, 3, 3), (64,), padding=1), layer("relu"), halved,
            ("flatten", [], {}),
            layer("linear", (HIDDEN, flat), (HIDDEN,), activation="relu"), layer("linear", (10, HIDDEN), (10,)),
        ]  # fmt: skip
        shape, result = (PICTURES, 1, edge, edge), (PICTURES, 10)
    elif case["kind"] == "LSTM":
        states = [np.zeros((1, BATCH, WIDTH), np.float32) for _ in range(2)]
        rows = 4 * WIDTH
        _, weights, _ = layer("lstm", (rows, WIDTH), (rows, WIDTH), (rows,), (rows,))
        layers = [("lstm_with_gates", [*states, *weights], {}), layer("linear", (CHARACTERS, WIDTH), (CHARACTERS,))]
        shape, result = (STEPS, BATCH, WIDTH), (STEPS, BATCH, CHARACTERS)
    else:
        norm = (WIDTH,), (WIDTH,)
        attention = (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,)
        feed = (4 * WIDTH, WIDTH), (4 * WIDTH,), (WIDTH, 4 * WIDTH), (WIDTH,)
        blocks = [layer("transformer_block", *norm, *attention, *norm, *feed, heads=HEADS) for _ in range(2)]
        layers = [*blocks, layer("layer_norm", *norm), layer("linear", (CHARACTERS, WIDTH), (CHARACTERS,))]
        shape, result = (BATCH, STEPS, WIDTH), (BATCH, STEPS, CHARACTERS)
    return random.standard_normal(shape, np.float32), layers, random.standard_normal(result, np.float32)


def step(x, layers, grad, clock=None):
    """The result, and the gradients of all weights, layer by layer. clock: called with a name after each operation."""
    import dlkernels
    from dlkernels import implementations

    kept = []
    for name, weights, options in layers:
        if name == "flatten":
            kept.append(x.shape)
            x = x.reshape(len(x), -1)
            continue
        result = getattr(dlkernels, name)(x, *weights, **options)
        kept.append(implementations.keep(name, result, x, *weights, **options))
        x = result[0] if isinstance(result, tuple) else result
        if clock:
            clock(name)
    found = []
    for (name, _, _), one in zip(reversed(layers), reversed(kept), strict=True):
        if name == "flatten":
            grad = grad.reshape(one)
            continue
        several = implementations.OPERATIONS[name].results
        of = implementations.gradients(name, (grad, *[None] * (len(several) - 1)) if several else grad, one)
        grad = of.pop("x")
        found[:0] = of.values()
        if clock:
            clock(f"{name}, backward")
    return x, *found


def spent(case):
    """{operation: median seconds of a step}, all calls of it together."""
    given, rounds = model(case), []
    for _ in range(ROUNDS):
        took, before = {}, time.perf_counter()

        def clock(name):
            nonlocal before
            now = time.perf_counter()
            took[name], before = took.get(name, 0) + now - before, now  # noqa: B023

        step(*given, clock)
        rounds.append(took)
    return {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}


def warm():
    return ours(network("LSTM"))[0]


def ours(case):
    given = model(case)
    return lambda: step(*given), "keep and gradients", step(*given)


def pytorch(case):
    import torch

    x, layers, grad = model(case)
    x, grad = torch.from_numpy(x), torch.from_numpy(grad)
    x.requires_grad_(case["kind"] != "CNN")  # pictures learn nothing; embeddings do
    prepared = [(name, [torch.from_numpy(one) for one in arrays], options) for name, arrays, options in layers]
    parameters = [one.requires_grad_() for _, arrays, _ in prepared for one in arrays]
    networks = {}
    for k, (name, arrays, _) in enumerate(prepared):
        if name == "lstm_with_gates":
            networks[k] = torch.nn.LSTM(WIDTH, WIDTH)
            for parameter, value in zip(networks[k].parameters(), arrays[2:], strict=True):
                parameter.data = value.data
            parameters[:6] = [*arrays[:2], *networks[k].parameters()]

    def both():
        y = x
        for k, (name, arrays, options) in enumerate(prepared):
            y = (
                networks[k](y, tuple(arrays[:2]))[0]
                if name == "lstm_with_gates"
                else layer_of_pytorch(name, y, arrays, options)
            )
        wanted = parameters if case["kind"] == "CNN" else [x, *parameters]
        found = torch.autograd.grad(y, wanted, grad)
        return y, *found[len(wanted) - len(parameters) :]

    return both, "PyTorch", [one.detach().numpy() for one in both()]


def layer_of_pytorch(name, x, arrays, options):
    import torch

    functions = torch.nn.functional
    if name == "flatten":
        return x.flatten(1)
    if name == "layer_norm":
        return functions.layer_norm(x, x.shape[-1:], *arrays)
    if name == "linear":
        y = functions.linear(x, *arrays)
        return functions.relu(y) if options else y
    if name != "transformer_block":
        return getattr(functions, name)(x, *arrays, **options)
    norms, others = (arrays[:2], arrays[6:8]), (arrays[2:4], arrays[4:6], arrays[8:10], arrays[10:])
    y = functions.linear(functions.layer_norm(x, x.shape[-1:], *norms[0]), *others[0])
    heads = [one.unflatten(-1, (HEADS, -1)).transpose(1, 2) for one in y.chunk(3, dim=-1)]
    y = functions.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(2)
    x = x + functions.linear(y, *others[1])
    y = functions.layer_norm(x, x.shape[-1:], *norms[1])
    return x + functions.linear(functions.gelu(functions.linear(y, *others[2])), *others[3])


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
