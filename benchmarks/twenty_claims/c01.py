"""Time that threads save in a product, and in a layer forward and backward."""

from . import Part, by_threads, random

CLAIM = "Multithreading cuts matrix-multiply time by 30-50 %, and layer forward/backward by 20-40 %."
SECOND = "true if there is a second core, and it is not quite free"
PARTS = (
    Part("product", "a product, by 30 to 50 %", "part of the time saved, 1024 x 1024", SECOND, "08_matmul", 0.3, 0.5),
    Part(
        "forward",
        "a layer forward, by 20 to 40 %",
        "part saved, 768 x 768, ReLU",
        SECOND,
        "08_matmul_variants",
        0.2,
        0.4,
    ),
    Part(
        "backward",
        "a layer backward, by 20 to 40 %",
        "part saved, 768 x 768, ReLU",
        SECOND,
        "08_matmul_variants",
        0.2,
        0.4,
    ),
)


def measure(quick):
    from dlkernels import linear, linear_backward, matmul

    a, b = random(1024, 1024), random(1024, 1024, seed=1)
    x, w, bias = random(768, 768), random(768, 768, seed=1), random(768)
    y = linear(x, w, bias, "relu")
    runs = {
        "product": lambda: matmul(a, b),
        "forward": lambda: linear(x, w, bias, "relu"),
        "backward": lambda: linear_backward(y, x, w, bias, "relu"),
    }
    return {name: 1 - 1 / by_threads(run, quick) for name, run in runs.items()}
