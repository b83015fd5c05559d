"""Which GPU kernels of the library are proved free of races, for which launches: what `simt.prove` says of each. No GPU
needed.

    python benchmarks/run.py proofs           recorded in results/proofs.json; takes minutes
    python benchmarks/run.py proofs --quick   the sums only, not recorded

A kernel is asked about the blocks that the library launches it with, as the record of the gallery has them, and about
every block size. Kernels of one source, made for several functions or types, count once. The page "Proofs" shows the
record, and proves some of the examples below; tests/simt/proof/test_record.py proves part of it again.
"""

import json
from pathlib import Path

import numpy as np
import stale
from numba import float32

import simt
from dlkernels import implementations
from dlkernels.attention import gpu as attention
from dlkernels.attention.geometry import geometry
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


LINES = ("void(float32[:], float32[:])",)
MATRICES = ("void(float32[:, :], float32[:, :], float32[:, :])",)


def attended(queries=20, keys=70, width=3):
    """Arguments of the attention kernel with tiles, for more tiles than one."""
    q, k, v = (np.ones((n, width), np.float32) for n in (queries, keys, keys))
    _, g = geometry(q, k, v, None, False, None, False)
    lines = (q.reshape(-1), k.reshape(-1), v.reshape(-1), np.zeros(1, np.float32))
    places = (g.of_q, g.of_k, g.of_v, g.of_mask)
    return (*lines, *places, np.zeros(queries * width, np.float32), *attention.numbers(g))


#: name -> (kernel, types or arguments, and what `simt.prove` takes besides)
ONE_TILE = {"block": (attention.SIDE, attention.SIDE), "grid": 2}
EXAMPLES = {
    "tree": (tree, LINES, {}),
    "product": (product(True), MATRICES, {}),
    "product without its second barrier": (product(False), MATRICES, {}),
    "scale": (scale, LINES, {}),
    "scale, 256 threads": (scale, LINES, {"block": 256}),
    "attention": (attention.tiles_kernel(1, 4), attended(), ONE_TILE),
    "attention without its last barrier": (attention.tiles_kernel(1, 4, False), attended(), ONE_TILE),
}


# What the library gives to kernels that are right for some arguments only: a condition for each way in which it does.
#: Steps of a sequence lie apart by `step`, backwards too; rows either beside each other or one after the other.
ROWS_OF_A_SCAN = [
    lambda after, first, step: [first == 0, step == after],
    lambda steps, after, first, step: [first == (steps - 1) * after, step == -after],
]
#: A layer's units are columns of a wider array, of (sequence, step) or (step, sequence).
PLACE_OF_A_LAYER = [
    lambda by_sequence, hidden, width, column: [by_sequence == 1, column >= 0, column + hidden <= width],
    lambda t, by_step, by_sequence, hidden, width, column: [
        by_step == 1,
        0 <= t,
        t < by_sequence,
        column >= 0,
        column + hidden <= width,
    ],
]
MEANT = {
    "attention/encodings.py turn_kernel": [
        lambda apart, step: [apart == 1, step == 2],
        lambda apart, step, cosines: [apart == cosines.shape[1], step == 1],
    ],
    "integer/gpu_conv2d.py tile_kernel.kernel": [lambda each, out: [each > 0, out.shape[1] % each == 0]],
    "recurrent/gpu.py lstm_states_kernel": PLACE_OF_A_LAYER,
    "recurrent/gpu.py rnn_step_kernel": PLACE_OF_A_LAYER,
    "recurrent/gpu_kept.py rnn_keep_kernel": PLACE_OF_A_LAYER,
    "recurrent/gpu_scans.py hillis_steele_kernel": ROWS_OF_A_SCAN,
    "recurrent/gpu_scans.py results_kernel": ROWS_OF_A_SCAN,
    "recurrent/gpu_scans.py thread_per_row_kernel": ROWS_OF_A_SCAN,
}


def benchmark(quick=False, kept=None):
    examples = kept["examples"] if kept else {name: show(name, example(name).to_dict()) for name in EXAMPLES}
    rows, before = [], stale.known(kept["rows"], lambda row: row["place"]) if kept else {}
    for place, (kernel, signature, blocks) in kernels_of_the_library().items():
        if not quick or "reduce/gpu_sum" in place:
            made = stale.made_of(kernel, *MEANT.get(place, ()))
            row = kept and stale.again(place, made, before)
            if not row or row["block"] != [list(block) for block in blocks]:
                said = told(kernel, signature, blocks, MEANT.get(place, [None]))
                row = show(place, {"place": place, **said, "made_of": made})
            rows.append(row)
    return {"rows": rows, "examples": examples}


def example(name):
    """The verdict on one of the examples."""
    kernel, given, more = EXAMPLES[name]
    return simt.prove(kernel, *given, **more)


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


def told(kernel, signature, blocks, meant=(None,)):
    """What the record says of one kernel: for the blocks of the library, and where that is proved, for every block."""
    own = [simt.prove(kernel, signature, block=b, where=where).to_dict() for b in blocks for where in meant]
    if not own:  # a kernel that the gallery's calls do not launch
        own = [simt.prove(kernel, signature, where=where).to_dict() for where in meant]
    worst = max(own, key=lambda v: ("free", "not provable", "fails").index(v["verdict"]))
    every = simt.prove(kernel, signature, where=meant[0]).kind if worst["verdict"] == "free" else None
    return worst | {"block": blocks, "every block": every}
