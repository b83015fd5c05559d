"""int8 and pruned layers beside float32 ones, and what the five recorded networks lose by it."""

from . import TRUE, Part, gain, random

CLAIM = "Quantising to int8 speeds up inference with little loss of accuracy; pruning makes inference faster."
VNNI = "true most of all where an instruction multiplies four codes"
DENSITY = "true below a density, or where whole rows or blocks go"
PARTS = (
    Part(
        "int8",
        "int8 is faster",
        "seconds, float32 / int8 with quantising; 1024 x 1024, 256 rows; the int8 weight was packed before",
        VNNI,
        "13_integer",
        1,
    ),
    Part(
        "accuracy",
        "little loss",
        "part of the test digits lost with 8 bits, mean of five networks",
        TRUE,
        "13_bits",
        -0.01,
        0.01,
        exact=True,
    ),
    Part(
        "half",
        "pruning half is faster",
        "seconds, dense / CSR; 1024 x 1024, half of the weights, 64 columns",
        DENSITY,
        "13_sparse",
        1,
    ),
    Part(
        "twentieth",
        "pruning to a twentieth is faster",
        "seconds, dense / CSR; 1024 x 1024, a twentieth of the weights, 64 columns",
        DENSITY,
        "13_sparse",
        1,
    ),
)


def measure(quick):
    import numpy as np

    from cpulab.measure import recorded
    from dlkernels import PackedWeight, choose_qparams, linear, linear_int8, matmul, quantize, spmm, to_csr

    x, w = random(256, 1024), random(1024, 1024, seed=1)
    scales, _ = choose_qparams(w, axis=0)
    packed = PackedWeight(quantize(w, scales, axis=0))

    def in_codes():
        scale, zero = choose_qparams(x, symmetric=False)
        return linear_int8(quantize(x, scale, zero), packed, None, float(scale), int(zero), scales)

    columns = random(1024, 64, seed=2)

    def pruned(part):
        left = np.where(np.abs(w) >= np.quantile(np.abs(w), 1 - part), w, np.float32(0))
        csr = to_csr(left)
        return gain(lambda: matmul(left, columns), lambda: spmm(*csr, columns), quick)

    rows = recorded("smaller").data["networks"]["digits"]["rows"]
    right = {(row["method"], row["setting"]): row["test"]["mean"] for row in rows}
    return {
        "int8": gain(lambda: linear(x, w), in_codes, quick),
        "accuracy": right["as it was", "float32"] - right["rounded", "8 bits, activations too"],
        "half": pruned(0.5),
        "twentieth": pruned(0.05),
    }
