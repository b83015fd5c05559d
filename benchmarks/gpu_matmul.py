"""Matrix products on a GPU: every rung against cuBLAS and PyTorch. Part of ``make gpu-record``.

float32 means float32: TF32, which keeps 10 bits of each fraction, is off on both sides. Each candidate is compared with
float64 before it is timed; times are those of CUDA events, candidates in turns.
"""

import contextlib
from dataclasses import dataclass

import numpy as np
from gpu_timing import kernel_times

ROUNDS = 7


@dataclass(frozen=True)
class Product:
    """``count`` products of (m, k) by (k, n); dtype float32, float16 or bfloat16, the latter two with float32 sums."""

    m: int
    n: int
    k: int
    count: int = 1
    dtype: str = "float32"

    @property
    def operation(self):
        return "matmul" if self.dtype == "float32" else "matmul_half"

    def operands(self):
        """a and b on the host; bfloat16 as bits in uint16."""
        stack = () if self.count == 1 else (self.count,)
        rng = np.random.default_rng(0)
        pair = (rng.standard_normal((*stack, *one), np.float32) for one in ((self.m, self.k), (self.k, self.n)))
        if self.dtype == "bfloat16":
            return tuple((x.view(np.uint32) >> 16).astype(np.uint16) for x in pair)
        return tuple(x.astype(self.dtype) for x in pair)


SQUARES = [Product(n, n, n) for n in (256, 512, 1024, 2048, 4096)]
RAGGED = [Product(1000, 777, 333), Product(1023, 1025, 1031), Product(1000, 1000, 1000)]
LONG = [Product(128, 128, 65536), Product(256, 512, 16384)]  # for split-K
STACKS = [Product(256, 256, 256, 64), Product(1024, 64, 64, 128)]
HALF = [Product(n, n, n, dtype=dtype) for n in (1024, 4096) for dtype in ("float16", "bfloat16")]
PRODUCTS = SQUARES + RAGGED + LONG + STACKS + HALF
TINY = [Product(8, 8, 8), Product(5, 3, 7), Product(4, 4, 8, 2), Product(4, 8, 4, dtype="float16")]  # dry run


def measure(keep, event_times, products=PRODUCTS, rounds=ROUNDS):
    """Check and time every candidate of every product; each result goes to ``keep`` as a dict, at once."""
    for product in products:
        try:
            rows(product, keep, event_times, rounds)
        except Exception as error:  # one product that does not run must not hide the others
            keep({**vars(product), "error": f"{type(error).__name__}: {error}"[:500]})


def rows(product, keep, event_times, rounds):
    from dlkernels import cuda

    a, b = product.operands()
    out = cuda.to_device(np.zeros((*a.shape[:-1], product.n), np.float32))
    found = candidates(product, cuda.to_device(a), cuda.to_device(b), out)
    right, errors = {}, {}
    for name, run in found.items():
        try:
            errors[name] = worst_error(run, product, a, b, out)
        except Exception as error:
            keep({**vars(product), "name": name, "error": f"{type(error).__name__}: {error}"[:500]})
            continue
        if errors[name] <= 1:
            right[name] = run
        else:
            keep({**vars(product), "name": name, "error": f"wrong: {errors[name]:.3g} times the error allowed"})
    if not right:
        return
    measured, host = event_times(right, cuda, rounds=rounds)
    kernels = kernel_times(right, cuda)
    for name, seconds in measured.seconds.items():
        row = {**vars(product), "name": name, "seconds": seconds, "launch_seconds": host[name]}
        row["flops"] = 2 * product.m * product.n * product.k * product.count / seconds
        row["error_of_allowed"] = errors[name]
        if name in kernels:
            row |= {"kernel_seconds": kernels[name]["seconds"], "kernels": kernels[name]["kernels"]}
            row["kernel_flops"] = 2 * product.m * product.n * product.k * product.count / row["kernel_seconds"]
            for peer in ("cuBLAS", "PyTorch"):
                if peer in kernels:
                    row[f"kernel_ratio_to_{peer}"] = kernels[peer]["seconds"] / row["kernel_seconds"]
        for peer in ("cuBLAS", "PyTorch"):
            if peer in right:
                ratio = measured.ratio(peer, name)
                row[f"ratio_to_{peer}"] = ratio.ratio
                row[f"quartiles_to_{peer}"] = [ratio.low, ratio.high]
        keep(row)


def candidates(product, a, b, out):
    """Name -> function that queues the product of device arrays into ``out`` and does not wait."""
    from dlkernels import implementations

    found = {}
    with contextlib.suppress(OSError, RuntimeError):
        import cublas

        found["cuBLAS"] = cublas.product(a, b, out, product.dtype)
    if product.dtype == "float32":
        with contextlib.suppress(Exception):  # PyTorch is missing, without CUDA, or does not see the arrays
            found["PyTorch"] = torch_product(a, b, out)
    prepared = implementations.OPERATIONS[product.operation].prepare(a, b, out)
    for rung in implementations.of(product.operation, device="gpu"):
        found[rung.name] = lambda rung=rung: rung.function(*prepared)
    return found


def torch_product(a, b, out):
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("no GPU for PyTorch")
    torch.backends.cuda.matmul.allow_tf32 = False
    x, y, z = (torch.as_tensor(array, device="cuda") for array in (a, b, out))
    return lambda: torch.matmul(x, y, out=z)  # on its default stream, which is numba's, too


def worst_error(run, product, a, b, out):
    """The largest error of some rows of the result against float64, as a share of what rounding may do at most."""
    out.copy_to_device(np.full(out.shape, np.nan, np.float32))
    run()
    got = out.copy_to_host().reshape(product.count, product.m, product.n)
    if product.dtype == "bfloat16":
        a, b = ((x.astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    left, right = a.reshape(product.count, product.m, -1), b.reshape(product.count, -1, product.n)
    worst = 0.0
    for number in sorted({0, product.count - 1}):
        rows = np.unique(np.linspace(0, product.m - 1, 16).astype(int))  # the first, the last, some of each tile
        x, y = left[number, rows].astype(float), right[number].astype(float)
        allowed = (product.k + 2) * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y))
        error = np.abs(got[number, rows] - x @ y) / np.maximum(allowed, np.finfo(np.float32).tiny)
        worst = max(worst, float(np.nan_to_num(error, nan=np.inf).max()))
    return worst
