"""Convolutions by Winograd's method and by Fourier transforms, each beside the fastest rung that has neither; products
by Strassen's method, beside blocked ones."""

from . import Part, gain, random, threads

CLAIM = "Winograd and FFT convolution beat direct convolution. Strassen beats blocked matmul."
OWN = "true if there are many channels"
LARGE = "true if the kernel is large"
PARTS = (
    Part(
        "winograd",
        "Winograd, 3 x 3",
        "seconds, the fastest other rung / Winograd; 128 channels, 28 x 28, one thread",
        OWN,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "winograd first",
        "Winograd, a first layer",
        "seconds, the fastest other rung / Winograd; 3 to 64 channels, 56 x 56, one thread",
        OWN,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "fft small",
        "FFT, 3 x 3",
        "seconds, the fastest other rung / FFT; 16 channels, 96 x 96, one thread",
        LARGE,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "fft large",
        "FFT, 31 x 31",
        "seconds, the fastest other rung / FFT; 16 channels, 96 x 96, one thread",
        LARGE,
        "09_convolution_winograd",
        1,
    ),
    Part(
        "strassen",
        "Strassen",
        "seconds, blocked / Strassen, n = 2048",
        "true if the matrices are large, and additions cost little beside products",
        "08_matmul_variants",
        1.05,
    ),
)


def measure(quick):
    from cpulab import measure as timing
    from dlkernels import conv2d_fft, conv2d_winograd, implementations, matmul, matmul_strassen

    names = "conv2d_tile", "conv2d_implicit", "conv2d_im2col"  # which is the fastest depends on layer and machine
    others = [rung for rung in implementations.of("conv2d", device="cpu") if rung.name in names]

    def layer(ours, ins, outs, side, k, padding):
        x, w = random(ins, side, side), random(outs, ins, k, k, seed=1)
        runs = {rung.name: lambda rung=rung: rung(x, w, padding=padding) for rung in others}
        with threads(1):
            took = timing.fastest(runs, limit=0.2 if quick else 1)
        return gain(runs[min(took, key=took.get)], lambda: ours(x, w, padding=padding), quick, 1)

    n = 512 if quick else 2048
    a, b = random(n, n), random(n, n, seed=1)
    return {
        "winograd": layer(conv2d_winograd, 128, 128, 28, 3, 1),
        "winograd first": layer(conv2d_winograd, 3, 64, 56, 3, 1),
        "fft small": layer(conv2d_fft, 16, 16, 96, 3, 0),
        "fft large": layer(conv2d_fft, 16, 16, 96, 31, 0),
        "strassen": gain(lambda: matmul(a, b), lambda: matmul_strassen(a, b), quick),
    }
