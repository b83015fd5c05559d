"""Published training runs: what was run, with which grid, and how fast it was. Figures from papers, none measured here.

Each row has the seconds of a step, or what they follow from. What a source does not say is in `assumed`. The one number
that is fitted, GPU.kernels, is fitted on the rows with `fit`, one for each kind of GPU; the others test it.

narayanan2021    "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", tables 1 and 2;
                 microbatch and interleave from examples/sc21/run_table_1.sh of NVIDIA/Megatron-LM. Its TFLOP/s count
                 the recomputed pass.
korthikanti2023  "Reducing Activation Recomputation in Large Transformer Models", tables 3 and 5
jiang2024        "MegaScale", tables 1 and 2, the rows of Megatron-LM
grattafiori2024  "The Llama 3 Herd of Models", table 4
nvidia2025dgxc   NVIDIA/dgxc-benchmarking: llama3.1/README_405b.md and README_70b.md, nemo_megatron/README_175b.md,
                 nemotron/README_340b.md, grok1/README_314b.md; bfloat16
"""

from dataclasses import dataclass, replace
from math import exp, log

from .cards import cluster
from .models import models
from .steps import Grid, step


@dataclass(frozen=True)
class Run:
    """seconds: of a step, as published or from published TFLOP/s; assumed: what we had to add."""

    source: str
    name: str
    gpu: str
    gpus: int
    model: object
    grid: Grid
    batch: int
    seconds: float
    fit: bool = False
    assumed: str = ""

    def simulated(self, kernels=None, rails=True):
        """The Step that the simulator makes of it; kernels: in the place of the card's."""
        machines = cluster(self.gpu, self.gpus, rails=rails)
        card = replace(machines.gpu, memory=float("inf"))  # whether it fits is no question: it ran
        card = replace(card, kernels=kernels) if kernels else card
        return step(self.model, self.grid, machines.but(gpu=card), self.batch)

    def error(self, kernels=None):
        """Simulated seconds over published ones, less 1: above 0 we are too slow."""
        return self.simulated(kernels).time / self.seconds - 1


def _narayanan():
    """Table 1 (and the last lines of table 2): seconds from equation 3 and TFLOP/s for each GPU."""
    plain = Grid(zero=0, recompute="full", sequence_parallel=False, flash=False, overlap=(), gradient_bytes=2)
    rows = [
        ("gpt-1.7b", 32, 1, 1, 512, 16, 1, 137, True),
        ("gpt-3.6b", 64, 2, 1, 512, 16, 1, 138, False),
        ("gpt-7.5b", 128, 4, 1, 512, 16, 1, 142, True),
        ("gpt-18b", 256, 8, 1, 1024, 8, 1, 135, False),
        ("gpt-39b", 512, 8, 2, 1536, 4, 1, 138, True),
        ("gpt-76b", 1024, 8, 4, 1792, 2, 3, 140, False),
        ("gpt-145b", 1536, 8, 8, 2304, 2, 2, 148, True),
        ("gpt-310b", 1920, 8, 16, 2160, 1, 2, 155, False),
        ("gpt-530b", 2520, 8, 35, 2520, 1, 3, 163, True),
        ("gpt-1t", 3072, 8, 64, 3072, 1, 1, 163, False),
        ("gpt-175b", 384, 8, 12, 1536, 1, 1, 153, False),
        ("gpt-175b", 768, 8, 12, 1536, 1, 1, 149, False),
        ("gpt-175b", 1536, 8, 12, 1536, 1, 1, 141, False),
        ("gpt-530b", 560, 8, 35, 2240, 1, 3, 171, False),
        ("gpt-530b", 1120, 8, 35, 2240, 1, 3, 167, False),
        ("gpt-530b", 2240, 8, 35, 2240, 1, 3, 159, False),
    ]
    for k, (name, gpus, t, p, batch, micro, v, tflops, fit) in enumerate(rows):
        model = models[name]
        grid = plain.but(tensor=t, pipeline=p, data=gpus // (t * p), microbatch=micro, interleave=v)
        assumed = "tensor 8, interleave as in table 1" if k >= 10 else ""
        seconds = hardware_flops(model, batch) / gpus / (tflops * 1e12)
        yield Run("narayanan2021", name, "a100", gpus, model, grid, batch, seconds, fit, assumed)


def hardware_flops(model, batch):
    """Of a step with full recomputation, as Narayanan and others count them (equation 3)."""
    layers, h, s = model.layers, model.width, model.sequence
    return 96 * batch * s * layers * h * h * (1 + s / (6 * h) + model.vocabulary / (16 * layers * h))


def _zero3():
    """Table 2, without model parallelism: DeepSpeed's ZeRO-3 of 2021."""
    for name, gpus, batch, micro, tflops in (
        ("gpt-175b", 384, 1536, 4, 144),
        ("gpt-175b", 768, 1536, 2, 88),
        ("gpt-175b", 1536, 1536, 1, 44),
        ("gpt-530b", 640, 2560, 4, 138),
        ("gpt-530b", 1120, 2240, 2, 98),
        ("gpt-530b", 2240, 2240, 1, 48),
    ):
        grid = Grid(data=gpus, zero=3, microbatch=micro, recompute="full", flash=False, gradient_bytes=2)
        yield Run("narayanan2021", f"{name}, ZeRO-3", "a100", gpus, models[name], grid, batch,
                  hardware_flops(models[name], batch) / gpus / (tflops * 1e12))  # fmt: skip


def _korthikanti():
    rows = [
        ("gpt-22b", 1, 4, 4, 1, 1.42, 1.10),
        ("gpt-175b", 8, 64, 1, 3, 18.13, 13.75),
        ("gpt-530b", 35, 280, 1, 3, 49.05, 37.83),
        ("gpt-1t", 64, 512, 1, 1, 94.42, 71.49),
    ]
    plain = Grid(tensor=8, zero=0, flash=False, overlap=("tensor",))
    for name, p, batch, micro, v, full, selective in rows:
        grid = plain.but(pipeline=p, microbatch=micro, interleave=v, recompute="full", sequence_parallel=False)
        yield Run("korthikanti2023", f"{name}, full", "a100", 8 * p, models[name], grid, batch, full)
        grid = grid.but(recompute="selective", sequence_parallel=True)
        yield Run("korthikanti2023", f"{name}, selective", "a100", 8 * p, models[name], grid, batch, selective)
    grid = plain.but(pipeline=35, data=8, interleave=3, recompute="selective")
    yield Run("korthikanti2023", "gpt-530b, 8 replicas", "a100", 2240, models["gpt-530b"], grid, 2240, 39.15)


def _jiang():
    model = models["gpt-175b"].but(heads=128, vocabulary=64000)
    grid = Grid(tensor=8, pipeline=8, interleave=6, flash=False, recompute="selective", overlap=("tensor",))
    assumed = "selective recomputation, ZeRO-1, HDR"
    small = [(256, 40.0), (512, 21.2), (768, 15.2), (1024, 11.9)]
    large = [(3072, 29.02), (6144, 14.78), (8192, 12.24), (12288, 8.57)]
    for batch, rows in ((768, small), (6144, large)):
        for gpus, seconds in rows:
            cut = grid.but(data=gpus // 64)
            yield Run(
                "jiang2024", f"gpt-175b, batch {batch}", "a100", gpus, model, cut, batch, seconds, assumed=assumed
            )


def _grattafiori():
    """Seconds from TFLOP/s for each GPU; the operations of attention counted as the causal mask leaves them."""
    rows = [(8192, 1, 64, 8192, 32, 430), (16384, 1, 128, 8192, 16, 400), (16384, 16, 8, 131072, 16, 380)]
    grid = Grid(tensor=8, pipeline=16, interleave=8, overlap=("data", "pipeline"))
    assumed = "interleave 8, causal operations counted"
    for gpus, context, data, sequence, local_batch, tflops in rows:
        model, batch = models["llama3-405b"].but(sequence=sequence), data * local_batch
        masked = model.flops_per_token - 6 * model.layers * model.width * sequence
        seconds = batch * sequence * masked / gpus / (tflops * 1e12)
        name, cut = f"llama3-405b, {sequence // 1024}k tokens", grid.but(context=context, data=data)
        yield Run("grattafiori2024", name, "h100", gpus, model, cut, batch, seconds, assumed=assumed)


def _dgxc():
    """As gpt3_175b_hydra.yaml of that repository has it: gradients travel in bfloat16, all messages overlap."""

    def run(name, model, grid, batch, gpus, seconds, fit=False):
        return Run("nvidia2025dgxc", name, "h100", gpus, model, grid, batch, seconds, fit, "other models as the 175b")

    every = Grid(overlap=("tensor", "gemm", "data", "pipeline"), gradient_bytes=2)
    rows = [(32, 7, 1, 126, 8.85), (96, 21, 3, 126, 8.75), (192, 42, 3, 252, 16.93)]
    rows += [(576, 126, 9, 252, 17.20), (1152, 126, 9, 504, 17.52), (2304, 126, 9, 1008, 17.62)]
    for gpus, layers, p, batch, seconds in rows:
        model = models["llama3-405b"].but(layers=layers)
        grid = every.but(tensor=8, context=2, pipeline=p, interleave=7 if p > 1 else 1, data=gpus // (16 * p))
        yield run(f"llama3-405b, {layers} layers", model, grid, batch, gpus, seconds, gpus in (96, 1152))
    for gpus, seconds in ((64, 14.72), (256, 14.8), (1024, 14.92), (2048, 14.98)):
        grid = every.but(tensor=4, pipeline=4, context=2, interleave=5, data=gpus // 32)
        yield run("llama3-70b", models["llama3-70b"], grid, 2 * gpus, gpus, seconds, gpus == 256)
    for gpus, seconds in ((128, 8.309), (512, 8.42), (2048, 8.49)):
        grid = every.but(tensor=4, pipeline=8, interleave=12, data=gpus // 32)
        yield run("gpt-175b", models["gpt-175b"], grid, 2 * gpus, gpus, seconds, gpus == 512)
    for gpus, seconds in ((128, 4.61), (512, 4.7), (2048, 4.84)):
        grid = every.but(tensor=8, pipeline=8, interleave=12, data=gpus // 64)
        yield run("nemotron4-340b", models["nemotron4-340b"], grid, gpus // 4, gpus, seconds)
    for gpus, layers, p, data, seconds in ((64, 8, 1, 8, 20.64), (512, 64, 8, 8, 20.83), (2048, 64, 8, 32, 21.09)):
        grid = every.but(tensor=4, pipeline=p, context=2, data=data, expert=8, interleave=8 if p > 1 else 1)
        yield run(f"grok-1, {layers} layers", models["grok-1"].but(layers=layers), grid, 128 * data, gpus, seconds)


def published():
    """All Runs but those of ZeRO-3."""
    return [*_narayanan(), *_korthikanti(), *_jiang(), *_grattafiori(), *_dgxc()]


def zero3():
    """Runs whose software the simulator does not know: weights gathered by DeepSpeed of 2021."""
    return list(_zero3())


def fitted(gpu):
    """The part of a GPU's peak, to three digits, with which the rows to fit are right on average of logarithms."""
    rows = [run for run in published() if run.fit and run.gpu == gpu]
    low, high = 0.3, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        mean = sum(log(run.simulated(middle).time / run.seconds) for run in rows) / len(rows)
        low, high = (middle, high) if mean > 0 else (low, middle)
    return round(low, 3)


def mean_error(runs):
    """The mean of how far off Runs are, up or down: exp of the mean absolute logarithm, less 1."""
    return exp(sum(abs(log(1 + run.error())) for run in runs) / len(runs)) - 1
