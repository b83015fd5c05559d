"""Sparse products beside scipy.sparse; from which density on a dense product is faster; blocks; two of four.

    python benchmarks/run.py sparse           recorded in results/sparse.json
    python benchmarks/run.py sparse --quick   fewer sizes, not recorded

float32, indices of 4 bytes. Ratios are the other's time over ours, from the same rounds, with quartiles; results are
compared before. scipy.sparse comes with scikit-learn, and uses one thread. `busy`: other programs ran meanwhile. What
is said of one thread is its processor time, which changes little by that; with all threads, a core that another program
has may cost a product of OpenBLAS many times its time, since all its threads wait for each other.

matrices   spmv and spmm beside `matrix @ x`, for five kinds of matrices: each rung of the CPU, all threads as a user
           has them; "one thread": our function with one
crossing   1,024 x 1,024, a random fraction stored, times N columns: `spmm` beside NumPy's dense product, both with one
           thread. `crosses` is the fraction at which they take as long, by a line between the last density at which CSR
           is faster and the next (in logarithms)
blocks     the same fraction stored as blocks, beside CSR, one thread
two_four   a layer with two of each four weights kept, beside the dense one (`linear`), one thread: bytes and time
"""

import itertools
import math

import numpy as np

from cpulab.measure import Table, ThreadClock, times
from dlkernels import bsr_mm, implementations, linear, linear_2_4, spmm, spmv, team, to_2_4, to_csr

EDGE = 1024
WIDTHS = (1, 8, 64, 512)
DENSITIES = (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.35, 0.5)
CROSSED = (1, 64, 512)
BLOCKS = (4, 8, 16, 32)
LAYERS = ((1, 1024, 1024), (64, 1024, 1024), (512, 1024, 1024))  # samples, columns, rows


def from_counts(random, counts, columns):
    import scipy.sparse

    crow_indices = np.concatenate([[0], np.cumsum(counts)])
    values = random.standard_normal(crow_indices[-1], np.float32)
    matrix = scipy.sparse.csr_matrix(
        (values, random.integers(0, columns, crow_indices[-1]), crow_indices), (len(counts), columns)
    )
    matrix.sum_duplicates()
    return matrix


def matrices():
    """{name: a matrix of scipy}"""
    import scipy.sparse

    random = np.random.default_rng(0)
    bands = [random.standard_normal(4096, np.float32) for _ in range(9)]
    huge = np.ones(4096, int)
    huge[7] = 100_000  # nearly all entries are in one row
    return {
        "random, 10 %": scipy.sparse.random(EDGE, EDGE, 0.1, "csr", "float32", random),
        "random, 1 %": scipy.sparse.random(EDGE, EDGE, 0.01, "csr", "float32", random),
        "power law": from_counts(random, np.minimum(random.pareto(1.0, 4096) * 10, 4096).astype(int), 4096),
        "banded": scipy.sparse.csr_matrix(
            scipy.sparse.diags(bands, range(-4, 5), shape=(4096, 4096), format="csr", dtype=np.float32)
        ),
        "one huge row": from_counts(random, huge, 100_000),
    }


def quartiles(ratio):
    return {"ratio": ratio.ratio, "low": ratio.low, "high": ratio.high, "busy": ratio.busy}


def beside_scipy(name, matrix, width, budget):
    """Our function, and each rung, beside scipy's product."""
    csr = matrix.indptr, matrix.indices, matrix.data
    given = np.random.default_rng(1).standard_normal((matrix.shape[1], width), np.float32)
    operation, function = ("spmv", spmv) if width == 1 else ("spmm", spmm)
    given = given[:, 0].copy() if width == 1 else given
    rungs = [rung for rung in implementations.of(operation, "cpu") if rung.name != "spmm_loop" or width < 64]
    candidates = {"scipy": lambda: matrix @ given, "ours": lambda: function(*csr, given)}
    candidates |= {rung.name: lambda rung=rung: rung(*csr, given) for rung in rungs}
    expected = matrix.astype(float) @ given.astype(float)
    size = abs(matrix).astype(float) @ np.abs(given.astype(float))
    for candidate in candidates.values():
        assert (np.abs(candidate() - expected) <= 1e-5 * size).all()
    measured = times(candidates, budget=budget)
    alone = times(
        {name: candidates[name] for name in ("scipy", "ours")}, budget=budget / 3, threads=1, clock=ThreadClock()
    )
    return {
        "matrix": name,
        "rows": matrix.shape[0],
        "columns": matrix.shape[1],
        "entries": int(matrix.nnz),
        "N": width,
        "seconds": measured.seconds,
        **quartiles(measured.ratio("scipy", "ours")),
        "one thread": quartiles(alone.ratio("scipy", "ours")),
        "rungs": {rung.name: measured.ratio("scipy", rung.name).ratio for rung in rungs},
    }


def random_dense(random, density, edge=EDGE):
    """A matrix of zeros, but for a random fraction."""
    dense = random.standard_normal((edge, edge), np.float32)
    return np.where(random.random((edge, edge)) < density, dense, np.float32(0))


def beside_dense(density, width, budget):
    dense = random_dense(np.random.default_rng(2), density)
    csr = to_csr(dense)
    given = np.random.default_rng(1).standard_normal((EDGE, width), np.float32)
    given = given[:, 0].copy() if width == 1 else given
    function = spmv if width == 1 else spmm
    candidates = {"dense": lambda: dense @ given, "CSR": lambda: function(*csr, given)}
    np.testing.assert_allclose(candidates["CSR"](), candidates["dense"](), atol=1e-3)
    measured = times(candidates, budget=budget, threads=1, clock=ThreadClock())
    return {"density": density, "N": width, "seconds": measured.seconds, **quartiles(measured.ratio("dense", "CSR"))}


def crossing(rows):
    """The density at which the dense product takes as long, or None."""
    for one, other in list(itertools.pairwise(rows))[::-1]:
        if one["ratio"] >= 1 > other["ratio"]:
            (x, y), (u, v) = ((math.log(row["density"]), math.log(row["ratio"])) for row in (one, other))
            return math.exp(x + (u - x) * y / (y - v))
    return None


def to_blocks(dense, edge):
    """(crow_indices, col_indices, values) of the blocks that are not zero."""
    n = len(dense) // edge
    blocks = np.ascontiguousarray(dense.reshape(n, edge, n, edge).swapaxes(1, 2))
    crow_indices, col_indices, _ = to_csr((blocks != 0).any(axis=(2, 3)).astype(np.float32))
    rows = np.repeat(np.arange(n), np.diff(crow_indices))
    return crow_indices, col_indices, blocks[rows, col_indices]


def of_blocks(edge, width, budget, density=0.1):
    random = np.random.default_rng(3)
    kept = np.kron(random.random((EDGE // edge, EDGE // edge)) < density, np.ones((edge, edge), bool))
    dense = np.where(kept, random.standard_normal((EDGE, EDGE), np.float32), np.float32(0))
    csr, bsr = to_csr(dense), to_blocks(dense, edge)
    given = random.standard_normal((EDGE, width), np.float32)
    candidates = {
        "dense": lambda: dense @ given,
        "CSR": lambda: spmm(*csr, given),
        "blocks": lambda: bsr_mm(*bsr, given),
    }
    for name in ("CSR", "blocks"):
        np.testing.assert_allclose(candidates[name](), candidates["dense"](), atol=1e-3)
    measured = times(candidates, budget=budget, threads=1, clock=ThreadClock())
    stored = {name: sum(x.nbytes for x in arrays) for name, arrays in (("CSR", csr), ("blocks", bsr))}
    return {
        "edge": edge,
        "density": float(kept.mean()),
        "N": width,
        "seconds": measured.seconds,
        "beside CSR": quartiles(measured.ratio("CSR", "blocks")),
        "beside dense": quartiles(measured.ratio("dense", "blocks")),
        "bytes": stored | {"dense": dense.nbytes},
    }


def two_of_four(samples, columns, rows, budget):
    random = np.random.default_rng(4)
    x = random.standard_normal((samples, columns), np.float32)
    weight = random.standard_normal((rows, columns), np.float32)
    packed = to_2_4(weight)
    rungs = implementations.of("linear_2_4", "cpu")
    rungs = [rung for rung in rungs if rung.name != "linear_2_4_loop" or samples <= 64]
    candidates = {
        "dense": lambda: linear(x, weight),
        "NumPy": lambda: x @ weight.T,
        "ours": lambda: linear_2_4(x, *packed),
    }
    candidates |= {rung.name: lambda rung=rung: rung(x, *packed) for rung in rungs}
    measured = times(candidates, budget=budget, threads=1, clock=ThreadClock())
    return {
        "samples": samples,
        "columns": columns,
        "rows": rows,
        "seconds": measured.seconds,
        **quartiles(measured.ratio("dense", "ours")),
        "rungs": {rung.name: measured.ratio("dense", rung.name).ratio for rung in rungs},
        "bytes": {"dense": weight.nbytes, "packed": sum(part.nbytes for part in packed)},
    }


def shown(row, *keys):
    return (*(row[key] for key in keys), f"{row['ratio']:.2f} ({row['low']:.2f} to {row['high']:.2f})")


def benchmark(quick):
    budget = 0.3 if quick else 1.0
    found = matrices()
    beside = [
        beside_scipy(name, matrix, width, budget)
        for name, matrix in list(found.items())[: 2 if quick else None]
        for width in (WIDTHS[:3] if quick else WIDTHS)
        if width < 512 or matrix.shape[1] <= 4096
    ]
    heads = "matrix", "entries", "N", "one thread", "scipy / ours"
    print(
        Table(heads, [shown(row | {"one": f"{row['one thread']['ratio']:.2f}"}, *heads[:3], "one") for row in beside])
    )
    densities = DENSITIES[::3] if quick else DENSITIES
    crossings = []
    for width in CROSSED:
        rows = [beside_dense(density, width, budget / 2) for density in densities]
        crossings.append({"N": width, "rows": rows, "crosses": crossing(rows)})
        print(Table(("N", "density", "dense / CSR"), [shown(row, "N", "density") for row in rows]))
        print(f"N = {width}: as long at a density of {crossings[-1]['crosses']}\n")
    blocks = [of_blocks(edge, 64, budget) for edge in (BLOCKS[:1] if quick else BLOCKS)]
    columns = "edge", "density", "CSR / blocks", "dense / blocks"
    ratios = [(row["beside CSR"]["ratio"], row["beside dense"]["ratio"]) for row in blocks]
    print(
        Table(
            columns,
            [
                (row["edge"], f"{row['density']:.3f}", *(f"{x:.2f}" for x in two))
                for row, two in zip(blocks, ratios, strict=True)
            ],
        )
    )
    layers = [two_of_four(*layer, budget) for layer in LAYERS[: 2 if quick else None]]
    print(
        Table(
            ("samples", "columns", "rows", "dense / two of four"),
            [shown(row, "samples", "columns", "rows") for row in layers],
        )
    )
    return {"threads": team.size(), "matrices": beside, "crossing": crossings, "blocks": blocks, "two_four": layers}
