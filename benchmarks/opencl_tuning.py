"""The tiles of the OpenCL matrix product, tried on this device: which is best, and what the usual one leaves.

    python benchmarks/run.py opencl_tuning           recorded in results/opencl_tuning.json
    python benchmarks/run.py opencl_tuning --quick   one round of one shape, not recorded

matmul_registers of lib/opencl/kernels/matmul.cl is built for every TILE (a side of the work-group) and EACH (results of
a work-item along a side) that the device takes, and run on each shape. Rounds in which all configurations have their
turn; medians; seconds by the device's clock. Every result is compared with NumPy's.
"""

import numpy as np

from cpulab.measure import Table
from opencl import host, launches
from simt.xray import Unavailable

SHAPES = {"square": (256, 256, 256), "flat": (16, 512, 512)}  # m, n, k
TILES, EACH = (4, 8, 16, 32), (1, 2, 4, 8)
USUAL = launches.TILE, launches.MATMUL["matmul_registers"]


def fits(device, tile, each):
    """Whether a work-group of this tile may run, and a tile of results is one of at most 128 x 128."""
    wide = tile * each
    local = 4 * (wide * (tile + 1) + tile * wide)
    return tile * tile <= device.largest_group and local <= device.local_bytes and wide <= 128


def kernel(device, tile, each):
    text = (host.KERNELS / "matmul.cl").read_text(encoding="utf-8")
    for old, new in (
        (f"#define TILE {USUAL[0]}\n", f"#define TILE {tile}\n"),
        (f"#define EACH {USUAL[1]}\n", f"#define EACH {each}\n"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return device.program(text, real="float").matmul_registers


def run(device, built, tile, each, a, b):
    """(the product, the milliseconds that it took on the device)."""
    (m, k), n = a.shape, b.shape[1]
    out = device.empty((m, n))
    work_items = launches.up(-(-n // each), tile), launches.up(-(-m // each), tile), 1
    event = built(work_items, (tile, tile, 1), a, b, out, m, n, k, 0, 0)
    return out, host.milliseconds(event)


def benchmark(quick):
    if not host.available():
        raise Unavailable("There is no OpenCL device here (make opencl).")
    device = host.device()
    space = [(tile, each) for tile in TILES for each in EACH if fits(device, tile, each)]
    built = {one: kernel(device, *one) for one in space}
    found = {}
    for name, (m, n, k) in list(SHAPES.items())[: 1 if quick else None]:
        draw = np.random.default_rng(0)
        host_a, host_b = draw.standard_normal((m, k), np.float32), draw.standard_normal((k, n), np.float32)
        a, b, expected = device.array(host_a), device.array(host_b), host_a.astype(float) @ host_b
        times = {one: [] for one in space}
        for _ in range(2 if quick else 9):
            for one in space:
                out, took = run(device, built[one], *one, a, b)
                times[one].append(took)
        for one in space:
            out = run(device, built[one], *one, a, b)[0].get()
            assert np.abs(out - expected).max() < 1e-4 * k, (name, one)
        found[name] = [float(np.median(times[one][1:])) for one in space]
        print(
            Table(
                ("TILE", "EACH", f"ms, {name}"),
                [(*one, f"{ms:.2f}") for one, ms in zip(space, found[name], strict=True)],
            )
        )
    return {"device": repr(device), "shapes": SHAPES, "space": space, "usual": USUAL, "milliseconds": found}
