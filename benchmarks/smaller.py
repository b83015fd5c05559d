"""Networks made smaller: accuracy beside bytes, and beside time where the small network runs on kernels that are there.

    python benchmarks/run.py smaller             recorded in results/smaller.json
    python benchmarks/run.py smaller --quick     one seed, digits, few settings, not recorded

Two networks of chapter 12 (digits, MNIST-5k) from five seeds; each method of lib/training/smaller with some settings.
Whatever is chosen (a temperature, `chosen`) is chosen by the validation part; the test part is only reported. Bytes are
those of what is really stored (training/smaller/storage.py). Accuracies are computed with float32 kernels. Times are of
the forward pass of 1 and of 64 pictures, all threads, in turns with the network as it was: a ratio above 1 is faster.
MNIST-5k takes longer, and so gets fewer settings.
"""

import functools
import sys
import time
from dataclasses import dataclass

import numpy as np

import dlkernels
from cpulab.measure import Table, times
from training import Tensor, accuracy, data, no_grad
from training import functional as F
from training.smaller import (
    awq,
    codebook,
    data_files,
    distillation,
    filters,
    folding,
    gptq,
    hashed,
    kv_cache,
    lora,
    low_rank,
    networks,
    order,
    pruning,
    quantized,
    storage,
)
from training.smaller.order import mean_and_deviation
from training.smaller.parametrized import columns, inputs, layers, merged

SEEDS = 5
LOSS = 0.01  # of the validation accuracy, which `chosen` may lose
FEW = 200  # pictures of the student that learns from a teacher


@dataclass(frozen=True)
class Task:
    """A network and its data. epochs: of its training; tune: of fine-tuning."""

    load: object
    make: object
    epochs: int
    tune: int
    student: int  # width
    brief: bool = False  # fewer settings

    @functools.cached_property
    def parts(self):
        return networks.parts(self.load)

    def trained(self, seed):
        return plain(networks.trained(self.make(seed), self.parts.train, epochs=self.epochs, seed=seed))

    def tuned(self, model, seed, epochs=None, lr=1e-3, hooks=()):
        return networks.trained(model, self.parts.train, epochs=epochs or self.tune, lr=lr, seed=seed, hooks=hooks)

    @property
    def few(self):
        """Inputs to calibrate with."""
        return self.parts.train[0][::9][:128]


def plain(model):
    """Without batch norm and dropout."""
    return folding.folded(model)


TASKS = {
    "digits": Task(data.digits, networks.digits, epochs=12, tune=4, student=8),
    "mnist5k": Task(data.mnist5k, networks.mnist, epochs=5, tune=2, student=4, brief=True),
}


def gradual(task, model, keep, seed):
    steps = -(-len(task.parts.train[1]) // 64) * task.tune
    small = pruning.pruned(model, 1.0)
    hook = pruning.Gradual(small, steps // 10, steps * 7 // 10, keep, every=max(1, steps // 20))
    return task.tuned(small, seed, hooks=[hook])


def student(task, seed, soft, teacher):
    fresh = task.make(seed, task.student)
    if not soft:
        return plain(networks.trained(fresh, task.parts.train, epochs=2 * task.epochs, seed=seed))
    images, labels = task.parts.train
    targets = distillation.targets(teacher, images, labels)
    loss = distillation.Distillation(2.0, 0.7)
    return plain(networks.trained(fresh, (images, targets), epochs=2 * task.epochs, seed=seed, loss=loss))


def methods(task):
    """[(method, setting, function of (network, seed) that returns a smaller one)]."""
    few, tuned, q = task.few, task.tuned, quantized.quantized
    yield "as it was", "float32", lambda m, seed: m
    yield "as it was", "float16", lambda m, seed: quantized.halved(m)
    for bits in (8, 4, 3, 2):
        for each in ("tensor", "channel", "group"):
            yield "rounded", f"{bits} bits, {each}", lambda m, seed, bits=bits, each=each: q(m, bits, each)
    for bits in (8, 4):
        setting = f"{bits} bits, activations too"
        yield "rounded", setting, lambda m, seed, bits=bits: q(m, bits, activation_bits=bits, x=few)
    for bits in (3, 2):
        yield "GPTQ", f"{bits} bits, channel", lambda m, seed, bits=bits: gptq.gptq(m, few, bits)
        yield "AWQ", f"{bits} bits, channel", lambda m, seed, bits=bits: awq.awq(m, few, bits, "channel", tries=10)
    for bits in (3, 2):
        yield "straight-through", f"{bits} bits, channel", lambda m, seed, bits=bits: tuned(q(m, bits), seed)
    for keep in (0.5, 0.2):
        yield "pruned", f"{keep:.0%} stay", lambda m, seed, keep=keep: pruning.pruned(m, keep)
    for keep in (0.5, 0.2, 0.1, 0.05)[: 3 if task.brief else 4]:
        setting = f"{keep:.0%} stay, tuned"
        yield "pruned", setting, lambda m, seed, keep=keep: tuned(pruning.pruned(m, keep), seed)
    if not task.brief:
        yield "pruned", "10% of each layer stay, tuned", lambda m, seed: tuned(pruning.pruned(m, 0.1, "layer"), seed)
    yield "pruned", "2:4, tuned", lambda m, seed: tuned(pruning.pruned(m, "2:4"), seed)
    for keep in (0.1, 0.05)[: 1 if task.brief else 2]:
        yield "pruned", f"{keep:.0%} stay, gradual", lambda m, seed, keep=keep: gradual(task, m, keep, seed)
    for keep in (0.5, 0.25):
        setting = f"{keep:.0%} stay, tuned"
        yield "whole filters", setting, lambda m, seed, keep=keep: tuned(filters.smaller(m, keep), seed, 2 * task.tune)
    for part in (0.5, 0.25)[: 1 if task.brief else 2]:

        def split(m, seed, part=part):
            ranks = low_rank.ranks_by_bytes(m, int(part * storage.nbytes(m)))
            return tuned(low_rank.low_rank(m, ranks), seed)

        yield "low rank", f"{part:.0%} of the bytes, tuned", split
    for bits in (4, 2, 1)[: 2 if task.brief else 3]:
        yield "codebook", f"{1 << bits} values, tuned", lambda m, seed, bits=bits: tuned(codebook.shared(m, bits), seed)

    part = 0.2 if task.brief else 0.1  # of a network with fewer weights more are needed

    def deep(m, seed):
        small = merged(tuned(pruning.pruned(m, part), seed))
        return tuned(codebook.shared(small, 4), seed)

    yield "pruned, codebook", f"{part:.0%} stay, 16 values, tuned", deep

    def both(m, seed):
        return tuned(q(tuned(pruning.pruned(m, part), seed), 4), seed)

    yield "pruned, straight-through", f"{part:.0%} stay, 4 bits", both
    for keep in (0.1, 0.05)[: 1 if task.brief else 2]:
        yield "hashed", f"{keep:.0%} as many values", lambda m, seed, keep=keep: task.tuned(
            hashed.hashed(m, keep, seed), seed, task.epochs, 3e-3)  # fmt: skip
    yield "student", "labels", lambda m, seed: student(task, seed, False, m)
    yield "student", "teacher", lambda m, seed: student(task, seed, True, m)


TIMED = {"whole filters", "low rank", "student"}  # plain layers: they run on the kernels of the whole network
PACKED = ("rounded", "4 bits, group")  # its linear layers by linear_int4


def of_task(name, task, seeds, quick):
    """Rows of all methods, and the networks that they began with."""
    models, rows = [], {}
    for seed in range(seeds):
        models.append(model := task.trained(seed))
        begin = time.perf_counter()
        for method, setting, make in methods(task):
            if quick and "tuned" not in setting and method not in ("rounded", "as it was"):
                continue
            small = make(model, seed)
            row = rows.setdefault((method, setting), {"validation": [], "test": [], "bytes": []})
            row["validation"].append(accuracy(small, *task.parts.validation))
            row["test"].append(accuracy(small, *task.parts.test))
            row["bytes"].append(storage.nbytes(small))
            if seed == 0 and (method in TIMED or (method, setting) == PACKED):
                small = quantized.packed(small) if (method, setting) == PACKED else small
                row["ratios"] = {f"{n}": faster(model, small, task.parts.test[0][:n]) for n in (1, 64)}
        print(f"{name}, seed {seed}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return models, [{"method": method, "setting": setting, **summed(row)} for (method, setting), row in rows.items()]


def summed(row):
    found = {}
    for part in ("validation", "test"):
        mean, deviation = mean_and_deviation(row[part])
        found[part] = {"mean": mean, "deviation": deviation, "seeds": row[part]}
    return {"bytes": round(float(np.mean(row["bytes"]))), **found, "ratios": row.get("ratios")}


def faster(whole, small, x):
    def run(model):
        with no_grad():
            model(Tensor(x))

    found = times({"whole": lambda: run(whole), "small": lambda: run(small)}, budget=0.7).ratio("whole", "small")
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "busy": found.busy}


def chosen(rows):
    """The fewest bytes whose mean validation accuracy is at most LOSS below that of the network as it was."""
    least = rows[0]["validation"]["mean"] - LOSS
    best = min((row for row in rows if row["validation"]["mean"] >= least), key=lambda row: row["bytes"])
    return {name: best[name] for name in ("method", "setting")}


def orders(task, models):
    """Claim 15: both orders, with and without fine-tuning. Nothing is chosen by it: on the test part."""
    found = []
    for keep, bits in ((0.5, 3), (0.2, 3), (0.2, 4), (0.1, 4)):
        for tune in (False, True):
            both = order.compared(models, task.parts, keep, bits, part="test", tune=tune, epochs=2, lr=1e-3)
            one = {}
            for name, of in both.items():
                mean, deviation = mean_and_deviation(of["accuracy"])
                one[name] = {"mean": mean, "deviation": deviation, "seeds": of["accuracy"],
                             "density": float(np.mean(of["density"]))}  # fmt: skip
            apart = np.subtract(*(of["accuracy"] for of in both.values()))
            found.append({"keep": keep, "bits": bits, "tuned": tune, "orders": one,
                          "apart": dict(zip(("mean", "deviation"), mean_and_deviation(apart), strict=True))})  # fmt: skip
    return found


def output_errors(task, model):
    """How far each layer's output moves, for pictures that no method has seen: rounding, GPTQ, AWQ."""
    found, seen = [], inputs(model, task.parts.validation[0][:64])
    for bits in (4, 3, 2):
        ways = {"nearest": quantized.quantized(model, bits), "GPTQ": gptq.gptq(model, task.few, bits),
                "AWQ": awq.awq(model, task.few, bits, "channel")}  # fmt: skip
        for name, layer in layers(model).items():
            weight = layer.weight.data
            matrix, met = weight.reshape(weight.shape[0], -1), columns(layer, seen[name])
            errors = {way: gptq.output_error(matrix, layers(of)[name].computed().data.reshape(matrix.shape), met)
                      for way, of in ways.items()}  # fmt: skip
            found.append({"layer": name, "bits": bits, "errors": errors})
    return found


def with_a_teacher(task, models):
    """A student that sees FEW pictures, with their labels, or with what the teacher says of them. The temperature is the
    one with the best validation accuracy."""
    images, labels = (array[:FEW] for array in task.parts.train)
    found = {}
    for seed, model in enumerate(models):
        targets = distillation.targets(model, images, labels)
        ways = {"labels": (labels, F.cross_entropy)}
        ways |= {f"T = {t:g}": (targets, distillation.Distillation(t, 0.9)) for t in (2.0, 4.0, 8.0)}
        for name, (y, loss) in ways.items():
            small = networks.trained(
                task.make(seed, task.student), (images, y), epochs=40, batch_size=32, seed=seed, loss=loss
            )
            for part in ("validation", "test"):
                found.setdefault(name, {}).setdefault(part, []).append(accuracy(small, *getattr(task.parts, part)))
    best = max((name for name in found if name != "labels"), key=lambda name: np.mean(found[name]["validation"]))
    return {"pictures": FEW, "chosen": best, "accuracy": found}


def another_task(task, models):
    """The network shall read digits that stand on their heads: all weights learn, or LoRA's few."""
    found = {}
    over = {part: (np.ascontiguousarray(images[:, :, ::-1, ::-1]), labels) for part, (images, labels) in vars(task.parts).items()
            if part in ("train", "validation", "test")}  # fmt: skip
    for seed, model in enumerate(models):
        ways = {"as it was": lambda m: m, "all weights": lambda m: filters.smaller(m, 1)}
        ways |= {f"rank {rank}": lambda m, rank=rank, seed=seed: lora.adapted(m, rank, seed=seed) for rank in (1, 4)}
        for name, make in ways.items():
            small = make(model)
            learned = sum(x.size for x in small.parameters()) if name != "as it was" else 0
            if learned:
                lr = 1e-3 if name == "all weights" else 1e-2
                small = networks.trained(small, over["train"], epochs=task.epochs, lr=lr, seed=seed)
            one = found.setdefault(name, {"numbers": learned, "validation": [], "test": []})
            for part in ("validation", "test"):
                one[part].append(accuracy(merged(small), *over[part]))
    return found


def keys_and_values():
    """Error of attention by bits, for random keys of which two channels are large in every token, as KIVI found them."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, 4, n, 64)).astype(np.float32) for n in (1, 512, 512))
    k[..., [5, 40]] += np.array([8, -12], np.float32)
    cache, exact = dlkernels.KVCache(2, 4, 512, 64, dtype="int8"), dlkernels.scaled_dot_product_attention(q, k, v)
    cache.append(k, v)
    error = float(np.linalg.norm(cache.attend(q) - exact) / np.linalg.norm(exact))
    found = [
        {"bits": 32, "keys": None, "values": None, "error": 0.0, "bytes": k.nbytes + v.nbytes},
        {"bits": 8, "keys": "KVCache", "values": "KVCache", "error": error, "bytes": cache.nbytes},
    ]
    for bits in (8, 4, 2):
        for keys, values in (("token", "token"), ("channel", "token"), ("channel", "channel")):
            error, nbytes = kv_cache.attention_error(q, k, v, bits, keys, values)
            found.append({"bits": bits, "keys": keys, "values": values, "error": error, "bytes": nbytes})
    return found


def on_its_way():
    """Bytes of MNIST-5k's pictures and seconds to decode them, and the disk for which float32 as it is would be faster."""
    (images, _), _ = data.mnist5k()
    files = data_files.ways(images)
    measured = times(
        {name: functools.partial(decode, content) for name, (content, decode) in files.items()}, budget=4.0
    )
    seconds, whole = measured.seconds, files["float32"][0]
    rows = []
    for name, (content, decode) in files.items():
        apart = float(np.abs(decode(content) - images).max())
        even = data_files.break_even((len(whole), seconds["float32"]), (len(content), seconds[name]))
        rows.append({"way": name, "bytes": len(content), "seconds": seconds[name], "apart": apart,
                     "break_even": None if even == float("inf") or name == "float32" else even})  # fmt: skip
    return {"pictures": len(images), "ways": rows, "busy": measured.busy}


def benchmark(quick):
    result = {"seeds": 1 if quick else SEEDS, "loss": LOSS, "networks": {}}
    models = {}
    for name, task in TASKS.items():
        if quick and name != "digits":
            continue
        models[name], rows = of_task(name, task, result["seeds"], quick)
        result["networks"][name] = {
            "rows": rows,
            "chosen": chosen(rows),
            "pictures": {part: len(getattr(task.parts, part)[1]) for part in ("train", "validation", "test")},
        }
        print(name, result["networks"][name]["chosen"])
        print(Table(("method", "setting", "KiB", "test, %", "deviation", "1 picture", "64, times as fast"),
                    [(row["method"], row["setting"], f"{row['bytes'] / 1024:.1f}", f"{100 * row['test']['mean']:.1f}",
                      f"{100 * row['test']['deviation']:.1f}", *(f"{row['ratios'][n]['ratio']:.2f}" if row["ratios"] else "" for n in ("1", "64")))
                     for row in rows]))  # fmt: skip
    task = TASKS["digits"]
    result["output_errors"] = output_errors(task, models["digits"][0])
    result["keys_and_values"], result["data"] = keys_and_values(), on_its_way()
    if not quick:
        result["orders"] = orders(task, models["digits"])
        result["teacher"] = with_a_teacher(task, models["digits"])
        result["another_task"] = another_task(task, models["digits"])
    for name in ("output_errors", "keys_and_values", "orders"):
        for row in result.get(name, ()):
            print(name, row)
    for name in ("data", "teacher", "another_task"):
        print(name, result.get(name))
    return result
