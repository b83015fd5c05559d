"""Chains of element-wise operations, fused and one by one, beside PyTorch: eager, and torch.compile.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py fusion           recorded in results/fusion.json; eight minutes
    TORCH_PYTHON=.../bin/python python benchmarks/run.py fusion --quick   one thread, not recorded

"kind" of a row says which two are compared. Ours are those of lib/training/fusion, with the tape in both passes.
torch.compile makes C++ of a chain and needs a compiler for it (g++). The results of both sides are compared, but for
dropout, whose random numbers differ: there it is the fraction of zeros. "bytes" of the record: what each chain has to
move, fused and one by one. sides.py says how it is timed.
"""

import numpy as np
import sides

LARGE, SMALL = (4096, 1024), (64, 1024)  # 16 MiB for an array: beyond most caches; 256 KiB
KINDS = ("fused, eager", "fused, compiled", "one by one, eager")
DROPPED = 0.1

stored_as = sides.stored_as


def residual(F, x, bias, r):
    return F.gelu(x + bias) + r


def scaled(F, x, bias, r):
    return F.relu(x + bias) * 0.5 + r


def long(F, x, bias, r):
    return F.tanh(F.gelu(x + bias) * 0.5 + r) * r - x


def dropout(F, x, bias, r):
    return F.dropout(F.gelu(x + bias), DROPPED) + r


CHAINS = {function.__name__: function for function in (residual, scaled, long, dropout)}


def benchmark(quick=False):
    """Rows and means of sides.compare, and the bytes of each chain."""
    cases = []
    for kind in KINDS[: 2 if quick else None]:
        for name in CHAINS:
            for shape in (LARGE, SMALL)[: 1 if quick or name == "dropout" else None]:
                for passes in (sides.FORWARD, sides.BOTH):
                    case = {"kind": kind, "chain": name, "shape": shape, "passes": passes}
                    cases.append(case | {"work": int(np.prod(shape))})
    counted = {name: moved(name) for name in CHAINS}
    for name, one in counted.items():
        print(f"{name}: bytes for each element, forward and backward {one}")
    return sides.compare(__file__, cases, label, quick) | {"bytes": counted}


def label(row):
    return f"{row['chain']} {row['shape'][0]} x {row['shape'][1]}"


def arrays(case):
    random = np.random.default_rng(0)
    shape = tuple(case["shape"])
    return [random.standard_normal(one, np.float32) for one in (shape, shape[1:], shape)]


def moved(name):
    """{"fused" or "one by one": [launches, bytes for each element], forward and backward}."""
    from training import Tensor, fusion
    from training import functional as F

    found, shape = {}, (64, 1024)
    for how, most in (("fused", fusion.lazy.MOST), ("one by one", 1)):
        tensors = [Tensor(x, requires_grad=True) for x in arrays({"shape": shape})]
        with fusion.launches() as made:
            result = fusion.fused(lambda *given: CHAINS[name](F, *given), most=most)(*tensors)
            result.backward(np.ones(shape, np.float32))
        found[how] = [len(made), float(sum(one.bytes for one in made) / np.prod(shape))]
    return found


def warm():
    return ours({"kind": KINDS[0], "chain": "residual", "shape": SMALL, "passes": sides.FORWARD})[0]


def ours(case):
    from training import Tensor, fusion, no_grad
    from training import functional as F

    backward = case["passes"] == sides.BOTH
    tensors = [Tensor(x, requires_grad=backward) for x in arrays(case)]
    ones = np.ones(tuple(case["shape"]), np.float32)
    most = fusion.lazy.MOST if case["kind"].startswith("fused") else 1
    chain = fusion.fused(lambda *given: CHAINS[case["chain"]](F, *given), most=most)

    def run():
        if not backward:
            with no_grad():
                return chain(*tensors).data
        for x in tensors:
            x.grad = None
        result = chain(*tensors)
        result.backward(ones)
        return result.data

    return run, case["kind"].split(",")[0], compared(case, run(), [x.grad for x in tensors if backward])


def compared(case, result, grads):
    """What the two sides must agree on: of dropout, how much of what was not added is left."""
    if case["chain"] == "dropout":
        return [np.mean(result != arrays(case)[2], keepdims=True)]
    return [result, *grads]


def pytorch(case):
    import torch
    from torch.nn import functional

    class F:  # the names of the chains
        gelu, relu, tanh = functional.gelu, functional.relu, torch.tanh
        dropout = functional.dropout

    backward = case["passes"] == sides.BOTH
    tensors = [torch.from_numpy(x).requires_grad_(backward) for x in arrays(case)]
    ones = torch.ones(tuple(case["shape"]))

    def chain(x, bias, r):
        return CHAINS[case["chain"]](F, x, bias, r)

    chain = torch.compile(chain) if case["kind"].endswith("compiled") else chain

    def run():
        if not backward:
            with torch.no_grad():
                return chain(*tensors)
        for x in tensors:
            x.grad = None
        result = chain(*tensors)
        result.backward(ones)
        return result.detach()

    result = run().numpy()
    return run, "PyTorch", compared(case, result, [x.grad.numpy() for x in tensors if backward])


if __name__ == "__main__":
    sides.serve(ours, pytorch, warm)
