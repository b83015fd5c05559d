"""Which GPU kernels of the library are proved free of races, for which launches: what `simt.prove` says of each. No GPU needed.

    python benchmarks/run.py proofs           recorded in results/proofs.json; takes minutes
    python benchmarks/run.py proofs --quick   the sums only, not recorded

A kernel is asked about the blocks that the library launches it with, as the record of the gallery has them, and about every
block size. Kernels of one source, made for several functions or types, count once. The page "The x-ray" shows the
record, with the examples below; tests/simt/proof/test_record.py proves part of it again.
"""

import json
from pathlib import Path

from numba import float32

import simt
from dlkernels import implementations
from dlkernels.attention import gpu as attention
from simt import cuda

GALLERY = Path(__file__).parent / "results" / "gallery.json"
TILE = 16


def product(second):
    @cuda.jit
    def matmul(a, b, c):
        sa = cuda.shared.array((TILE, TILE), float32)
        sb = cuda.shared.array((TILE, TILE), float32)
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.grid(2)
        total = float32(0)
        for k in range(0, a.shape[1], TILE):
            sa[y, x] = a[i, k + x]
            sb[y, x] = b[k + y, j]
            cuda.syncthreads()
            for p in range(TILE):
                total += sa[y, p] * sb[p, x]
            if second:
                cuda.syncthreads()
        c[i, j] = total

    return matmul


@cuda.jit
def tree(x, out):
    s = cuda.shared.array(1024, float32)
    t, step = cuda.threadIdx.x, cuda.blockDim.x // 2
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def scale(x, y):
    for i in range(cuda.threadIdx.x, x.size, 256):
        y[i] = 2 * x[i]


@cuda.jit
def scatter(x, place, y):
    i = cuda.grid(1)
    if i < x.size and place[i] == i:
        y[place[place[i]]] = x[i]


LINES = "void(float32[:], float32[:])"
MATRICES = "void(float32[:, :], float32[:, :], float32[:, :])"
#: name -> (kernel, signature, block or None for all)
EXAMPLES = {
    "tree": (tree, LINES, None),
    "product": (product(True), MATRICES, None),
    "product without its second barrier": (product(False), MATRICES, None),
    "scale": (scale, LINES, None),
    "scale, 256 threads": (scale, LINES, 256),
    "attention": (attention.tiles_kernel(1, 4), attention.TILES, (16, 16)),
    "attention without its last barrier": (attention.tiles_kernel(1, 4, False), attention.TILES, (16, 16)),
}


def benchmark(quick=False):
    examples = {name: show(name, simt.prove(*asked[:2], block=asked[2]).to_dict()) for name, asked in EXAMPLES.items()}
    rows = []
    for place, (kernel, signature, blocks) in kernels_of_the_library().items():
        if not quick or "reduce/gpu_sum" in place:
            rows.append(show(place, {"place": place, **told(kernel, signature, blocks)}))
    return {"rows": rows, "examples": examples}


def show(name, row):
    print(f"{name:<60}{row['verdict']:<14}{row.get('reason', '')}", flush=True)
    return row


def kernels_of_the_library():
    """ "vector/gpu.py:38" -> (kernel, its first signature, the blocks with which the gallery launched it)."""
    found = {}
    rows = {row["name"]: row["launches"] for row in json.loads(GALLERY.read_text(encoding="utf-8"))["data"]["rows"]}
    for rung in implementations.everything():
        for kernel, signatures in rung.kernels if rung.device == "gpu" else ():
            code = kernel.py_func.__code__
            file = Path(code.co_filename).resolve().relative_to(implementations.LIBRARY / "dlkernels").as_posix()
            _, _, blocks = found.setdefault(
                f"{file} {code.co_qualname.replace('.<locals>', '')}", (kernel, signatures[0], [])
            )
            here = [tuple(one["block"]) for one in rows.get(rung.name, ()) if one["kernel"] == code.co_name]
            blocks += [block for block in here if block not in blocks]
    return found


def told(kernel, signature, blocks):
    """What the record says of one kernel: for the blocks of the library, and where that is proved, for every block."""
    own = [simt.prove(kernel, signature, block=block).to_dict() for block in blocks]
    worst = max(own, key=lambda v: ("free", "not provable", "fails").index(v["verdict"]))
    every = simt.prove(kernel, signature).to_dict()["verdict"] if worst["verdict"] == "free" else None
    return worst | {"block": blocks, "every block": every}
