"""Every GPU kernel of the library on a small example: what it does to memory, with a picture. No GPU needed, and no
times.

    python benchmarks/run.py gallery          recorded in results/gallery.json

The launches of a rung are caught on their way to the executor, and x-rayed. The page "Gallery" shows the record;
tests/measure/test_gallery.py compares it with the table of the library and counts some of it again.
"""

import math

import stale
from caught import launches

from dlkernels import implementations

MOST = 5_000  # the product of a shape: what the executor runs in a second or two
SHAPES = {  # where that would leave a kernel's tiles mostly empty
    "matmul": (64, 16, 64),
    "linear": (64, 16, 64),
    "scaled_dot_product_attention": (1, 1, 64, 64, 32, 32),
    "attention_half": (1, 1, 64, 64, 32, 32),
    "decode_attention": (1, 2, 1, 256, 64),
    "conv2d": (1, 8, 8, 14, 14, 3),
    "rnn": (3, 4, 32, 32),
    "lstm": (3, 4, 32, 32),
    "gru": (3, 4, 32, 32),
    "min_": (3, 4, 32, 32),
    "scan": (2000,),
    "rotary": (64, 64),
    "cross_entropy": (64, 64),
    "embedding": (64, 10, 32),
    "spmv": (64, 64),  # two blocks of the merge path
    "spmm": (32, 32, 33),
    "bsr_mm": (4, 4, 33),
} | dict.fromkeys(("softmax", "log_softmax", "layer_norm", "rms_norm"), (64, 64))
SHAPES |= dict.fromkeys(("max_pool2d", "avg_pool2d", "adaptive_max_pool2d", "adaptive_avg_pool2d"), (1, 4, 28, 28))
#: (shape, seed) of each call of a rung that such an example would lead past a kernel of its own. The seed chooses among the
#: settings of the operation's examples, as a dimension or a mask.
MASKED, MASKED_GROUPS, ALONG_COLUMNS, WITH_START, DEPTHWISE, PADDED = 2, 5, 2, 3, 4, 2
NOT_REDUCED, ODD_OFFSET = 1, 1
INT4, E4M3, EACH_ROW, EACH_COLUMN, GROUPS, RANK_4 = 2, 3, 5, 15, 6, 1
FEW_ROWS, FEW_ROWS_IN_GROUPS = [((1, 16, 256), 0)], [((1, 16, 256), GROUPS)]
ATTENTION = SHAPES["scaled_dot_product_attention"]
ATTENDED = [(ATTENTION, 0), ((1, 1, 32, 32, 16, 16), MASKED)]
PADDED_TOO = [((3, 4, 32, 32), 0), ((3, 2, 8, 8), PADDED)]
LONG_ROWS_TOO = [((64, 64), 0), ((2, 1100), 0)]
WORDS_TOO = [((64, 16, 64), 0), ((3, 7, 5), 0)]  # and rows that are no whole words
ODD_OFFSET_TOO = [((1000,), 0), ((1000,), ODD_OFFSET)]
CALLS = (
    dict.fromkeys(
        ("attention_three_kernels", "attention_online_thread", "attention_shared_tiles", "attention_register_tiles"),
        ATTENDED,
    )
    | dict.fromkeys(("int4_thread_per_output", "int4_warp_per_output"), FEW_ROWS_IN_GROUPS)
    | dict.fromkeys(("codebook_warp_per_output", "hashed_warp_per_output"), FEW_ROWS)
    | dict.fromkeys(("lstm_backward_launches", "gru_backward_launches", "rnn_backward_launches"), PADDED_TOO)
    | {
        "attention_backward_threads": [(ATTENTION, 0), ((1, 1, 32, 32, 16, 16), MASKED_GROUPS)],
        "attention_backward_register_tiles": [(ATTENTION, 0), ((1, 1, 32, 32, 16, 16), MASKED_GROUPS)],
        "attention_half_tensor_cores": [(ATTENTION, 0), ((1, 1, 32, 32, 30, 30), MASKED)],  # and an odd width
        "conv2d_backward_implicit_gemm": [((1, 16, 16, 16, 8, 2), 0), ((1, 8, 1, 14, 14, 3), DEPTHWISE)],
        "conv2d_chosen": [((1, 4, 32, 10, 10, 3), 0), ((1, 8, 1, 14, 14, 3), DEPTHWISE)],
        "conv2d_depthwise_rows": [((1, 8, 1, 14, 14, 3), DEPTHWISE)],
        "cross_entropy_warp_per_row": LONG_ROWS_TOO,
        "cross_entropy_with_lse_warp_per_row": LONG_ROWS_TOO,
        "cross_entropy_backward_two_kernels": LONG_ROWS_TOO,
        "cumsum_blocks": [((5000,), 0)],
        "cumsum_look_back": [((5000,), 0)],
        "dropout_wide": ODD_OFFSET_TOO,
        "dropout_backward_wide": ODD_OFFSET_TOO,
        "embedding_wide": [((64, 10, 32), 0), ((64, 10, 33), 0)],
        "embedding_backward_sorted_gpu": [((64, 10, 32), 0), ((1030, 5, 4), 0)],  # more keys than a block sorts
        "linear_2_4_half_threads": [((8, 8, 32), 0)],
        "linear_2_4_tensor_cores": [((32, 16, 32), 0)],
        "linear_2_4_threads": [((16, 8, 32), 0)],
        "linear_int8_tile": WORDS_TOO,
        "linear_int8_words": WORDS_TOO,
        "matmul_split_k": [((64, 64, 128), 0)],
        "quantize_threads": [((64, 64), E4M3)],
        "quantize_wide": [((64, 64), E4M3), ((33, 33), E4M3)],  # and what is no multiple of eight
        "dequantize_threads": [((64, 64), INT4)],
        "dequantize_wide": [((64, 64), INT4), ((33, 33), INT4)],
        "qparams_thread_per_scale": [((32, 64), EACH_ROW)],
        "qparams_block_per_scale": [((32, 64), EACH_ROW), ((32, 64), EACH_COLUMN)],
        "int4_warp_wide": [*FEW_ROWS_IN_GROUPS, ((1, 16, 90), 0)],
        "low_rank_block_per_row": [((1, 16, 256), RANK_4)],
        "mse_two_stages": [((1000,), 0), ((1000,), NOT_REDUCED)],
        "scan_backward_blocks": [((2, 2000), WITH_START)],
        "scan_look_back": [((2, 2000), WITH_START)],
        "sum_columns": [((64, 40), ALONG_COLUMNS)],
        "sum_last_block": [((5000,), 0)],
    }
)
SHOWN = (
    "sectors_per_request",
    "efficiency",
    "bytes_moved",
    "bank_ways",
    "shared_bytes",
    "barriers",
    "atomics",
    "active_lanes",
)


def benchmark(quick=False, kept=None):
    rows, before = [], stale.known(kept["rows"], lambda row: row["name"]) if kept else {}
    for rung in rungs():
        if not quick or rung.operation == "add":
            made = stale.made_of(rung.function, *(kernel for kernel, _ in rung.kernels))
            rows.append((kept and stale.again(rung.name, made, before)) or look(rung) | {"made_of": made})
            print(f"{rung.name:<40}{len(rows[-1]['launches']):>3} launches", flush=True)
    return {"rows": rows}


def rungs():
    return [rung for rung in implementations.everything() if rung.device == "gpu"]


def calls(rung):
    """[(shape, seed)] of its calls; one, but where a kernel takes part in some calls only."""
    if rung.name in CALLS:
        return CALLS[rung.name]
    examples = implementations.OPERATIONS[rung.operation].examples
    families = [family for family in SHAPES if rung.operation.startswith(family)]
    fit = [shape for shape in (*examples.shapes, *examples.timed) if math.prod(shape) <= MOST]
    return [(SHAPES[families[0]] if families else max(fit, key=math.prod), 0)]


def dtype_of(rung):
    """float32 where the operation takes it."""
    return sorted(implementations.OPERATIONS[rung.operation].examples.dtypes)[0]


def arguments(rung, shape, seed):
    return implementations.OPERATIONS[rung.operation].examples.make(shape, seed, dtype=dtype_of(rung))


def look(rung):
    """What the record says of a rung: its examples, the first launch of each of its kernels, and whose help they
    have."""
    own, seen, helpers = names_of_kernels(rung), {}, []
    for shape, seed in calls(rung):
        with launches() as reports:
            rung(*arguments(rung, shape, seed))
        known = {kernel for kernel, _ in seen}
        for report in reports:
            if report.kernel in own and report.kernel not in known:
                seen.setdefault((report.kernel, report.block), (report, reports))
        helpers += [report.kernel for report in reports if report.kernel not in own]
    shown = sorted(seen.items(), key=lambda one: own.index(one[0][0]))  # as the rung names them, as launched otherwise
    return {
        "name": rung.name,
        "shapes": [list(shape) for shape, _ in calls(rung)],
        "dtype": dtype_of(rung),
        "launches": [summary(report, reports) for _, (report, reports) in shown],
        "helpers": list(dict.fromkeys(helpers)),
    }


def names_of_kernels(rung):
    """Of those that the rung is about: what else it launches, a copy or a product before it, belongs to other rungs."""
    return [getattr(kernel, "py_func", kernel).__name__ for kernel, _ in rung.kernels]


def summary(report, reports):
    return {
        "kernel": report.kernel,
        "times": sum(other.kernel == report.kernel and other.block == report.block for other in reports),
        "grid": list(report.grid),
        "block": list(report.block),
        "findings": len(report.findings),
        **{name: report.total[name] for name in SHOWN},
        "request": request(report),
    }


def request(report):
    """The costliest request to global memory: what it was, and the first byte that each lane touched; None without
    one."""
    kinds = [kind for kind in ("load", "store", "atomic") if report.total[f"global_{kind}_requests"]]
    if not kinds:
        return None
    picture = report.thread_map(kind=kinds[0])
    lanes = [[int(field) for field in line.split()] for line in picture.text.splitlines()[1:]]
    least = min(address for _, _, address, _ in lanes) // 32 * 32
    return {"alt": picture.alt, "lanes": [[lane, address - least] for lane, _, address, _ in lanes]}
