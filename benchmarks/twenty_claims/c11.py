"""Convolutions by Winograd's method and by Fourier transforms, products by Strassen's, each beside the fastest direct rung."""

from . import Part, gain, random

CLAIM = "Winograd and FFT convolution beat direct convolution. Strassen beats blocked matmul."
OWN = "true if there are many channels"
LARGE = "true if the kernel is large"
PARTS = (
    Part(
        "winograd",
        "Winograd, 3 x 3",
        "seconds, direct / Winograd; 128 channels, 28 x 28, one thread",
        OWN,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "winograd first",
        "Winograd, a first layer",
        "seconds, direct / Winograd; 3 to 64 channels, 56 x 56, one thread",
        OWN,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "fft small",
        "FFT, 3 x 3",
        "seconds, direct / FFT; 16 channels, 96 x 96, one thread",
        LARGE,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "fft large",
        "FFT, 31 x 31",
        "seconds, direct / FFT; 16 channels, 96 x 96, one thread",
        LARGE,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "strassen",
        "Strassen",
        "seconds, blocked / Strassen, n = 2048",
        "true if the matrices are large",
        "08_matmul_variants",
        1,
    ),
)


def measure(quick):
    from dlkernels import conv2d_fft, conv2d_winograd, implementations, matmul, matmul_strassen

    tile = next(rung for rung in implementations.of("conv2d", device="cpu") if rung.name == "conv2d_tile")

    def layer(ours, ins, outs, side, k, padding):
        x, w = random(ins, side, side), random(outs, ins, k, k, seed=1)
        return gain(lambda: tile(x, w, padding=padding), lambda: ours(x, w, padding=padding), quick, 1)

    n = 512 if quick else 2048
    a, b = random(n, n), random(n, n, seed=1)
    return {
        "winograd": layer(conv2d_winograd, 128, 128, 28, 3, 1),
        "winograd first": layer(conv2d_winograd, 3, 64, 56, 3, 1),
        "fft small": layer(conv2d_fft, 16, 16, 96, 3, 0),
        "fft large": layer(conv2d_fft, 16, 16, 96, 31, 0),
        "strassen": gain(lambda: matmul(a, b), lambda: matmul_strassen(a, b), quick),
    }
