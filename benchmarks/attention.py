"""Attention, softmax and layer norm against PyTorch, forward, and forward with backward.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py attention           all, recorded in results/attention.json
    TORCH_PYTHON=.../bin/python python benchmarks/run.py attention --quick   a few, not recorded

float32, one sequence of 8 heads; PyTorch as a user calls it: `scaled_dot_product_attention`, `softmax` and `layer_norm`
of torch.nn.functional, and its autograd. Both keep of attention what the way back needs. sides.py says how it is timed.
"""

import numpy as np
import sides

HEADS = 8
LENGTHS, WIDTHS = (128, 512, 1024, 4096), (32, 64, 128)
LONGEST_BACK = 1024  # with its backward a longer one takes seconds
ROWS = ((4096, 128), (4096, 1024), (1024, 4096))  # of softmax and layer norm

stored_as = sides.stored_as


def benchmark(quick=False):
    """Rows for every size, and geometric means over them; see sides.compare."""
    cases = [
        attention(length, width, causal, passes)
        for length in (LENGTHS[1:3] if quick else LENGTHS)
        for width in (WIDTHS[1:2] if quick else WIDTHS)
        for causal in (False, True)
        for passes in (sides.FORWARD, sides.BOTH)
        if passes == sides.FORWARD or length <= LONGEST_BACK
    ]
    cases += [
        rows(kind, *size, passes)
        for kind in ("softmax", "layer norm")
        for size in (ROWS[:1] if quick else ROWS)
        for passes in (sides.FORWARD, sides.BOTH)
    ]
    return sides.compare(__file__, cases, label, quick)


def attention(length, width, causal, passes):
    # two products, and five of the backward, which computes the scores again
    work = 4 * HEADS * length * length * width * (0.5 if causal else 1) * (1 if passes == sides.FORWARD else 3.5)
    kind = "causal attention" if causal else "attention"
    return {"kind": kind, "length": length, "width": width, "passes": passes, "work": work}


def rows(kind, count, columns, passes):
    work = 5 * count * columns * (1 if passes == sides.FORWARD else 2)
    return {"kind": kind, "length": count, "width": columns, "passes": passes, "work": work}


def label(row):
    return f"{row['kind']} {row['length']} x {row['width']}"


def arrays(case):
    """What goes in, and the gradient of what comes out."""
    random = np.random.default_rng(0)
    if "attention" in case["kind"]:
        shape = (1, HEADS, case["length"], case["width"])
        return [random.standard_normal(shape, np.float32) for _ in range(3)], random.standard_normal(shape, np.float32)
    shape = case["length"], case["width"]
    given = [random.standard_normal(shape, np.float32)]
    if case["kind"] == "layer norm":
        given += [random.standard_normal(shape[1], np.float32) for _ in range(2)]
    return given, random.standard_normal(shape, np.float32)


def warm():
    return ours(attention(512, 64, False, sides.FORWARD))[0]


def ours(case):
    import dlkernels

    operation, options = {
        "attention": ("scaled_dot_product_attention", {}),
        "causal attention": ("scaled_dot_product_attention", {"is_causal": True}),
        "softmax": ("softmax", {}),
        "layer norm": ("layer_norm", {}),
    }[case["kind"]]
    forward, backward = getattr(dlkernels, operation), getattr(dlkernels, f"{operation}_backward")
    given, grad = arrays(case)
    if case["passes"] == sides.FORWARD:
        return lambda: forward(*given, **options), way(operation, case), [forward(*given, **options)]

    def both():
        gradients = backward(grad, *given, **options)
        return forward(*given, **options), *(gradients if isinstance(gradients, tuple) else (gradients,))

    def both_with_sums():
        result, sums = dlkernels.attention_with_sums(*given, **options)
        return result, *dlkernels.attention_backward_from_sums(grad, *given, result, sums, **options)

    if "attention" in case["kind"]:
        return both_with_sums, "attention_backward_from_sums", both_with_sums()
    return both, way(operation, case), both()


def way(operation, case):
    """The rung that the public function takes for a case: of attention, the last one goes by tiles unless queries are
    few."""
    from dlkernels import implementations
    from dlkernels.attention import cpu
    from dlkernels.attention.geometry import geometry

    if operation == "scaled_dot_product_attention":
        q, k, v = arrays(case)[0]
        g = geometry(q, k, v, None, case["kind"] == "causal attention", None, False)[1]
        return "attention_split" if cpu.few(g, q.dtype) else "attention_causal"
    return implementations.of(operation, "cpu")[-1].name


def pytorch(case):
    import torch

    functions = torch.nn.functional
    *given, grad = [
        torch.from_numpy(one) for part in arrays(case) for one in (part if isinstance(part, list) else [part])
    ]

    def compute():
        if "attention" in case["kind"]:
            return functions.scaled_dot_product_attention(*given, is_causal=case["kind"] == "causal attention")
        if case["kind"] == "softmax":
            return functions.softmax(*given, dim=-1)
        return functions.layer_norm(given[0], given[0].shape[-1:], *given[1:])

    if case["passes"] == sides.FORWARD:

        def forward():
            with torch.inference_mode():
                return compute()

        return forward, "PyTorch", [forward().numpy()]
    for one in given:
        one.requires_grad_()

    def both():
        y = compute()
        return y, *torch.autograd.grad(y, given, grad)

    return both, "PyTorch", [one.detach().numpy() for one in both()]


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
