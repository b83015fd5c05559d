"""What rungs for GPUs do to memory at the sizes of real layers, counted by the compiled engine. No GPU needed, and no
times.

    python benchmarks/run.py real_size           recorded in results/real_size.json; takes two minutes
    python benchmarks/run.py real_size --quick   smaller, not recorded

Each result is compared with the float64 reference. The pages 8.2, 9.3, 10.3, 10.4 and 11.3 show the record;
tests/measure/test_real_size.py derives some of its numbers, and counts the small ones again.
"""

import numpy as np
from caught import launches

from dlkernels import implementations

SHOWN = ("global_load_requests", "shared_load_requests", "bytes_moved", "bytes_stored", "accesses", "barriers")


def random(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def product(n=512):
    return random(n, n, seed=1), random(n, n, seed=2)


def layer(channels=64, side=56):
    """Of a ResNet: 3 x 3 weights, padding 1, as many channels out as in."""
    x, weight = random(1, channels, side, side, seed=1), random(channels, channels, 3, 3, seed=2)
    return x, weight / np.float32(3 * channels**0.5), random(channels, seed=3), 1, 1


def head(n=1024, d=64):
    return tuple(random(n, d, seed=seed) for seed in range(3))


def sequence(steps=16, hidden=512):
    """One sequence: x, h, c, the weights of x and of h, and their biases."""
    w, u = (random(4 * hidden, hidden, seed=seed) / np.float32(hidden**0.5) for seed in range(2))
    x, h, c = random(steps, 1, hidden, seed=2), *random(2, 1, 1, hidden, seed=3)
    return x, h, c, w, u, *random(2, 4 * hidden, seed=4)


def channels_of_mamba(channels=64, steps=1024, states=16):
    """u, delta, A, B, C, D of one sequence."""
    u, delta = random(1, channels, steps, seed=1), np.abs(random(1, channels, steps, seed=2)) / 4
    A = -np.abs(random(channels, states, seed=3))
    return u, delta, A, *random(2, 1, states, steps, seed=4), random(channels, seed=5)


CALLS = {  # operation: (what makes its arguments, its sizes for a quick look, rungs)
    "matmul": (product, (128,), ("coalesced", "shared_tile", "tile_2d", "double_buffered")),
    "conv2d": (layer, (16, 14), ("one_per_output", "shared_halo", "channels", "implicit_gemm")),
    "scaled_dot_product_attention": (head, (256,), ("three_kernels", "shared_tiles", "register_tiles")),
    "lstm": (sequence, (4, 128), ("kernel_per_gate", "fused_inputs")),
    "selective_scan": (channels_of_mamba, (8, 256), ("thread_per_channel", "wide", "blocks")),
}


def benchmark(quick=False):
    return {"rows": [row for name in CALLS for row in rows_of(name, quick)]}


def rows_of(name, quick=False):
    """The counts of each rung of an operation."""
    make, small, names = CALLS[name]
    arguments = make(*small) if quick else make()
    for rung in implementations.of(name, "gpu"):
        short = next((name for name in names if rung.name.endswith(f"_{name}")), None)
        if short:
            yield {
                "operation": name,
                "rung": short,
                "sizes": [list(np.shape(x)) for x in arguments],
                **counted(rung, arguments),
            }


def counted(rung, arguments):
    """Sums over all launches of a call."""
    with launches(engine="compiled") as reports:
        result = rung(*arguments)
    operation = implementations.OPERATIONS[rung.operation]
    expected = operation.reference(*arguments)
    first, wanted = (x[0] if isinstance(x, tuple) else x for x in (result, expected))
    np.testing.assert_allclose(first, wanted, atol=2e-4, rtol=2e-4, err_msg=rung.name)
    sums = {name: sum(report.total[name] for report in reports) for name in SHOWN}
    print(f"{rung.name:<32}{len(reports):>4} launches {sums['bytes_moved'] / 1e6:12,.1f} MB", flush=True)
    return {"launches": len(reports)} | sums
