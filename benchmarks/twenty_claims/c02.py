"""A training step of the digits' network, with one thread and with the number of threads that is best."""

import time

from . import FALSE, Part

CLAIM = "Tuning the thread count dynamically halves training time; resource utilisation rises above 80-90 %."
PARTS = (
    Part(
        "halves",
        "training takes half the time",
        "part of a step's time saved by the best number of threads",
        "true only with more than two cores",
        "14_workers",
        0.5,
    ),
    Part(
        "use",
        "use above 80 %",
        "part of all cores' time in which they run, at that number of threads",
        "true if every thread computes, or waits in a loop",
        "14_workers",
        0.8,
    ),
    Part(
        "dynamic",
        "a choice for each layer halves it",
        "part of the forward pass's time that a number for each layer saves over the best fixed one, at most",
        FALSE,
        "12_cnn",
        0.5,
    ),
)


def measure(quick):
    import numba

    from cpulab import measure as timing
    from training import SGD, Tensor, data
    from training import functional as F
    from training.smaller import networks

    (images, labels), _ = data.digits()
    x, t = images[:64], labels[:64]
    model = networks.digits(width=32)
    optimizer = SGD(model.parameters(), lr=0.01)
    most = numba.config.NUMBA_NUM_THREADS

    def step(count):
        numba.set_num_threads(count)
        optimizer.zero_grad()
        F.cross_entropy(model(Tensor(x)), t).backward()
        optimizer.step()

    def layers(count):
        numba.set_num_threads(count)
        now, seconds = Tensor(x), []
        for layer in model:
            begin = time.perf_counter()
            now = layer(now)
            seconds.append(time.perf_counter() - begin)
        return seconds

    counts = sorted({2**k for k in range(most.bit_length())} | {most})
    try:
        took = timing.times({str(n): lambda n=n: step(n) for n in counts}, budget=0.5 if quick else 6).seconds
        best = min(counts, key=lambda n: took[str(n)])
        wall, used = time.perf_counter(), time.process_time()
        for _ in range(5 if quick else 40):
            step(best)
        use = (time.process_time() - used) / (time.perf_counter() - wall) / most
        rows = {
            n: [min(one) for one in zip(*(layers(n) for _ in range(5 if quick else 30)), strict=True)] for n in counts
        }
    finally:
        numba.set_num_threads(most)
    fixed = min(map(sum, rows.values()))
    chosen = sum(map(min, zip(*rows.values(), strict=True)))
    return {"halves": 1 - took[str(best)] / took["1"], "use": use, "dynamic": 1 - chosen / fixed}
