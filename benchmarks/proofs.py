"""Which GPU kernels of the library are proved free of races, for which launches: what `simt.prove` says of each. No GPU needed.

    python benchmarks/run.py proofs           recorded in results/proofs.json; takes minutes
    python benchmarks/run.py proofs --quick   the sums only, not recorded

A kernel is asked about every block size first; where that does not hold, or cannot be proved, about the blocks that the library
launches it with, as the record of the gallery has them. Kernels with one source, made for several functions or types, count
once. The page "The x-ray" shows the record, with the examples; tests/simt/proof/test_record.py proves much of it again.
"""

import json
from pathlib import Path

from examples_of_proofs import EXAMPLES

import simt
from dlkernels import implementations

GALLERY = Path(__file__).parent / "results" / "gallery.json"


def benchmark(quick=False):
    kernels, blocks, rows = kernels_of_the_library(), blocks_of_the_library(), []
    for (name, place), (kernel, signature) in kernels.items():
        if not quick or "reduce/gpu_sum" in place:
            rows.append({"place": place, **told(kernel, signature, blocks.get(name, []))})
            row = rows[-1]
            print(f"{name:<32}{place:<50}{row['verdict']:<14}{row.get('reason', '')}", flush=True)
    examples = {name: simt.prove(kernel, signature, block=block).to_dict() for name, (kernel, signature, block) in EXAMPLES.items()}
    return {"rows": rows, "examples": examples}


def kernels_of_the_library():
    """(name, "vector/gpu.py") and further, for kernels of one name, a number -> (kernel, first signature)."""
    found, seen = {}, set()
    for rung in implementations.everything():
        for kernel, signatures in rung.kernels if rung.device == "gpu" else ():
            code = kernel.py_func.__code__
            if code in seen:
                continue
            seen.add(code)
            file = Path(code.co_filename).resolve().relative_to(implementations.LIBRARY / "dlkernels").as_posix()
            found[code.co_name, f"{file}:{code.co_firstlineno}"] = kernel, signatures[0]
    return found


def blocks_of_the_library():
    """Name of a kernel -> the blocks with which the gallery launched it."""
    blocks = {}
    for row in json.loads(GALLERY.read_text(encoding="utf-8"))["data"]["rows"]:
        for launch in row["launches"]:
            known = blocks.setdefault(launch["kernel"], [])
            known += [launch["block"]] if launch["block"] not in known else []
    return blocks


def told(kernel, signature, blocks):
    """What the record says of one kernel: the verdict for all blocks, or else for its own."""
    whole = simt.prove(kernel, signature).to_dict()
    if whole["verdict"] == "free" or not blocks:
        return whole
    verdicts = [simt.prove(kernel, signature, block=tuple(block)).to_dict() for block in blocks]
    worst = max(verdicts, key=lambda v: ("free", "not provable", "fails").index(v["verdict"]))
    return worst | {"block": blocks if len(blocks) > 1 else blocks[0], "every": whole}
