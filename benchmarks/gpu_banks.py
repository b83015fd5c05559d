"""Wavefronts of single shared-memory accesses: Nsight Compute's counts beside the x-ray's. Part of what is recorded on
a GPU.

    python benchmarks/gpu_banks.py             recorded in results/gpu_banks.json

Each launch is one warp that makes one access of 4, 8 or 16 bytes, with the lanes' elements and the inactive lanes given
by a pattern. The patterns are made to tell rules apart by which parts of a warp share a wavefront: parts that want the
same, that want the same in pairs (lanes i and i^1, i and i^2, ...), almost do, or have inactive lanes. They are the
same in every run.

The record: {"device": name, "wrong": number of launches with another result than expected, "rows": [...]}, each row
with "kind" (load or store), "bytes", "name", "pattern" (each lane's element, -1: inactive) and "nsight" (wavefronts and
conflicts, less those of a launch with no active lane). tests/xray/test_traffic.py holds the x-ray's model to it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from gpu_counters import parse_ncu
from numba import float32, float64

LANES = 32
ELEMENTS = 1024  # of shared memory, each as wide as the access
TWO_EACH, FOUR_EACH = 2 * ELEMENTS, 4 * ELEMENTS
CONTROL = 4  # accesses of 4 bytes, whose rule is known: every fourth pattern
METRICS = {
    f"l1tex__data_{theirs}_mem_shared_op_{which}.sum": (ours, kind)
    for ours, theirs in (("wavefronts", "pipe_lsu_wavefronts"), ("conflicts", "bank_conflicts_pipe_lsu"))
    for kind, which in (("load", "ld"), ("store", "st"))
}
LIMIT = 300  # seconds, for each process


# ---- patterns -----------------------------------------------------------------------------------------------


def patterns():
    """Name -> int32[32]: each lane's element, -1 where it is inactive. The first has no active lane."""
    found, seen = {}, set()
    for name, elements in every_pattern():
        pattern = np.asarray(elements, np.int32)
        if pattern.shape != (LANES,) or pattern.min() < -1 or pattern.max() >= ELEMENTS:
            raise ValueError(f"{name}: {pattern}")
        if pattern.tobytes() not in seen:
            seen.add(pattern.tobytes())
            found[name] = pattern
    return found


def every_pattern():
    lane = np.arange(LANES)
    yield "none", np.full(LANES, -1)
    plain = shapes(lane)
    yield from plain.items()
    for name in ("neighbours", "stride 2", "stride 3", "stride 8", "pairs", "quads", "octets", "halves", "lane % 16"):
        for bit in (1, 2, 4, 8):
            yield f"{name}, i^{bit} exchanged", plain[name][lane ^ bit]
    yield from by_quarters(lane)
    yield from nearly(lane)
    yield from at_random(np.random.default_rng(20))
    for name in ("same", "neighbours", "pairs", "i = i^2", "halves", "lane % 16", "conflict 8, pairs", "conflict 8"):
        for which, active in masks(lane).items():
            yield f"{name}, active: {which}", np.where(active, plain[name], -1)


def shapes(lane):
    found = {"same": 0 * lane, "same, not the first": 0 * lane + 5, "neighbours": lane}
    found |= {f"stride {step}": step * lane for step in (2, 3, 4, 8, 16)}
    found |= {"pairs": lane // 2, "quads": lane // 4, "octets": lane // 8, "halves": lane // 16}
    found |= {f"lane % {n}": lane % n for n in (2, 4, 8, 16)}
    found |= {f"i = i^{bit}": lane // (2 * bit) * bit + lane % bit for bit in (2, 4, 8)}
    for row in (8, 16, 32):  # elements in one row of the banks, of 16, 8 and 4 bytes
        found[f"conflict {row}"] = row * lane
        for name in ("pairs", "quads", "octets", "halves", "lane % 4", "lane % 8", "i = i^2", "i = i^4"):
            if row < 32 or name == "pairs":
                found[f"conflict {row}, {name}"] = row * found[name]
    return found


def by_quarters(lane):
    """Quarters of a warp that want the same or not, in each of the 15 ways, and quarters of different inner order."""
    quarter, place = lane // 8, lane % 8
    inner = {"neighbours": place, "pairs": place // 2, "i = i^2": place // 4 * 2 + place % 2, "same": 0 * place}
    labels = [(0, b, c, d) for b in range(2) for c in range(b + 2) for d in range(max(b, c) + 2)]
    for label in labels:
        for name in ("neighbours", "pairs", "same"):
            text = "".join(map(str, label))
            yield f"quarters {text}, {name}", 8 * np.take(label, quarter) + inner[name]
    for first, a in inner.items():
        for second, b in inner.items():
            yield f"{first} | {second}, twice", 8 * quarter + np.where(quarter % 2 == 0, a, b)


def nearly(lane):
    """Pairs, but for one lane of one quarter."""
    for bit in (1, 2, 4):
        pairs = lane // (2 * bit) * bit + lane % bit
        for odd in (3, 10, 21, 28):
            yield f"i = i^{bit} but for lane {odd}", np.where(lane == odd, 100 + odd, pairs)


def at_random(rng):
    lane = np.arange(LANES)
    for values in (2, 4, 8, 16):
        for k in range(5):
            few = rng.choice(64, values, replace=False)
            yield f"{values} values at random {k}", rng.choice(few, LANES)
            if k < 2:
                one = rng.choice(few, LANES)
                yield f"{values} values at random {k}, i = i^1", one[lane // 2]
                yield f"{values} values at random {k}, i = i^2", one[lane // 4 * 2 + lane % 2]
    for k in range(6):
        yield f"permutation {k}", rng.permutation(LANES)
        yield f"anywhere {k}", rng.integers(ELEMENTS, size=LANES)
        yield f"anywhere {k}, i = i^1", rng.integers(ELEMENTS, size=LANES)[lane // 2]
        yield f"anywhere {k}, i = i^2", rng.integers(ELEMENTS, size=LANES)[lane // 4 * 2 + lane % 2]


def masks(lane):
    rng = np.random.default_rng(21)
    quarter = lane // 8
    return {
        "even": lane % 2 == 0,
        "lane & 2": lane & 2 != 0,
        "first half": lane < 16,
        "first quarter": quarter == 0,
        "quarters 0 and 2": quarter % 2 == 0,
        "quarters 1 and 2": (quarter == 1) | (quarter == 2),
        "one": lane == 17,
        "every eighth": lane % 8 == 3,
        "all but one": lane != 5,
        "one of each pair": lane % 2 == rng.integers(2, size=16)[lane // 2],
        "one of i and i^2": lane // 2 % 2 == rng.integers(2, size=16)[lane // 4 * 2 + lane % 2],
        "random": rng.random(LANES) < 0.5,
        "most": rng.random(LANES) < 0.85,
    }


# ---- kernels ------------------------------------------------------------------------------------------------


def kernels():
    """{(kind, bytes): kernel}. Loads: what is counted is the only load of shared memory; stores: the only store."""
    from dlkernels import cuda
    from dlkernels.wide import load4, store2, store4

    @cuda.jit
    def load_4_bytes(patterns, row, out):
        tile = cuda.shared.array(ELEMENTS, float32)
        lane = cuda.threadIdx.x
        for k in range(lane, ELEMENTS, LANES):
            tile[k] = float32(k)
        cuda.syncthreads()
        i = patterns[row, lane]
        if i >= 0:
            out[row, lane] = tile[i]

    @cuda.jit
    def load_8_bytes(patterns, row, out):
        tile = cuda.shared.array(ELEMENTS, float64)
        lane = cuda.threadIdx.x
        for k in range(lane, ELEMENTS, LANES):
            tile[k] = float64(k)
        cuda.syncthreads()
        i = patterns[row, lane]
        if i >= 0:
            out[row, lane] = float32(tile[i])

    @cuda.jit
    def load_16_bytes(patterns, row, out):
        tile = cuda.shared.array(FOUR_EACH, float32)
        lane = cuda.threadIdx.x
        for k in range(lane, FOUR_EACH, LANES):
            tile[k] = float32(k // 4 * (k % 4))
        cuda.syncthreads()
        i = patterns[row, lane]
        if i >= 0:
            a, b, c, d = load4(tile, 4 * i)
            out[row, lane] = a + b + d - c

    @cuda.jit
    def store_4_bytes(patterns, row, out):
        tile = cuda.shared.array(ELEMENTS, float32)
        lane = cuda.threadIdx.x
        i = patterns[row, lane]
        if i >= 0:
            tile[i] = float32(i)
        cuda.syncthreads()
        if i >= 0:
            out[row, lane] = tile[i]

    @cuda.jit
    def store_8_bytes(patterns, row, out):
        tile = cuda.shared.array(TWO_EACH, float32)
        lane = cuda.threadIdx.x
        i = patterns[row, lane]
        if i >= 0:
            store2(tile, 2 * i, (float32(i), float32(2 * i)))
        cuda.syncthreads()
        if i >= 0:
            out[row, lane] = (tile[2 * i] + tile[2 * i + 1]) - float32(i)

    @cuda.jit
    def store_16_bytes(patterns, row, out):
        tile = cuda.shared.array(FOUR_EACH, float32)
        lane = cuda.threadIdx.x
        i = patterns[row, lane]
        if i >= 0:
            store4(tile, 4 * i, (float32(i), float32(2 * i), float32(3 * i), float32(4 * i)))
        cuda.syncthreads()
        if i >= 0:
            out[row, lane] = (tile[4 * i] + tile[4 * i + 1]) + (tile[4 * i + 2] + tile[4 * i + 3])

    return {
        ("load", 4): load_4_bytes,
        ("load", 8): load_8_bytes,
        ("load", 16): load_16_bytes,
        ("store", 4): store_4_bytes,
        ("store", 8): store_8_bytes,
        ("store", 16): store_16_bytes,
    }


#: What a launch gives for element i, in multiples of i: to see that each accessed what it should.
RESULTS = {("load", 16): 2, ("store", 8): 2, ("store", 16): 10}


def planned(table):
    """(kind, bytes, number of the pattern) of each launch, in order; pattern 0 first for each kernel."""
    for size in (16, 8, 4):
        for kind in ("load", "store"):
            for row in range(0, len(table), CONTROL if size == 4 else 1):
                yield kind, size, row


# ---- processes ----------------------------------------------------------------------------------------------


def launch_all(file):
    """What runs under Nsight Compute: every launch, in the order planned."""
    from dlkernels import cuda

    found = kernels()
    table = np.array(list(patterns().values()))
    there = cuda.to_device(table)
    outs = {which: cuda.to_device(np.full(table.shape, -1, np.float32)) for which in found}
    rows = {which: [] for which in found}
    for kind, size, row in planned(table):
        found[kind, size][1, LANES](there, row, outs[kind, size])
        rows[kind, size].append(row)
    wrong = 0
    for which, out in outs.items():
        got, some = out.copy_to_host(), rows[which]
        expected = np.where(table >= 0, table * RESULTS.get(which, 1), -1)
        wrong += int((got[some] != expected[some]).any(axis=1).sum())
    device = cuda.get_current_device().name
    device = device.decode() if isinstance(device, bytes) else str(device)
    file.write_text(json.dumps({"device": device, "wrong": wrong}), encoding="utf-8")


def expect_all(file):
    """With the executor as device: the wavefronts by the x-ray, in the same order."""
    from simt.xray import xray

    found = kernels()
    table = np.array(list(patterns().values()))
    out = np.zeros(table.shape, np.float32)
    wavefronts = []
    for kind, size, row in planned(table):
        report = xray(found[kind, size], 1, LANES, engine="compiled")(table, row, out)
        wavefronts.append(sum(e.wavefronts for e in report.expressions if (e.space, e.kind) == ("shared", kind)))
    file.write_text(json.dumps(wavefronts), encoding="utf-8")


def start(side, file, prefix=(), **environment):
    command = [*prefix, sys.executable, __file__, "--child", side, str(file)]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, env={**os.environ, **environment}, **pipe)


def compare(measured, expected, table):
    """The rows. measured: [(kernel, {(our name, kind): count})] of every launch in order; expected: wavefronts."""
    names, values = list(table), list(table.values())
    plan = list(planned(values))
    if not len(measured) == len(expected) == len(plan):
        raise SystemExit(f"{len(plan)} launches planned, {len(measured)} measured, {len(expected)} expected")
    none = {}
    for (kind, size, row), (kernel, counts), ours in zip(plan, measured, expected, strict=True):
        if f"{kind}_{size}_bytes" not in kernel:
            raise SystemExit(f"{kernel} was measured where {kind}_{size}_bytes was planned")
        counts = {name: counts[name, kind] for name in ("wavefronts", "conflicts")}
        base = none.setdefault((kind, size), counts)
        theirs = {name: counts[name] - base[name] for name in counts}
        what = {"kind": kind, "bytes": size, "name": names[row], "pattern": " ".join(map(str, values[row]))}
        yield {**what, "nsight": theirs, "xray": ours}


def main():
    from cpulab.measure import record

    ncu = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(METRICS)]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / side for side in ("launch", "expect")]
        running = [start("launch", files[0], ncu), start("expect", files[1], DLKERNELS_DEVICE="executor")]
        outputs = [one.communicate(timeout=LIMIT)[0] for one in running]
        for file, output in zip(files, outputs, strict=True):
            if not file.exists():
                raise SystemExit(f"{file.name}: {output[-2000:]}")
        launched, expected = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    measured = parse_ncu(outputs[0], METRICS)
    if not measured:
        raise SystemExit(f"ncu saw no kernel: {outputs[0][-2000:]}")
    rows = list(compare(measured, expected, patterns()))
    differs = sum(row["nsight"]["wavefronts"] != row["xray"] for row in rows)
    for row in rows:
        del row["xray"]  # of today's model; the record is what the model is held to
    record("gpu_banks", {**launched, "rows": rows}, command="python benchmarks/gpu_banks.py")
    print(f"{len(rows)} launches, {launched['wrong']} with wrong results; wavefronts differ in {differs}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        {"launch": launch_all, "expect": expect_all}[sys.argv[2]](Path(sys.argv[3]))
    else:
        main()
