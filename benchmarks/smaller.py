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
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

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
        yield (
            "hashed",
            f"{keep:.0%} as many values",
            lambda m, seed, keep=keep: task.tuned(hashed.hashed(m, keep, seed), seed, task.epochs, 3e-3),
        )
    yield "student", "labels", lambda m, seed: student(task, seed, False, m)
    yield "student", "teacher", lambda m, seed: student(task, seed, True, m)


TIMED = {"whole filters", "low rank", "student"}  # plain layers: they run on the kernels of the whole network
PACKED = ("rounded", "4 bits, group")  # its linear layers by linear_int4


def of_seed(name, seed, quick, folder):
    """Accuracies and bytes of all methods for one seed; the networks that are timed go to files in `folder`."""
    task, rows, timed = TASKS[name], [], {}
    model = task.trained(seed)
    begin = time.perf_counter()
    for method, setting, make in methods(task):
        if quick and "tuned" not in setting and method not in ("rounded", "as it was"):
            continue
        small = make(model, seed)
        rows.append({"method": method, "setting": setting, "bytes": storage.nbytes(small),
                     **{part: accuracy(small, *getattr(task.parts, part)) for part in ("validation", "test")}})  # fmt: skip
        if seed == 0 and method in TIMED:
            timed[method, setting] = small
        elif seed == 0 and (method, setting) == PACKED:
            timed[method, setting] = quantized.packed(small)
    if seed == 0:
        (Path(folder) / name).write_bytes(pickle.dumps((model, timed)))
    found = {"rows": rows}
    if name == "digits":
        found |= {"errors": output_errors(task, model)} if seed == 0 else {}
        if not quick:
            found |= {
                "orders": orders(task, model, seed),
                "teacher": with_a_teacher(task, model, seed),
                "another": another_task(task, model, seed),
            }
    print(f"{name}, seed {seed}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return found


def all_seeds(names, seeds, quick, folder):
    """{name: what `of_seed` gives, one for each seed}. A seed runs in a process of one thread, as many as there are
    cores side by side: networks as small as these gain little from a second thread."""
    one = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    there = {**os.environ, **one, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "lib")}

    def run(name, seed):
        command = [sys.executable, __file__, json.dumps([name, seed, quick, folder])]
        return json.loads(subprocess.run(command, env=there, check=True, stdout=subprocess.PIPE, text=True).stdout)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {name: [pool.submit(run, name, seed) for seed in range(seeds)] for name in names}
        return {name: [one.result() for one in each] for name, each in running.items()}


def summed(rows):
    """One row of those of all seeds."""
    found = {"method": rows[0]["method"], "setting": rows[0]["setting"]}
    found["bytes"] = round(float(np.mean([row["bytes"] for row in rows])))
    return found | {part: spread([row[part] for row in rows]) for part in ("validation", "test")}


def spread(values):
    mean, deviation = mean_and_deviation(values)
    return {"mean": mean, "deviation": deviation, "seeds": [float(x) for x in values]}


def faster(whole, small, x):
    def run(model):
        with no_grad():
            model(Tensor(x))

    found = times({"whole": lambda: run(whole), "small": lambda: run(small)}, budget=1.5).ratio("whole", "small")
    return {"ratio": found.ratio, "low": found.low, "high": found.high, "busy": found.busy}


def chosen(rows):
    """The fewest bytes whose mean validation accuracy is at most LOSS below that of the network as it was."""
    least = rows[0]["validation"]["mean"] - LOSS
    best = min((row for row in rows if row["validation"]["mean"] >= least), key=lambda row: row["bytes"])
    return {name: best[name] for name in ("method", "setting")}


def orders(task, model, seed):
    """Claim 15: both orders, with and without fine-tuning. Nothing is chosen by it: on the test part."""
    found = []
    for keep, bits in ((0.5, 3), (0.2, 3), (0.2, 4), (0.1, 4)):
        for tune in (False, True):
            both = order.compared([model], task.parts, keep, bits, part="test", tune=tune, epochs=2, lr=1e-3)
            found.append({"keep": keep, "bits": bits, "tuned": tune, "orders": both})
    return found


def of_orders(seeds):
    """What `orders` found with each seed, with means and deviations; `apart`: the first order's accuracy less the
    other's."""
    found = []
    for runs in zip(*seeds, strict=True):
        both = {name: [run["orders"][name] for run in runs] for name in order.ORDERS}
        values = {name: [one["accuracy"][0] for one in each] for name, each in both.items()}
        one = {
            name: spread(values[name]) | {"density": float(np.mean([x["density"] for x in both[name]]))}
            for name in both
        }
        found.append({**{name: runs[0][name] for name in ("keep", "bits", "tuned")}, "orders": one,
                      "apart": spread(np.subtract(*values.values()))})  # fmt: skip
    return found


def output_errors(task, model):
    """How far each layer's output moves, for pictures that no method has seen: rounding, GPTQ, AWQ."""
    found, seen = [], inputs(model, task.parts.validation[0][:64])
    for bits in (4, 3, 2):
        ways = {
            "nearest": quantized.quantized(model, bits),
            "GPTQ": gptq.gptq(model, task.few, bits),
            "AWQ": awq.awq(model, task.few, bits, "channel"),
        }
        for name, layer in layers(model).items():
            weight = layer.weight.data
            matrix, met = weight.reshape(weight.shape[0], -1), columns(layer, seen[name])
            errors = {
                way: gptq.output_error(matrix, layers(of)[name].computed().data.reshape(matrix.shape), met)
                for way, of in ways.items()
            }
            found.append({"layer": name, "bits": bits, "errors": errors})
    return found


def with_a_teacher(task, model, seed):
    """A student that sees FEW pictures, with their labels, or with what the teacher says of them."""
    images, labels = (array[:FEW] for array in task.parts.train)
    targets, found = distillation.targets(model, images, labels), {}
    ways = {"labels": (labels, F.cross_entropy)}
    ways |= {f"T = {t:g}": (targets, distillation.Distillation(t, 0.9)) for t in (2.0, 4.0, 8.0)}
    for name, (y, loss) in ways.items():
        small = task.make(seed, task.student)
        networks.trained(small, (images, y), epochs=40, batch_size=32, seed=seed, loss=loss)
        found[name] = {part: accuracy(small, *getattr(task.parts, part)) for part in ("validation", "test")}
    return found


def another_task(task, model, seed):
    """The network shall read digits that stand on their heads: all weights learn, or LoRA's few."""
    found, over = {}, {}
    for part in ("train", "validation", "test"):
        images, labels = getattr(task.parts, part)
        over[part] = np.ascontiguousarray(images[:, :, ::-1, ::-1]), labels
    ways = {"as it was": None, "all weights": filters.smaller(model, 1)}
    ways |= {f"rank {rank}": lora.adapted(model, rank, seed=seed) for rank in (1, 4)}
    for name, small in ways.items():
        if small is not None:
            lr = 1e-3 if name == "all weights" else 1e-2
            networks.trained(small, over["train"], epochs=task.epochs, lr=lr, seed=seed)
        used = model if small is None else merged(small)
        found[name] = {
            "numbers": 0 if small is None else sum(x.size for x in small.parameters()),
            **{part: accuracy(used, *over[part]) for part in ("validation", "test")},
        }
    return found


def of_names(seeds):
    """{name: {"validation", "test": `spread`, other numbers of the first seed}} of what each seed found."""
    return {name: {key: spread([one[name][key] for one in seeds]) if key in ("validation", "test") else value
                   for key, value in first.items()} for name, first in seeds[0].items()}  # fmt: skip


def keys_and_values():
    """Error of attention by bits, for random keys of which two channels are large in every token, as KIVI found
    them."""
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
    """Bytes of MNIST-5k's pictures and seconds to decode them, and the disk for which float32 as it is would be
    faster."""
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
    seeds, names = (1, ["digits"]) if quick else (SEEDS, list(TASKS))
    result = {"seeds": seeds, "loss": LOSS, "networks": {}}
    with tempfile.TemporaryDirectory() as folder:
        found = all_seeds(names, seeds, quick, folder)
        kept = {name: pickle.loads((Path(folder) / name).read_bytes()) for name in names}
    for name in names:
        task, (model, timed) = TASKS[name], kept[name]
        rows = [summed(each) for each in zip(*(one["rows"] for one in found[name]), strict=True)]
        for row in rows:
            small = timed.get((row["method"], row["setting"]))
            row["ratios"] = small and {f"{n}": faster(model, small, task.parts.test[0][:n]) for n in (1, 64)}
        pictures = {part: len(getattr(task.parts, part)[1]) for part in ("train", "validation", "test")}
        result["networks"][name] = {"rows": rows, "chosen": chosen(rows), "pictures": pictures}
        print(table(rows), "\n", result["networks"][name]["chosen"])
    result |= {
        "output_errors": found["digits"][0]["errors"],
        "keys_and_values": keys_and_values(),
        "data": on_its_way(),
    }
    if not quick:
        digits = found["digits"]
        result["orders"] = of_orders([one["orders"] for one in digits])
        taught = of_names([one["teacher"] for one in digits])
        best = max((name for name in taught if name != "labels"), key=lambda name: taught[name]["validation"]["mean"])
        result["teacher"] = {"pictures": FEW, "chosen": best, "accuracy": taught}
        result["another_task"] = of_names([one["another"] for one in digits])
    for name in ("output_errors", "keys_and_values", "orders", "data", "teacher", "another_task"):
        print(name, json.dumps(result.get(name)))
    return result


def table(rows):
    head = ("method", "setting", "KiB", "test, %", "deviation", "1 picture: times as fast", "64 pictures")
    return Table(head, [
        (row["method"], row["setting"], f"{row['bytes'] / 1024:.1f}", f"{100 * row['test']['mean']:.1f}",
         f"{100 * row['test']['deviation']:.1f}",
         *(f"{row['ratios'][n]['ratio']:.2f}" if row["ratios"] else "" for n in ("1", "64"))) for row in rows])  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(of_seed(*json.loads(sys.argv[1]))))
