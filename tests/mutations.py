"""Does the test suite notice faults? Plants those of FAULTS, one by one, in a copy of the library, and runs the tests
that are meant to notice them.

    python tests/mutations.py                          all faults
    python tests/mutations.py tile "bank count"        those whose names hold one of these words
    python tests/mutations.py --root DIR               in another checkout, of any layout below lib/

A fault says which text of lib/ becomes which other one. The text must occur once in the whole of lib/, on one line. A
test that hangs or crashes notices, too.
"""

import argparse
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import hypothesis  # noqa: F401 (imported before the forks)
import llvmlite.binding
import numba
import pytest

LIMIT = 300  # seconds for the tests of one fault
LIMIT_WITHOUT = 3000  # for those of all faults in a file, where each kernel is compiled
LEFT_OUT = shutil.ignore_patterns(".venv", ".git", "_build", "build", ".hypothesis", "__pycache__", "*.egg-info")
PLUGINS = ("cacheprovider", "dlkernels-grading", "nbval", "xdist")  # not needed here, and slow to import
CRASHED = 100  # exit code of a process in which not even pytest worked


@dataclass(frozen=True)
class Fault:
    """`old` becomes `new`; the tests in `file` that -k `tests` chooses must fail.

    needs: the instructions, by LLVM's name, without which that text is not run.
    """

    name: str
    old: str
    new: str
    file: str
    tests: str
    needs: str = ""


# ---- the faults -----------------------------------------------------------------------------------------------------

OPERATIONS, VECTOR, MATMUL, DOTS = (
    f"tests/kernels/test_{name}.py" for name in ("operations", "vector", "matmul", "dots")
)
TILE = "tests/simd/test_tile.py"
GPU_ATTENTION = "tests/kernels/test_gpu_attention.py"
GPU_BACKWARD = "tests/kernels/test_gpu_attention_backward.py"
TEAM = "tests/kernels/test_team.py"
CONVOLUTION = "tests/kernels/test_convolution.py"
HOST = "tests/kernels/test_host.py"
WINOGRAD = "tests/kernels/test_winograd.py"
RECURRENT, LOOK_BACK = "tests/kernels/test_recurrent.py", "tests/kernels/test_scan_look_back.py"
GPU_CONVOLUTION = "tests/kernels/test_gpu_convolution.py"
LAYOUTS, TENSOR = "tests/kernels/test_layouts.py", "tests/kernels/test_tensor_cores.py"
KERNELS = [
    Fault(
        "team: the caller returns while others still work",
        "while atomic_load(team, DONE) < tasks:",
        "while atomic_load(team, DONE) < tasks and looks < 1:",
        TEAM,
        "another_has_begun",
    ),
    Fault(
        "team: a task is taken twice",
        "if compare_and_swap(team, TICKET, ticket, ticket - 1):",
        "if compare_and_swap(team, TICKET, ticket, ticket):",
        TEAM,
        "many_helpers",
    ),
    Fault(
        "team: more helpers than were asked for",
        "if first >= last or ticket >> 48 < who:",
        "if first >= last:",
        TEAM,
        "many_helpers",
    ),
    Fault(
        "team: who has nothing to do never sleeps",
        "if looks & 63 or _now() - since < SPIN:",
        "if looks & 63 or _now() - since < SPIN * 1_000_000:",
        TEAM,
        "sleeps",
    ),
    Fault(
        "team: the bell is rung whatever it costs",
        "worth = team[ALONE] + least > WORTH * team[PRICE]",
        "worth = True",
        TEAM,
        "bell",
    ),
    Fault(
        "team: two callers enter numba's threading layer",
        "if threads < 2 or tasks < 2 or not compare_and_swap(team.words, BUSY, 0, 1):",
        "if threads < 2 or tasks < 2:",
        TEAM,
        "allows_one",
    ),
    Fault(
        "team: a call from within the start waits for it",
        "_threads, _starting, _halfway = [], threading.RLock(), False",
        "_threads, _starting, _halfway = [], threading.Lock(), False",
        TEAM,
        "handler",
    ),
    Fault("team: a call from within the start starts another team", "if _halfway:", "if False:", TEAM, "handler"),
    Fault(
        "gpu add: one thread too many passes the guard",
        "if i < out.size:  # the last block may have threads to spare",
        "if i <= out.size:  # the last block may have threads to spare",
        OPERATIONS,
        "test_shapes and gpu-add_one_per_element",
    ),
    Fault(
        "streaming add: the rest of a division belongs to no thread",
        "_add_streaming_part(a, b, out, part * out.size // parts, (part + 1) * out.size // parts)",
        "_add_streaming_part(a, b, out, part * (out.size // parts), (part + 1) * (out.size // parts))",
        VECTOR,
        "test_streaming_from_any_alignment and add_streaming",
    ),
    Fault(
        "leaky relu: the gradient ignores the slope",
        "return grad if x > zero else parameter * grad",
        "return grad if x > zero else zero * grad",
        OPERATIONS,
        "test_shapes and cpu-leaky_relu_backward_compiled",
    ),
    Fault(
        "register tile in Python: the last steps that are no four",
        "for q in range(0, depth, 4):",
        "for q in range(0, depth - 3, 4):",
        OPERATIONS,
        "test_shapes and cpu-matmul_register_tile",
    ),
    Fault(
        "packed product: each block of the depth begins anew",
        "fresh, packs = front == 0, top == 0",
        "fresh, packs = True, top == 0",
        OPERATIONS,
        "test_large and cpu-matmul_tile",
    ),
    Fault(
        "packed product: panels that are needed again take each other's place",
        "pitch = DEPTH + SPARE if m > HEIGHT else 0",
        "pitch = 0",
        OPERATIONS,
        "test_large and cpu-matmul_tile",
    ),
    Fault(
        "packed product: the low tile at the end writes one row too few",
        "put(c, c_at, low, LOW_ROWS, VECTORS, tile_rows, panel_cols, fresh)",
        "put(c, c_at, low, LOW_ROWS, VECTORS, tile_rows - 1, panel_cols, fresh)",
        MATMUL,
        "test_last_tiles and float32",
    ),
    Fault(
        "packed product: of a block of few rows nobody packs the panel",
        "0 < rest <= LOW_ROWS < rows else",
        "0 < rest <= LOW_ROWS else",
        MATMUL,
        "test_last_tiles and float32",
    ),
    Fault(
        "few last columns: a column is copied to where the next matrix is packed",
        "column = a + PACKED_A - PITCH",
        "column = panel + depth * lanes(work)",
        MATMUL,
        "test_one_matrix_times_a_stack and float32 and 544",
    ),
    Fault(
        "few last columns: the second block of terms forgets the first",
        "c.data[element] = sums[r] if fresh else c.data[element] + sums[r]",
        "c.data[element] = sums[r]",
        MATMUL,
        "test_last_tiles and float32",
    ),
    Fault(
        "vectors kept on the way: every row in the first one's place",
        "kept_now = builder.gep(kept_first, [builder.mul(k, kept_step)])",
        "kept_now = kept_first",
        TILE,
        "test_vectors_are_packed_on_the_way",
    ),
    Fault(
        "tile at the edge: the mask of the second vector is the first one's",
        "[v * tile.lanes + lane for lane in range(tile.lanes)]",
        "[lane for lane in range(tile.lanes)]",
        TILE,
        "test_a_part_is_stored_and_nothing_else",
    ),
    Fault(
        "packing: a row below the last square is taken for a turned one",
        "for j in range(across if i < done else 0, width):",
        "for j in range(across if i <= done else 0, width):",
        TILE,
        "test_pack_any_layout",
    ),
    Fault(
        "fetch_add: an atomic that is not one",
        'return builder.atomic_rmw(kind, address, change, "seq_cst")',
        "old = builder.load(address); builder.store(builder.add(old, change), address); return old",
        "tests/simd/test_atomic.py",
        "test_each_is_one_instruction",
    ),
    Fault(
        "a thief leaves the wrong half",
        "lower_half, upper_half = first << _HALF | middle, middle << _HALF | last",
        "upper_half, lower_half = first << _HALF | middle, middle << _HALF | last",
        "tests/schedules/test_schedules.py",
        "test_a_thief_takes_the_upper_half_of_what_is_left",
    ),
    Fault(
        "bfloat16: one bit too low",
        "bits[j] = np.uint32(row[j]) << np.uint32(16)",
        "bits[j] = np.uint32(row[j]) << np.uint32(15)",
        MATMUL,
        "test_all_numbers_of_16_bits_are_widened_exactly",
    ),
    Fault(
        "int8: pairs are added in 16 bits, and widened too late",
        "builder.add(new[k], builder.add(picked(products, 0), picked(products, 1)))",
        "builder.add(new[k], builder.sext(builder.trunc(builder.add(picked(products, 0), picked(products, 1)), "
        "ir.VectorType(I16, LANES)), vector))",
        DOTS,
        "test_sums_of_eight_bits_reach_the_ends_of_their_range",
    ),
    Fault(
        "bfloat16: small numbers are taken for zero",
        "return min(e, f) > 0 and e + f >= LEAST",
        "return min(e, f) > 0 and e + f >= LEAST - 1",
        DOTS,
        "test_no_small_number_is_lost",
        needs="avx512bf16",
    ),
    Fault(
        "bfloat16: what fills up an odd number of steps is not zero",
        "there = np.uint32(0xFFFF if p + 1 < back else 0)",
        "there = np.uint32(0xFFFF)",
        DOTS,
        "test_bfloat16_that_is_not_finite",
        needs="avx512bf16",
    ),
    Fault(
        "int8: what an earlier product left behind the last step is multiplied, too",
        "target[steps : steps + -steps % GROUP] = 0",
        "target[steps:steps] = 0",
        DOTS,
        "test_eight_bits_are_exact_at_the_edges_of_tiles_and_blocks",
        needs="avx512vnni",
    ),
    Fault("Strassen: a sign", "c21 -= c11", "c21 += c11", MATMUL, "test_strassen_at_sizes_where_it_works"),
    Fault(
        "convolution: the rows below a band are missing",
        "for r in range(rows + c.height - c.rows):",
        "for r in range(rows):",
        OPERATIONS,
        "conv2d_tile and test_large",
    ),
    Fault(
        "convolution: of an odd number of zeros, one more at the beginning",
        "return tuple((m // 2, m - m // 2) for m in missing)",
        "return tuple((m - m // 2, m // 2) for m in missing)",
        CONVOLUTION,
        "same_convolutions",
    ),
    Fault(
        "convolution on a GPU: no barrier before the next channel",
        "cuda.syncthreads()  # nobody reads it any more",
        "pass",
        GPU_CONVOLUTION,
        "halo_each_pixel",
    ),
    Fault(
        "implicit GEMM: a row of the kernel is not counted on",
        "ky = u32(ky + u32(1))",
        "ky = ky",
        GPU_CONVOLUTION,
        "tiles_that_end_inside",
    ),
    Fault(
        "gradients by implicit GEMM: phases are counted from the padding's beginning",
        "tap, rest = taps, u32(u32(first + before) % stride)",
        "tap, rest = taps, u32(first % stride)",
        GPU_CONVOLUTION,
        "gradients_where_tiles_end",
    ),
    Fault(
        "gradients by implicit GEMM: a block goes on with the pixels of the next",
        "last = min(u32(pixel + depth), u32(count * plane))",
        "last = u32(count * plane)",
        GPU_CONVOLUTION,
        "gradients_where_tiles_end",
    ),
    Fault(
        "gradients by implicit GEMM: the next row is forgotten where one ends",
        "y = u32(y + u32(1))",
        "y = u32(y)",
        GPU_CONVOLUTION,
        "gradients_where_tiles_end",
    ),
    Fault(
        "depthwise on a GPU: planes of a block that are none are written",
        "if valid and z < wide:",
        "if z < wide:",
        GPU_CONVOLUTION,
        "depthwise_squares",
    ),
    Fault(
        "gradient of a convolution on a GPU: rows and columns of a kernel are exchanged",
        "ky, kx = t // broad % tall, t % broad",
        "ky, kx = t // tall % broad, t % tall",
        CONVOLUTION,
        "all_that_they_need",
    ),
    Fault(
        "convolution on a GPU: a block computes the first of its planes only",
        "for part in range(cuda.blockIdx.z, count * groups * tiles, cuda.gridDim.z):",
        "for part in range(cuda.blockIdx.z, min(cuda.blockIdx.z + 1, count * groups * tiles)):",
        CONVOLUTION,
        "kernels_for_gpus",
    ),
    Fault(
        "gradient of a convolution: a band is put back at the top of the picture",
        "i = (top + y) * g.stride_y - g.top + ky * g.dilation_y",
        "i = y * g.stride_y - g.top + ky * g.dilation_y",
        OPERATIONS,
        "conv2d_backward_columns and test_large",
    ),
    Fault(
        "gradient of the weights: all pixels of a block are the first picture's",
        "picture, pixel = (done + packed) // area, (done + packed) % area",
        "picture, pixel = done // area, (done + packed) % area",
        OPERATIONS,
        "conv2d_backward_implicit and test_large",
    ),
    Fault(
        "gradient of the pixels: columns are added from the first row of the result on",
        "source, y, col, remaining = columns_at + r * pitch, pixel // width, pixel % width, pixels",
        "source, y, col, remaining = columns_at + r * pitch, 0, pixel % width, pixels",
        "tests/kernels/test_convolution.py",
        "whatever_kept_memory_holds",
    ),
    Fault(
        "gradient of the pixels: the kernel is not turned",
        "target[target_at + tap] = source[source_at + places - 1 - tap]",
        "target[target_at + tap] = source[source_at + tap]",
        OPERATIONS,
        "conv2d_backward_implicit and test_shapes",
    ),
    Fault(
        "gradient of a depthwise convolution: infinities on whole lines",
        "is_depthwise(weight, g) and all(np.isfinite",
        "is_depthwise(weight, g) and any(np.isfinite",
        "tests/kernels/test_convolution.py",
        "infinite_number",
    ),
    Fault(
        "gradient of a depthwise convolution: rows of a kernel are taken without their dilation",
        "offset = begin + ky * g.dilation_y * wide + kx * g.dilation_x",
        "offset = begin + ky * wide + kx * g.dilation_x",
        OPERATIONS,
        "conv2d_backward_lines and test_shapes",
    ),
    Fault(
        "gradient of a depthwise convolution: a plane begins with what the one before left",
        "back[:] = 0",
        "back[:0] = 0",
        OPERATIONS,
        "conv2d_backward_lines and test_shapes",
    ),
    Fault(
        "Winograd: a sign",
        "return d0 - d2, d1 + d2, d2 - d1, d1 - d3",
        "return d0 - d2, d1 - d2, d2 - d1, d1 - d3",
        OPERATIONS,
        "conv2d_winograd_2x2 and test_shapes",
    ),
    Fault(
        "Winograd: large tiles take the points of the small ones",
        "even, odd = fma(d2, -AA, d4), fma(d1, -AA, d3) * B",
        "even, odd = fma(d2, -BB, d4), fma(d1, -AA, d3) * B",
        OPERATIONS,
        "conv2d_winograd_4x4 and test_shapes",
    ),
    Fault(
        "Winograd: a factor of the other point when large tiles of weights are transformed",
        "0.5 * B / (BB * (BB - AA))",
        "0.5 * A / (BB * (BB - AA))",
        OPERATIONS,
        "conv2d_winograd_4x4 and test_shapes",
    ),
    Fault(
        "Winograd: large tiles of results lack the point at infinity",
        "fma(nearer, AA, fma(farther, BB, s5))",
        "fma(nearer, AA, farther * BB)",
        WINOGRAD,
        "test_errors_are_within_the_bound and 4x4",
    ),
    Fault(
        "Winograd: the row of tiles that reaches over the lower rim is left out",
        "down, across = -(-high // m), -(-wide // m)",
        "down, across = high // m, -(-wide // m)",
        OPERATIONS,
        "conv2d_winograd_4x4 and test_large",
    ),
    Fault(
        "Winograd: a thread goes on with what it prepared for the call before",
        "work[p.shared + who * p.own] = 0\n    else:\n        share(_task_of_pixels, arguments, p.depth",
        "work[p.shared + who * p.own] += 0\n    else:\n        share(_task_of_pixels, arguments, p.depth",
        OPERATIONS,
        "conv2d_winograd_4x4 and test_shapes",
    ),
    Fault(
        "implicit product: a thread goes on with what it prepared for the call before",
        "work[p.shared + who * p.own] = 0\n    else:\n        share(_task_of_pixels, arguments, out",
        "work[p.shared + who * p.own] += 0\n    else:\n        share(_task_of_pixels, arguments, out",
        OPERATIONS,
        "conv2d_implicit and test_shapes",
    ),
    Fault(
        "sizes: the second array's parts are looked up in the first",
        "part -= _parts_of(lines[line_index])",
        "part -= 0 * _parts_of(lines[line_index])",
        WINOGRAD,
        "sizes_of_two",
    ),
    Fault(
        "sizes: the last part of an array counts for the next",
        "for _ in range(_parts_of(lines[line_index])):",
        "for _ in range(lines[line_index].size // PART):",
        WINOGRAD,
        "sizes_of_two",
    ),
    Fault(
        "kept memory: it stays open to others while it is in use",
        "kept.pop(line.dtype.char, None)",
        "kept.get(line.dtype.char, None)",
        HOST,
        "test_what_runs_between_two_calls_has_other_memory",
    ),
    Fault(
        "Winograd: it is taken whatever the numbers are",
        "spread <= SPREAD[name]",
        "spread <= 1e30",
        WINOGRAD,
        "extreme_numbers",
    ),
    Fault(
        "implicit product: a stride is forgotten",
        "strides, bias_at = (p.across * p.pitch, 1), panel * width",
        "strides, bias_at = (p.pitch, 1), panel * width",
        OPERATIONS,
        "conv2d_implicit and test_shapes",
    ),
    Fault(
        "tiles of pixels: the last two vectors of a row are not moved back",
        "z = min(z, wide - 2 * size)",
        "z = z",
        OPERATIONS,
        "conv2d_tile and test_large",
    ),
    Fault(
        "tiles of pixels: a bias fills one vector of three",
        "for v in range(VECTORS):\n            store(line, starts + (r * VECTORS + v) * size, number)",
        "for v in range(1):\n            store(line, starts + (r * VECTORS + v) * size, number)",
        OPERATIONS,
        "conv2d_tile and test_large",
    ),
    Fault(
        "tiles of pixels: few channels, in the order of places",
        "tap, pixel = weights + (c * taps + t) * PANEL, band",
        "tap, pixel = weights + (t * ins + c) * PANEL, band",
        OPERATIONS,
        "conv2d_tile and test_shapes",
    ),
    Fault(
        "tiles of pixels: channels that are not there are written",
        "    if count == ROWS:\n        tile_store(out, to, plane, tile)",
        "    if count > 0:\n        tile_store(out, to, plane, tile)",
        "tests/kernels/test_guarded.py",
        "conv",
    ),
    Fault(
        "separable: what is between has as many channels as the input",
        "between = np.empty((len(x), len(depthwise), *out.shape[2:]), x.dtype)",
        "between = np.empty((*x.shape[:2], *out.shape[2:]), x.dtype)",
        OPERATIONS,
        "conv2d_separable_in_two and test_shapes",
    ),
    Fault(
        "convolution by spectra: a product that is not conjugate",
        "_spectra(kernel[channel_block], size).conj()",
        "_spectra(kernel[channel_block], size)",
        OPERATIONS,
        "conv2d_fft_tiles and test_shapes",
    ),
    Fault(
        "convolution by spectra: squares begin at the picture, not at its padding",
        "top, left = y - g.top, z - g.left",
        "top, left = y, z - g.left",
        OPERATIONS,
        "conv2d_fft_tiles and test_shapes",
    ),
    Fault(
        "convolution by spectra: a result is taken that the sum went round for",
        "inner = tuple(s - k + 1 for s, k in zip(size, span, strict=True))",
        "inner = tuple(s - k + 2 for s, k in zip(size, span, strict=True))",
        OPERATIONS,
        "conv2d_fft_tiles and test_large",
    ),
    Fault(
        "convolution by spectra: all groups see the pixels of the first",
        "x[:, group * ins : (group + 1) * ins]",
        "x[:, :ins]",
        OPERATIONS,
        "conv2d_fft_tiles and test_shapes",
    ),
    Fault(
        "local convolution: all rows have the weights of the first",
        "weight, pixel, result = weights_start + y * wide, pixels_start + y * down, results_start + y * wide",
        "weight, pixel, result = weights_start, pixels_start + y * down, results_start + y * wide",
        OPERATIONS,
        "conv2d_local_rows and test_shapes",
    ),
    Fault(
        "separable convolution: sums of one vector of channels for all",
        "factors + channel, between + channel)",
        "factors, between + channel)",
        OPERATIONS,
        "conv2d_separable_fused and test_large",
    ),
    Fault(
        "largest pixel: a NaN in a column is lost",
        "line[j] = pixel if pixel > line[j] or pixel != pixel else line[j]",
        "line[j] = pixel if pixel > line[j] else line[j]",
        OPERATIONS,
        "max_pool2d_columns and test_values",
    ),
    Fault(
        "largest pixel: a dilated window begins at the rim, whatever its step",
        "first = np.where(begin < 0, begin % dilation, begin)",
        "first = np.maximum(begin, 0)",
        CONVOLUTION,
        "test_pytorch_gives_the_same_poolings and max_pool2d_columns",
    ),
    Fault(
        "mean: a window's length with padding reaches over the padding",
        "last = np.minimum(first + kernel, pixels + padding)",
        "last = first + kernel",
        CONVOLUTION,
        "same_poolings",
    ),
    Fault(
        "gradient of a product: the broadcast axes of b are not summed up",
        "unbroadcast(product(a.swapaxes(-1, -2), grad), b.shape)",
        "product(a.swapaxes(-1, -2), grad)",
        MATMUL,
        "test_gradients_of_the_product",
    ),
    Fault(
        "linear_backward: without the activation's gradient",
        'rows = getattr(vector, f"{activation}_backward")(rows, before)',
        "rows = rows * 1",
        OPERATIONS,
        "test_shapes and cpu-linear_backward_products",
    ),
    Fault(
        "gpu shared tile: the second barrier is missing",
        "cuda.syncthreads()  # nobody reads them any more",
        "pass  # nobody reads them any more",
        OPERATIONS,
        "test_shapes and gpu-matmul_shared_tile",
    ),
    Fault(
        "lstm in vectors: what is kept and what is added change places",
        "gone_on(mask, c / below_sigmoid(f) + added, c)",
        "gone_on(mask, added * c + broadcast(ONE) / below_sigmoid(f), c)",
        RECURRENT,
        "test_vectors_take_all_networks and lstm",
    ),
    Fault(
        "gates in vectors: the state that is not chosen is multiplied by 0",
        "return where(going, settled(new), old)",
        "return going * settled(new) + (ONE - going) * old",
        RECURRENT,
        "test_what_is_not_chosen",
    ),
    Fault(
        "gates in vectors: tanh is flat too soon",
        "FLAT = f32(9.02)",
        "FLAT = f32(7.5)",
        RECURRENT,
        "test_gates_are_right",
    ),
    Fault(
        "gates in vectors: a NaN becomes 1",
        "x = smaller(FLAT, larger(-FLAT, x))",
        "x = smaller(larger(x, -FLAT), FLAT)",
        RECURRENT,
        "test_gates_are_right",
    ),
    Fault(
        "gru in vectors: gate n forgets the bias of what r multiplies",
        "of_n = (load(gates, gate_at + 2 * gate_stride) + b_h) / below_sigmoid(load(gates, gate_at) + b_r)",
        "of_n = load(gates, gate_at + 2 * gate_stride) / below_sigmoid(load(gates, gate_at) + b_r) + b_h",
        RECURRENT,
        "test_vectors_take_all_networks and gru",
    ),
    Fault(
        "lstm over the units: a task writes what is another's",
        "gate_at = gates_at + skipped + unit",
        "gate_at = gates_at + unit",
        RECURRENT,
        "test_vectors_take_all_networks and lstm",
    ),
    Fault("memory begins anywhere", "-room.ctypes.data % LINE)", "0)", HOST, "line_of_the_cache"),
    Fault(
        "a layer's numbers are compared without their types",
        "numbers_are_plain = type(stride) is type(padding) is type(dilation) is type(groups) is int",
        "numbers_are_plain = True",
        HOST,
        "test_what_was_right_once",
    ),
    Fault(
        "attention of what was checked once: the dtypes are not looked at",
        "return _of_arrays_like(shapes, (q.dtype, k.dtype, v.dtype), is_causal, scale, enable_gqa, kinds)",
        "return _of_arrays_like(shapes, (q.dtype,) * 3, is_causal, scale, enable_gqa, kinds)",
        HOST,
        "test_what_was_right_once",
    ),
    Fault(
        "softmax: rows that go together share a maximum",
        "tops[r] = largest(line, (begin + r) * n, n)",
        "tops[r] = largest(line, begin * n, n)",
        OPERATIONS,
        "test_values and cpu-softmax_vectors",
    ),
    Fault(
        "cross_entropy: rows that are ignored count in the mean",
        "return -1, count",
        "return -1, line.size",
        OPERATIONS,
        "test_shapes and cpu-cross_entropy_vectors",
    ),
    Fault(
        "cross_entropy: the logit of an index that is ignored is looked up",
        "chosen = line[r * n + (0 if is_ignored else target[r])]",
        "chosen = line[r * n + max(target[r], 0)]",
        "tests/kernels/test_loss.py",
        "need_be_no_class",
    ),
    Fault(
        "cross_entropy_backward: the log-sum-exp of another row",
        "_softmax_below(line, start, lse, r, n, g, g * smoothing / real(n), result)",
        "_softmax_below(line, start, lse, first, n, g, g * smoothing / real(n), result)",
        OPERATIONS,
        "test_shapes and cpu-cross_entropy_backward_from_lse_vectors",
    ),
    Fault(
        "embedding_backward: equal indices in the other order",
        "index = order[p] * width + j",
        "index = order[begin + end - 1 - p] * width + j",
        "tests/kernels/test_layers.py",
        "test_sorted_sums_have_the_bits_of_the_plain_loop",
    ),
    Fault(
        "dropout: chunks begin with the same words",
        "seed, block + u64(begin // 4))",
        "seed, block + u64(first // 4))",
        "tests/kernels/test_layers.py",
        "test_parts_of_an_array_are_dropped_as_its_whole",
    ),
    Fault(
        "quantize: ties of a float8 go up",
        "half = u32((1 << (shift - 1)) - 1) + (bits >> u32(shift) & u32(1))",
        "half = u32(1 << (shift - 1))",
        "tests/kernels/test_quantization.py",
        "test_every_number_of_16_bits_has_the_code_of_ml_dtypes and quantize_vectors",
    ),
    Fault(
        "quantize: the last of an odd number of codes leaves the one before it in its byte",
        "out[codes.size // 2] = codes[codes.size - 1] & u8(15)",
        "out[codes.size // 2] = codes[codes.size - 1]",
        OPERATIONS,
        "test_shapes and cpu-quantize_vectors",
    ),
    Fault(
        "fake_quantize_backward: what is clipped passes too",
        "out[j] = grad[j] if q >= low and q <= high else none",
        "out[j] = grad[j]",
        OPERATIONS,
        "test_shapes and cpu-fake_quantize_backward_vectors",
    ),
    Fault(
        "linear_int4: the zero point of the first group for all",
        "rest -= s * sums[g] * f32(zeros[o * groups + g])",
        "rest -= s * sums[g] * f32(zeros[o * groups])",
        OPERATIONS,
        "test_shapes and cpu-linear_int4_vectors",
    ),
    Fault(
        "linear_hashed_backward: signs are forgotten",
        "-sums[j] if places[j] & u32(1) else sums[j]",
        "sums[j]",
        OPERATIONS,
        "test_shapes and cpu-linear_hashed_backward_pieces",
    ),
    Fault(
        "first lanes: one too many",
        'builder.select(builder.icmp_signed("<", places, splat(builder, count, a.lanes)), *arguments[1:])',
        'builder.select(builder.icmp_signed("<=", places, splat(builder, count, a.lanes)), *arguments[1:])',
        "tests/simd/test_simd.py",
        "test_first_lanes",
    ),
    Fault(
        "scan: what comes before a chunk is forgotten",
        "state = a.dtype.type(products[k] * state) + ends[k]",
        "state = ends[k]",
        RECURRENT,
        "test_a_row_in_chunks",
    ),
    Fault(
        "gru: the gradient of h has only the way through U",
        "new_h += direct",
        "new_h += 0",
        OPERATIONS,
        "test_gradients_are_the_slope and gru",
    ),
    Fault(
        "gpu sum: the gradient goes to the wrong row",
        "of_x[i] = grad[i // (n * after) * after + i % after]",
        "of_x[i] = grad[i % after]",
        OPERATIONS,
        "test_shapes and gpu-sum_backward",
    ),
    Fault(
        "linear attention: on the way back the state fades a token early",
        "later = None if g is None else np.concatenate([g[..., :1], g[..., :0:-1]], axis=-1)",
        "later = None if g is None else g[..., ::-1]",
        OPERATIONS,
        "test_gradients_are_the_slope and linear_attention",
    ),
    Fault(
        "a tape: results are kept in the wrong order",
        "results = zip(operation.results, result, strict=True) if operation.results else ()",
        "results = zip(operation.results, result[::-1], strict=True) if operation.results else ()",
        OPERATIONS,
        "test_gradients_are_the_slope and attention_with_sums",
    ),
    Fault(
        "recurrent: a sequence goes on in its padding",
        "return None if g.lengths is None else (t < g.lengths)[:, None]",
        "return None",
        RECURRENT,
        "test_what_stands_behind_the_end_is_not_read and per_gate",
    ),
    Fault(
        "gpu scan: a thread forgets the state before its block",
        "state = ps[t - 1] * state + es[t - 1]\n        for _ in",
        "state = es[t - 1]\n        for _ in",
        OPERATIONS,
        "test_at_real_size and gpu-scan_blocks",
    ),
    Fault(
        "gpu scan by look-back: a chunk that was gone back over lets its factor out",
        "            p = p * products[k]",
        "            p = products[k]",
        LOOK_BACK,
        "test_the_state_before_a_chunk",
    ),
    Fault(
        "gpu scan by look-back: threads meet in a bank",
        '    bank."""\n    return k + k // 32',
        '    bank."""\n    return k',
        LOOK_BACK,
        "test_each_number_is_read_once",
    ),
    Fault(
        "gpu scan by look-back: a state is told before it is written",
        "        tell(states, p * before + e, told, job, SUM)",
        "        cuda.atomic.exch(told, job, SUM)\n        states[job] = p * before + e",
        LOOK_BACK,
        "test_each_number_is_read_once",
    ),
    Fault(
        "attention tiles: what was added before a larger score came is not corrected",
        "correction = exp2(before - new)",
        "correction = exp2(new - new)",
        OPERATIONS,
        "test_large and cpu-attention_tiles",
    ),
    Fault(
        "attention tiles: a causal query does not see its own key",
        "first_lanes(ahead + r - i, nothing, load(line, index))",
        "first_lanes(ahead + r + 1 - i, nothing, load(line, index))",
        OPERATIONS,
        "test_shapes and cpu-attention_tiles",
    ),
    Fault(
        "gpu attention: what was added before a larger score came is not corrected",
        "sums[r, c] *= correction",
        "sums[r, c] *= f32(1)",
        "tests/kernels/test_attention.py",
        "test_with_it_there_is_no_finding",
    ),
    Fault(
        "gpu attention in patches: what was added before a larger score came is not corrected",
        "sums[r, c] = sums[r, c] * correction",
        "sums[r, c] = sums[r, c]",
        GPU_ATTENTION,
        "test_ragged",
    ),
    Fault(
        "gpu attention backward: the next values come while some read slopes and keys",
        "cuda.syncthreads()  # nobody reads slopes and keys any more",
        "pass",
        GPU_BACKWARD,
        "test_barriers",
    ),
    Fault(
        "gpu attention backward: slopes come while some read weights",
        "cuda.syncthreads()  # nobody reads weights and gradients any more",
        "pass",
        GPU_BACKWARD,
        "test_barriers",
    ),
    Fault(
        "gpu attention backward: the shares of queries of another tile",
        "slope = scale * weight * (arrived[r, s] - inners[u32(row + apart)])",
        "slope = scale * weight * (arrived[r, s] - inners[u32(h * queries + apart)])",
        GPU_BACKWARD,
        "test_ragged",
    ),
    Fault(
        "gpu attention on tensor cores: the next keys are copied while some are still read",
        "cuda.syncthreads()  # values are there, and nobody reads the keys any more",
        "cuda.syncwarp()",
        GPU_ATTENTION,
        "test_tensor_cores_are_fed_without_conflicts",
    ),
    Fault(
        "tensor cores: numbers are cut to 16 bits, not rounded",
        "digits = round(size * 2.0 ** (fraction - exponent))",
        "digits = int(size * 2.0 ** (fraction - exponent))",
        GPU_ATTENTION,
        "test_pairs_are_rounded_to_the_nearest",
    ),
    Fault(
        "decoding: what was added before a larger score came is not corrected",
        "older = exp2(before - new)",
        "older = exp2(new - new)",
        OPERATIONS,
        "test_large and cpu-decode_packed",
    ),
    Fault(
        "decoding: each page is taken for the first",
        "page, inside = begin // plan.page, begin % plan.page",
        "page, inside = 0, begin % plan.page",
        "tests/kernels/test_decoding.py",
        "test_pages_give_what_one_line_gives",
    ),
    Fault(
        "decoding: the splits of a row are not weighed",
        "weight = part_sums[split_row] / total",
        "weight = out.dtype.type(1) / splits",
        "tests/kernels/test_decoding.py",
        "test_any_number_of_splits_gives_the_same",
    ),
    Fault(
        "attention: a mask of the least number becomes -inf",
        "return where(line.dtype.type(0) * terms, terms, smaller(larger(product, -most), most))",
        "return product",
        "tests/kernels/test_attention.py",
        "test_a_mask_of_the_least_number",
    ),
    Fault(
        "grading: a group's work is its first member's",
        "if len(people) != 1:",
        "if not people:",
        "tests/grading/test_grading_intake.py",
        "test_an_export_of_gradescope",
    ),
    Fault(
        "grading: whatever follows a hyphen is a login",
        "return {name: login for name, before, login in reversed(parts) if often[before] > 1}",
        "return {name: login for name, before, login in reversed(parts)}",
        "tests/grading/test_grading_intake.py",
        "test_repositories_are_known_by_logins",
    ),
    Fault(
        "a range of floats is taken while a compiled answer is checked",
        "if isinstance(number, types.Float | types.Complex):",
        "if isinstance(number, types.Complex):",
        "tests/coursework/test_limited.py",
        "test_a_range_of_floats_is_refused_as_python_does",
    ),
    Fault(
        "modifiers: tiles that nobody sees are not skipped",
        "if kind == NOBODY:",
        "if kind == -1:",
        "tests/kernels/test_modifiers.py",
        "test_tiles_that_nobody_sees_are_not_read",
    ),
    Fault(
        "delta rule: tokens of a chunk take nothing away from each other",
        "factor, above = -line[system + i * size + j], new + j * columns + left",
        "factor, above = line.dtype.type(0), new + j * columns + left",
        "tests/kernels/test_linear_attention.py",
        "test_a_value_gives_way_to_a_new_one",
    ),
    Fault(
        "linear attention: the state does not fade from one chunk to the next",
        "scale(line, state, width * columns, exp(total))",
        "scale(line, state, width * columns, exp(total - total))",
        "tests/kernels/test_linear_attention.py",
        "test_any_size_of_chunks",
    ),
    Fault(
        "attention backward: the gradient of a query has no inner product taken off",
        "store(line, score, weight * (load(line, slopes + r * across + i) - load(line, along + i)))",
        "store(line, score, weight * load(line, slopes + r * across + i))",
        OPERATIONS,
        "test_shapes and cpu-attention_backward_tiles",
    ),
    Fault(
        "attention backward: weights of the way back are not divided by their sum",
        "inverse[row] = grad.dtype.type(1) / sums[row] if sums[row] != 0 else 0",
        "inverse[row] = 1",
        OPERATIONS,
        "test_shapes and cpu-attention_backward_from_sums",
    ),
    Fault(
        "attention backward: what a head adds to the gradient of its queries is added to what memory held",
        "of_q[start:stop] = 0",
        "pass",
        "tests/kernels/test_attention.py",
        "test_both_walks and 2-64",
    ),
    Fault(
        "matmul: a right matrix that is packed as it is does not fit the workspace of 16 registers",
        "return PACKED_A + max(block, SMALL // SMALL_ROWS, SKINNY_B)",
        "return PACKED_A + block",
        "tests/kernels/test_guarded.py",
        "test_with_half_as_many_registers and products",
        needs="avx512f",
    ),
    Fault(
        "conv2d: the gradient of pixels keeps one panel where several blocks of rows need them all",
        "panels, pitch = lines + PACKED_A, PANEL if rows > HEIGHT else 0",
        "panels, pitch = lines + PACKED_A, 0",
        "tests/kernels/test_guarded.py",
        "test_a_kernel_with_more_places",
    ),
    Fault(
        "attention backward: a causal key does not hear of its own query",
        "first_lanes(ahead + r + 1 - i, load(line, index), nothing)",
        "first_lanes(ahead + r - i, load(line, index), nothing)",
        OPERATIONS,
        "test_shapes and cpu-attention_backward_tiles",
    ),
    Fault(
        "delta rule: what a key had is taken off whole, whatever beta is",
        "value = line[part + i] * fma(-grown, load(line, offset), value)",
        "value = fma(-grown, load(line, offset), line[part + i] * value)",
        "tests/kernels/test_linear_attention.py",
        "test_any_size_of_chunks",
    ),
    Fault(
        "softmax online: what was added before a larger number came is not corrected",
        "total = total * math.exp(top - new) + math.exp(new - new)",
        "total += math.exp(new - new)",
        OPERATIONS,
        "test_shapes and cpu-softmax_online",
    ),
    Fault(
        "gpu split: the last part of the sum is left out",
        "for s in range(splits):",
        "for s in range(splits - 1):",
        MATMUL,
        "test_split_sums_are_complete_and_stay_in_their_part",
    ),
    Fault(
        "out: any dtype will do",
        "if out.dtype != dtype:",
        "if out.dtype is None:",
        MATMUL,
        "test_wrong_arguments and dtype",
    ),
    Fault(
        "out of a product: a part of an operand will do",
        "if out is x or (_is_array(out) and overlap(out, x)):",
        "if out is x:",
        MATMUL,
        "test_out_may_not_overlap_an_operand",
    ),
    Fault(
        "gpu: an offset slice is taken for aligned",
        "return all((address(x) or 0) % max(16, 4 * x.dtype.itemsize) == 0 for x in arrays)",
        "return all((address(x) or 0) % 4 == 0 for x in arrays)",
        LAYOUTS,
        "test_on_the_device and matmul and offset",
    ),
    Fault(
        "tensor cores: copies are not waited for",
        "wait_copies()  # of the round before",
        "pass",
        TENSOR,
        "test_ragged and pipelined",
    ),
    Fault(
        "tensor cores: rows of a tile are not padded",
        "A_PITCH, B_PITCH = 20, 68",
        "A_PITCH, B_PITCH = 16, 64",
        TENSOR,
        "test_no_bank_conflicts",
    ),
]

LAUNCH, NAMES, NUMBERS = "tests/simt/test_launch.py", "tests/simt/test_names.py", "tests/simt/test_numbers.py"
ZOO = "tests/zoo/test_zoo.py"
SUBNORMAL = "tests/simt/test_subnormal.py"
EXECUTOR = [
    Fault(
        "executor: a negative index wraps",
        "if not 0 <= i < extent:",
        "if not -extent <= i < extent:",
        LAUNCH,
        "test_negative_indices_are_errors_in_every_space",
    ),
    Fault(
        "types: a kernel that has none runs",
        "raise self._refusals[key].with_traceback(None)",
        "pass",
        "tests/simt/test_typing.py",
        "test_nothing_runs_before_types_are_known",
    ),
    Fault(
        "types: a shuffle takes any mask",
        '_cut(mask, "the mask of a shuffle")',
        "pass",
        "tests/simt/test_typing.py",
        "test_what_is_said",
    ),
    Fault(
        "executor: shared memory starts with zeros",
        "block.memory = np.full(self.shared_capacity, 0xFF, np.uint8)",
        "block.memory = np.full(self.shared_capacity, 0x00, np.uint8)",
        NAMES,
        "test_shared_and_local_memory_starts_poisoned_in_every_block",
    ),
    Fault(
        "executor: activemask is always full",
        "return dict.fromkeys(lanes, np.uint32(sum(bits.values())))",
        "return dict.fromkeys(lanes, np.uint32(0xFFFFFFFF))",
        NAMES,
        "test_votes_and_matches",
    ),
    Fault(
        "executor: a shuffle beyond the warp's edge goes round",
        "return source if 0 <= source < 32 else lane",
        "return source & 31",
        NAMES,
        "test_shuffles",
    ),
    Fault(
        "executor: reverse order is forward order",
        "return lambda sequence: list(sequence)[::-1]",
        "return lambda sequence: list(sequence)",
        LAUNCH,
        "test_order_by_argument_and_environment",
    ),
    Fault(
        "executor: barriers that a thread has passed are not counted",
        "segment(thread.number, thread.epoch, thread.warp_epoch, thread.grid_epoch)",
        "segment(thread.number, 0, thread.warp_epoch, thread.grid_epoch)",
        ZOO,
        "test_nothing_is_found_in_a_correct_kernel and forward and tiled_matmul",
    ),
    Fault(
        "executor: syncwarp does not count",
        "thread.warp_epoch += 1",
        "thread.warp_epoch += 0",
        ZOO,
        "test_nothing_is_found_in_a_correct_kernel and forward and syncwarp",
    ),
    Fault(
        "executor: threads that have returned need not come to a barrier",
        'if len(threads) < self.launch.threads_per_block:\n            self._others_ended(block, threads, "this '
        'barrier"',
        'if False:\n            self._others_ended(block, threads, "this barrier"',
        LAUNCH,
        "test_a_barrier_that_some_threads_never_reach",
    ),
    Fault(
        "executor: copy_to_host does not copy",
        "return self._data.copy()",
        "return self._data",
        NAMES,
        "test_host_and_device_arrays",
    ),
    Fault(
        "executor: integers of 64 bits do not wrap",
        "return ((x + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000",
        "return x",
        NUMBERS,
        "test_int64_wraps",
    ),
    Fault(
        "executor: fma rounds twice",
        "if rest != 0.0 and not int(np.float64(total).view(np.int64)) & 1:",
        "if rest != rest:",
        NAMES,
        "test_fma_rounds_once",
    ),
    Fault(
        "executor: an atomic in shared memory takes subnormal numbers for zeros",
        'flush = _flushed if array.space == "global" and flushes(name, dtype) else lambda x: x',
        "flush = _flushed if flushes(name, dtype) else lambda x: x",
        SUBNORMAL,
        "test_in_shared_memory_they_are_numbers and executor",
    ),
    Fault(
        "executor: the difference of an atomic is flushed as a sum is",
        'return name == "add" and str(dtype) == "float32"',
        'return name in ("add", "sub") and str(dtype) == "float32"',
        SUBNORMAL,
        "test_other_atomics_of_floats_lose_nothing",
    ),
    Fault(
        "executor: the budget of iterations is compared the wrong way round",
        "if thread.steps > most or self.steps > altogether:",
        "if thread.steps < most or self.steps > altogether:",
        LAUNCH,
        "test_a_loop_without_end_meets_the_budget",
    ),
    Fault(
        "executor: an event's time runs backwards",
        "return (other._time - self._time) * 1e3",
        "return (self._time - other._time) * 1e3",
        NAMES,
        "test_streams_and_events_are_done_at_once",
    ),
]

EDGES, COMPILED_ZOO = "tests/simt/compiled/test_edges.py", "tests/simt/compiled/test_compiled_zoo.py"
PASSES, POLICY = "tests/simt/compiled/test_passes.py", "tests/simt/compiled/test_policy.py"
COMPILED = [
    Fault(
        "compiled: a negative index is inside",
        'inside = b.icmp_unsigned("<", i, n)',
        'inside = b.icmp_signed("<", i, n)',
        COMPILED_ZOO,
        "test_wrong_kernels and left_neighbour_of_the_first",
    ),
    Fault(
        "compiled: fresh memory is zero",
        "cgutils.memset(builder, raw, INDEX(size), 0xFF)",
        "cgutils.memset(builder, raw, INDEX(size), 0x00)",
        COMPILED_ZOO,
        "test_wrong_kernels and (halo_never_loaded or ragged_tile_not_padded)",
    ),
    Fault(
        "compiled: a shuffle beyond the warp's edge goes round",
        "source = lane + operand",
        "source = (lane + operand) & 31",
        EDGES,
        "test_the_same_as_the_executor and shuffles",
    ),
    Fault(
        "compiled: a lane that does not exist has the caller's value",
        "return peek(values, source_thread) if source_thread < threads else poison(values)",
        "return peek(values, source_thread) if source_thread < threads else peek(values, thread)",
        EDGES,
        "test_the_same_as_the_executor and a_shuffle_beyond_the_last_thread",
    ),
    Fault(
        "compiled: a lane outside its own mask is not noticed",
        "if not named >> lane & 1 or named & living & ~present:",
        "if named & living & ~present:",
        COMPILED_ZOO,
        "test_wrong_kernels and mask_leaves_callers_out",
    ),
    Fault(
        "compiled: floats do not saturate",
        "if isinstance(source, types.Float) and isinstance(target, types.Integer):",
        "if isinstance(source, types.Complex) and isinstance(target, types.Integer):",
        EDGES,
        "test_the_same_as_the_executor and numbers_as_on_a_gpu",
    ),
    Fault(
        "compiled: atomics compare unsigned numbers as signed ones",
        'b.icmp_signed("<", x, y) if kind.signed else b.icmp_unsigned("<", x, y)',
        'b.icmp_signed("<", x, y)',
        EDGES,
        "test_the_same_as_the_executor and the_largest_unsigned_number",
    ),
    Fault(
        "compiled: a device function takes subnormal numbers in shared memory for zeros",
        "return builder.select(builder.and_(small, where), zero, value)",
        "return builder.select(small, zero, value)",
        SUBNORMAL,
        "test_in_shared_memory_they_are_numbers and compiled",
    ),
    Fault(
        "compiled: an atomic adds subnormal numbers, if their sum is none",
        "old, operand = (_flushed(builder, value, flush) for value in (old, operand))",
        "pass",
        SUBNORMAL,
        "test_in_global_memory_subnormal_numbers_are_zeros and compiled",
    ),
    Fault(
        "compiled: a zero that was a negative subnormal number has no sign",
        "zero = builder.bitcast(builder.and_(bits, _SIGN), value.type)",
        "zero = value.type(0.0)",
        SUBNORMAL,
        "test_in_global_memory_subnormal_numbers_are_zeros and compiled",
    ),
    Fault(
        "counted: memory of all blocks counts as a block's own",
        'return b.icmp_unsigned("==", b.load(b.gep(watch.counter, [info])), INDEX(SPACES.index("global")))',
        'return b.icmp_unsigned("==", b.load(b.gep(watch.counter, [info])), INDEX(SPACES.index("shared")))',
        SUBNORMAL,
        "test_in_global_memory_subnormal_numbers_are_zeros and counted",
    ),
    Fault(
        "compiled: what a warp operation gives counts as uniform",
        'if node.target and node.kind not in ("count", "and", "or"):',
        'if node.target and node.kind not in ("count", "and", "or", node.kind):',
        PASSES,
        "test_uniformity",
    ),
    Fault(
        "compiled: a variable that is assigned twice is computed again",
        "if target in fixed or counts[target] != 1 or target in self.forced:",
        "if target in fixed or target in self.forced:",
        PASSES,
        "test_replication or test_a_variable_that_some_threads_assign",
    ),
    Fault(
        "compiled: reverse order of blocks is forward order",
        "return (self.blocks - end, self.blocks - begin) if self.reverse else (begin, end)",
        "return (first, last)",
        EDGES,
        "test_the_blocks_run_in_the_order_asked_for",
    ),
    Fault(
        "compiled: 16 bytes may begin anywhere",
        'return b.icmp_unsigned("==", b.urem(offset, size), INDEX(0))',
        'return b.icmp_unsigned(">=", b.urem(offset, size), INDEX(0))',
        "tests/simt/compiled/test_failures.py",
        "aligned",
    ),
    Fault(
        "policy: small launches are compiled, large ones run in the executor",
        "if steps < LARGE:",
        "if steps > LARGE:",
        POLICY,
        "test_small_launches",
    ),
]

TRAFFIC, COUNTS, REPORT = "tests/xray/test_traffic.py", "tests/xray/test_counts.py", "tests/xray/test_report.py"
RACES = "tests/xray/test_races.py"
XRAY = [
    Fault("x-ray: sectors of 64 bytes", "SECTOR_BYTES = 32", "SECTOR_BYTES = 64", COUNTS, "test_copy"),
    Fault("x-ray: bank count 16", "BANKS = 32", "BANKS = 16", TRAFFIC, "test_known_strides"),
    Fault(
        "x-ray: 8 bytes are served to a whole warp at once",
        "BANK_BYTES // np.maximum(size[:, 0], BANK_BYTES) * (1 + pairs)",
        "BANK_BYTES // np.maximum(size[:, 0], BANK_BYTES) * (2 + pairs)",
        TRAFFIC,
        "test_known_strides",
    ),
    Fault(
        "x-ray: neighbours that want the same are not served together",
        "part = lane // lanes_at_once(size, load & paired(active, lane, address))[:, None]",
        "part = lane // lanes_at_once(size, load & False)[:, None]",
        TRAFFIC,
        "test_a_gpu_counts_the_same",
    ),
    Fault(
        "compiled: only lanes next to each other are served together",
        "(paired(words, lane, n, 1) or paired(words, lane, n, 2))",
        "paired(words, lane, n, 1)",
        "tests/measure/test_gpu_record.py",
        "test_both_engines_count",
    ),
    Fault(
        "x-ray: an atomic does not race with a plain load",
        "return (a == STORE) | (b == STORE) | ((a == ATOMIC) != (b == ATOMIC))",
        "return (a == STORE) | (b == STORE)",
        TRAFFIC,
        "test_races_against_all_pairs",
    ),
    Fault(
        "compiled: where races are looked for, a barrier of a warp orders nothing",
        "elif time < peek(counter, WARPS + (thread >> 5)):",
        "elif time < 0:",
        "tests/xray/test_races_at_real_size.py",
        "test_the_same_memory_is_raced_for and forward",
    ),
    Fault(
        "x-ray: a wait for what an atomic returned and one more asks nothing of the count",
        "elif e is not None and is_sum and all(",
        "elif e is None and all(",
        ZOO,
        "test_bug_is_found and waits_for_all_but_itself_and_one",
    ),
    Fault(
        "x-ray: shared memory of all blocks is one",
        "np.where(trace.space[rows] == SHARED, trace.block[rows], -1)",
        "np.where(trace.space[rows] == SHARED, 0, -1)",
        ZOO,
        "test_bug_is_found and second_block_trusts_the_first and forward",
    ),
    Fault(
        "x-ray: a grid barrier orders nothing between blocks",
        "columns.compact(location[keep], trace.grid_epoch[rows[keep]])",
        "columns.compact(location[keep])",
        RACES,
        "test_races_are_those_of_all_pairs",
    ),
    Fault(
        "x-ray: what is stored behind the fence counts as released",
        "if row < rows.get(thread, -1) or epoch < last:",
        "if thread in rows or epoch <= last:",
        ZOO,
        "test_bug_is_found and fence_before_the_store and forward",
    ),
    Fault(
        "x-ray: what is taken was left by the last one, whoever did",
        "and not accepts(e, e.new) and self._is_lock(e):",
        "and not accepts(e, e.new):",
        ZOO,
        "test_bug_is_found and taken_from_whoever_set_it and forward",
    ),
    Fault(
        "x-ray: an atomic that changed nothing would have stored nothing",
        "if e.number in self.changed_by or e.name in _STORES]",
        "if e.number in self.changed_by]",
        ZOO,
        "test_bug_is_found and seen_from_whoever_set_it and forward",
    ),
    Fault(
        "x-ray: a lock may be given back by one who does not hold it",
        "return undone or (accepts(e, last.old) and not accepts(e, last.new))",
        "return True",
        ZOO,
        "test_bug_is_found and a_lock_given_back_twice and forward",
    ),
    Fault(
        "x-ray: what was counted before a count was set back still counts",
        "if begin is None or not self._after(begin, m):",
        "if m is not None:",
        ZOO,
        "test_nothing_is_found and barrier_whose_count_is_set_back",
    ),
    Fault(
        "x-ray: only the value that was found has passed the test",
        "return _passes([test[:3] for test in e.tests], value)",
        "return value == e.old",
        ZOO,
        "test_bug_is_found and exchanged_without_being_asked and forward",
    ),
    Fault(
        "x-ray: a fence of the block will do between blocks",
        "if wide >= scope:",
        "if wide >= 0:",
        ZOO,
        "test_bug_is_found and fence_of_the_block_between_blocks and forward",
    ),
    Fault(
        "x-ray: what is read before the fence counts as acquired",
        "(thread in rows and row >= rows[thread])",
        "thread in rows",
        ZOO,
        "test_bug_is_found and no_fence_behind_the_wait and forward",
    ),
    Fault(
        "x-ray: a warp barrier of one lane orders the other",
        "if lanes & reached:",
        "if lanes:",
        ZOO,
        "test_bug_is_found and (halves_of_a_warp_wait_apart or only_one_half_waits) and forward",
    ),
    Fault(
        "x-ray: a thread may read before its own first store",
        "(lambda r: r, None),",
        "(lambda r: 0 * r, None),",
        ZOO,
        "test_bug_is_found and added_to_before_stored and forward",
    ),
    Fault(
        "x-ray: what the same block stores later counts as written",
        "by_owner = store | ((low[location] == who) & (high[location] == who))",
        "by_owner = store",
        ZOO,
        "test_bug_is_found and all_read_before_the_barrier and forward",
    ),
    Fault(
        "x-ray: what a warp stores behind its barrier counts as written before it",
        "np.where(divided[trace.warp[r]], 0, trace.warp_epoch[r])",
        "0 * r",
        "tests/xray/test_unset.py",
        "test_what_is_found",
    ),
    Fault(
        "x-ray: what was counted in vain stays changed",
        "restore(args, before)",
        "pass",
        "tests/simt/compiled/test_auto.py",
        "test_what_began_to_run",
    ),
    Fault(
        "compiled: a block that failed is explained alone, whatever tickets others drew",
        "lowering.program.tickets = True",
        "lowering.program.tickets = False",
        "tests/simt/compiled/test_failures.py",
        "test_a_block_that_fails_because_others_came_before",
    ),
    Fault(
        "x-ray: budgets compared the wrong way round",
        "if counted < allowed if measure in AT_LEAST else counted > allowed:",
        "if counted > allowed if measure in AT_LEAST else counted < allowed:",
        REPORT,
        "test_budget",
    ),
    Fault(
        "x-ray: occupancy without the bytes that the system takes",
        "_round_up(shared_bytes + sm.shared_reserved, sm.shared_grain)",
        "_round_up(shared_bytes, sm.shared_grain)",
        "tests/xray/test_compiler.py",
        "test_occupancy",
    ),
]

EXPLORE, WATCH = "tests/threads/test_explore.py", "tests/threads/test_watch.py"
PROGRAMS, GIVEN = "tests/threads/test_threads_zoo.py", "tests/threads/test_given.py"
LAB = [
    Fault(
        "explore: a lost update is not seen",
        "if between is not None and not _same_value(between, read):",
        "if between is not None and _same_value(between, read):",
        PROGRAMS,
        "test_bug_is_found_and_explained and lost_update",
    ),
    Fault(
        "explore: a schedule's choices are not followed",
        "return self.choices.get(index, default)",
        "return default",
        PROGRAMS,
        "test_bug_is_found_and_explained and check_then_act",
    ),
    Fault(
        "explore: one preemption too few",
        "if price <= self.preemptions:",
        "if price < self.preemptions:",
        EXPLORE,
        "test_an_interruption_costs_one_of_the_bound",
    ),
    Fault(
        "explore: a queue takes one too many",
        "self.__maxsize <= 0 or len(self.__items) < self.__maxsize",
        "self.__maxsize <= 0 or len(self.__items) <= self.__maxsize",
        EXPLORE,
        "test_queues",
    ),
    Fault(
        "explore: to take a lock and give it back is to get on",
        'return not any(e.kind in ("write", "call") or e.deed not in before for e in events[me.middle :])',
        'return not any(e.kind in ("write", "call") or e.text.startswith("acq") for e in events[me.middle :])',
        EXPLORE,
        "test_polling_under_a_lock_is_told_with_its_count",
    ),
    Fault(
        "explore: who only looks polls, whatever it sees",
        'return not any(e.kind in ("write", "call") or e.deed not in before for e in events[me.middle :])',
        'return not any(e.kind in ("write", "call") for e in events[me.middle :])',
        EXPLORE,
        "test_who_goes_through_much_under_a_lock_or_gives_many_signs_does_not_poll",
    ),
    Fault(
        "files: a lock that another has is no hindrance",
        "except (BlockingIOError, PermissionError, FileNotFoundError):",
        "except BlockingIOError:\n        return handle\n    except (PermissionError, FileNotFoundError):",
        "tests/measure/test_files.py",
        "test_processes_that_read_change_and_write_lose_nothing",
    ),
    Fault(
        "peaks: beaten ones are kept",
        "(not fresh and beaten is not None and beaten(known)):",
        "(fresh and beaten is not None and beaten(known)):",
        "tests/measure/test_peak_rates.py",
        "test_kept_peaks_that_a_kernel_beats_are_measured_again_once",
    ),
    Fault(
        "explore: a lock that is still held is no finding",
        "findings += [_held(lock) for lock in outcome.held]",
        "findings += []",
        PROGRAMS,
        "test_bug_is_found_and_explained and lock_kept_by_the_last",
    ),
    Fault(
        "explore: a barrier that opens for the first",
        "if len(now) == self.__parties:",
        "if len(now) >= 1:",
        GIVEN,
        "test_a_barrier_lets_nobody_through_before_all_have_come",
    ),
    Fault(
        "explore: to go on after a barrier is a step of its own",
        "self.running.through = True",
        "self.running.through = False",
        GIVEN,
        "test_to_come_to_a_barrier_is_a_step_and_to_go_on_is_none",
    ),
    Fault(
        "explore: states are told apart by their variables alone",
        "rounds.State(tuple(shared), tuple(threads), copy",
        "rounds.State(tuple(shared), (), copy",
        GIVEN,
        "test_rounds_are_those_that_a_count_by_hand_gives",
    ),
    Fault(
        "explore: the best round is looked for among two states only",
        "if state not in taken:",
        "if state not in taken and len(circle) < 2:",
        GIVEN,
        "test_the_best_round_is_that_of_all_walks",
    ),
    Fault(
        "watch: false sharing is not counted",
        "(threads != threads[s]) & (address != address[s])",
        "(threads != threads[s]) & (address == address[s])",
        WATCH,
        "test_races_false_sharing_and_moves_are_those_of_brute_force",
    ),
    Fault(
        "watch: a store to one's own line moves it",
        "moved += bool(sharers - {thread})",
        "moved += bool(sharers)",
        WATCH,
        "test_races_false_sharing_and_moves_are_those_of_brute_force",
    ),
    Fault(
        "watch: what is left over of a division goes to the wrong threads",
        "(t + 1) * size + min(t + 1, rest)",
        "(t + 1) * size + max(0, rest - threads + t + 1)",
        WATCH,
        "test_static_is_numbas_own_division and workqueue",
    ),
]

PARTS, CPU_TASKS = "tests/grading/test_grading_parts.py", "tests/coursework/test_cpu_tasks.py"
EXPORTS, BY_HAND = "tests/grading/test_grading_exports.py", "tests/grading/test_grading_by_hand.py"
STUDENT, WRONG = "tests/coursework/test_coursework_student.py", "tests/wrong_answers/test_wrong_answers.py"
COURSEWORK = [
    Fault(
        "check: a tolerance a thousand times larger",
        "<= atol + rtol * np.abs(expected)",
        "<= 1000 * (atol + rtol * np.abs(expected))",
        STUDENT,
        "test_what_is_nearly_right_is_wrong",
    ),
    Fault(
        "check: hidden cases are skipped",
        "checked, note, *drawn = task.examine(answer, task.cases + (hidden_cases(task) if hidden else ()), seed)",
        "checked, note, *drawn = task.examine(answer, task.cases + (hidden_cases(task) if not task.cases else ()), "
        "seed)",
        STUDENT,
        "test_hidden_cases_are_run_where_they_are_asked_for",
    ),
    Fault(
        "check: the points of a part count twice",
        "points = task.points if status == RIGHT else 0",
        "points = 2 * task.points if status == RIGHT else 0",
        STUDENT,
        "test_progress_is_kept_and_a_solved_task_stays_solved",
    ),
    Fault(
        "check: a changed input is no failure",
        "if i != out and isinstance(x, np.ndarray) and (index := first_change(x, y)) is not None:",
        "if i == out and isinstance(x, np.ndarray) and (index := first_change(x, x)) is not None:",
        WRONG,
        "test_answer and 07-add",
    ),
    Fault(
        "check: a budget of scenarios compared the wrong way round",
        "if counts.get(name, 0) > limit]",
        "if counts.get(name, 0) < limit]",
        CPU_TASKS,
        "test_counts_are_the_most_over_all_schedules",
    ),
    Fault(
        "check: the first race does not count",
        'if seen["races"]:',
        'if seen["races"][1:]:',
        CPU_TASKS,
        "test_a_race_is_told_by_its_iterations or test_budgets_mix",
    ),
    Fault(
        "check: predictions ten times as far away are near",
        "return abs(said) < 1e300 and abs(said - truth) <= tolerance * abs(truth)",
        "return abs(said) < 1e300 and abs(said - truth) <= 10 * tolerance * abs(truth)",
        CPU_TASKS,
        "test_a_prediction_may_be_near",
    ),
    Fault(
        "check: what is not plain data is a result in the notebook",
        "return plain_result(self._guarded(limited.call, self.function, arguments)), arguments",
        "return self._guarded(limited.call, self.function, arguments), arguments",
        "tests/grading/test_grading_results.py",
        "test_every_kind_of_result_is_judged_alike and 04-order",
    ),
    Fault(
        "grading: a list that an answer changed comes back as it was",
        "kept.append(got if isinstance(sent, list) else sent)",
        "kept.append(sent)",
        "tests/grading/test_grading_results.py",
        "test_a_list_that_is_changed_is_seen_in_grading_too and 03-cut",
    ),
    Fault(
        "grading: the course's own answers are known by no other name",
        "inside.add(name)",
        "inside.discard(name)",
        "tests/grading/test_grading_insides.py",
        "test_a_name_is_known_from_another_cell",
    ),
    Fault(
        "admission: open in a kernel",
        "len round pow divmod enumerate zip print True False None NotImplementedError",
        "len round pow divmod open enumerate zip print True False None NotImplementedError",
        PARTS,
        "test_admission_refuses",
    ),
    Fault(
        "plain Python: settrace",
        '"get_ident local"',
        '"get_ident settrace local"',
        "tests/coursework/test_plain_python.py",
        "test_refused",
    ),
    Fault(
        "results: a key without the seed",
        "json.dumps(asdict(limits)), str(seed), *more]",
        'json.dumps(asdict(limits)), "", *more]',
        PARTS,
        "test_the_key_covers_everything_that_decides",
    ),
    Fault(
        "merge: the cell's id goes before its grade_id",
        "for n in (grade_id, cell_id, named(source))",
        "for n in (cell_id, grade_id, named(source))",
        PARTS,
        "test_merge_believes_the_grade_id_before_the_cells_id",
    ),
    Fault(
        "exports: a grade that somebody entered is overwritten",
        "elif held.strip() in EMPTY or _equal(held, old):",
        "elif held.strip() not in (None, old):",
        EXPORTS,
        "test_canvas_gets_its_file_back",
    ),
    Fault(
        "exports: nothing handed in is 0",
        "if not (self.zero and nothing_came):",
        "if not nothing_came:",
        EXPORTS,
        "test_canvas_gets_its_file_back",
    ),
    Fault(
        "exports: the last of one name gets the grade",
        "if len(fits) == 1:\n            found[column] = fits.pop()",
        "if fits:\n            found[column] = fits.pop()",
        EXPORTS,
        "test_two_of_one_name_are_not_mixed_up",
    ),
    Fault(
        "late: a day is counted when it is over",
        "return max(0, math.ceil(over / timedelta(days=1)))",
        "return max(0, math.floor(over / timedelta(days=1)))",
        BY_HAND,
        "test_a_policy_counts_days_begun",
    ),
    Fault(
        "check: a parallel loop is looked at on one size",
        "if size >= ELEMENTS.start and not np.array_equal(",
        "if size < 0 and not np.array_equal(",
        "tests/coursework/test_cpu_tasks.py",
        "test_serial_code_does_not_pass",
    ),
    Fault(
        "check: of a loop that is left out all iterations are run",
        "if _is_prange(node.iter, self.names):",
        "if not node.iter:",
        "tests/coursework/test_limited.py",
        "test_without_iterations",
    ),
    Fault(
        "watch: whole numbers have no end",
        "if not least <= result < most:",
        "if result is None:",
        WATCH,
        "test_a_whole_number_beyond_64_bits",
    ),
    Fault(
        "late: the points by hand are charged, too",
        'final = whole(max(0, row["points"] - lost)) if by_hand is None else by_hand',
        'final = whole(max(0, (row["points"] if by_hand is None else by_hand) - lost))',
        BY_HAND,
        "test_points_by_hand_are_the_last_word",
    ),
    Fault(
        "grader: what a killed worker had is given to nobody",
        "sched.mark_test_pending(crashitem)",
        "self.state",
        "tests/grading/test_grading_killed.py",
        "test_a_run_that_ends_before_it_was_tried_again",
    ),
    Fault(
        "similarity: what all were given is evidence",
        "if n not in known and held[n] <= most",
        "if held[n] <= most",
        "tests/grading/test_grading_similarity.py",
        "test_what_all_were_given_is_no_evidence",
    ),
    Fault(
        "counts of compiled code: what a loop that only adds asks of memory is free",
        'accesses = total("accesses", lambda block: block.in_vectors)',
        'accesses = total("accesses", lambda block: block.vectors)',
        "tests/coursework/test_08_executed.py",
        "those_beside_additions",
    ),
    Fault(
        "counts of compiled code: a call of exp or log is no multiplication",
        "multiply = _MULTIPLY.search(line) or _FUNCTION.search(line)",
        "multiply = _MULTIPLY.search(line)",
        "tests/coursework/test_08_executed.py",
        "functions_that_can_make_a_product",
    ),
    Fault(
        "numbers of one's own: all students have the same",
        'variant.draw(f"{self.key}|{plain(person)}|{task_id}", attempt)',
        'variant.draw(f"{self.key}|{task_id}", attempt)',
        "tests/coursework/test_own_numbers.py",
        "test_a_draw_is_reproducible",
    ),
]

NUMBERS, NETWORKS = (f"tests/training/test_smaller_{name}.py" for name in ("numbers", "networks"))
SMALLER = [
    Fault(
        "GPTQ: the error of a column is not divided by the factor",
        "error = (w[:, j] - scales[:, j] * (codes[:, j] - zeros[:, j])) / factor[j, j]",
        "error = w[:, j] - scales[:, j] * (codes[:, j] - zeros[:, j])",
        NUMBERS,
        "test_gptq_is_least_squares_for_the_columns_that_are_left",
    ),
    Fault(
        "entropy: what is beyond the range is left out of P",
        "p[-1] += counts[end:].sum()",
        "p[-1] += 0",
        NUMBERS,
        "test_entropy_keeps_a_histogram",
    ),
    Fault(
        "k-means: a border stands at a centroid",
        "borders = np.searchsorted(flat, (centroids[1:] + centroids[:-1]) / 2)",
        "borders = np.searchsorted(flat, centroids[1:])",
        NUMBERS,
        "test_kmeans",
    ),
    Fault(
        "codes: a negative one comes back as a large one",
        '(unpack(arrays["codes"], self.bits, mask.sum()).astype(np.int32) ^ half) - half',
        '(unpack(arrays["codes"], self.bits, mask.sum()).astype(np.int32) ^ half) + half',
        NUMBERS,
        "test_a_grid_has_the_scales",
    ),
    Fault(
        "pruning: the schedule is a square",
        "return last + (first - last) * (1 - done) ** 3",
        "return last + (first - last) * (1 - done) ** 2",
        NUMBERS,
        "test_the_schedule_of_zhu_and_gupta",
    ),
    Fault(
        "pruning: a masked weight learns on",
        'return record("masked", weight.data * mask, [weight], lambda grad, kept: [grad * kept], mask)',
        'return record("masked", weight.data * mask, [weight], lambda grad, kept: [grad], mask)',
        NETWORKS,
        "test_the_gradient_goes_to_what_is_behind_the_weight",
    ),
    Fault(
        "codebook: weights that are zero pull at a value",
        "grad = np.where(self.mask, grad, 0).reshape(-1)",
        "grad = grad.reshape(-1)",
        NETWORKS,
        "test_the_gradient_goes_to_what_is_behind_the_weight",
    ),
    Fault(
        "hashing: signs are left out of the gradient",
        "return np.bincount(self.buckets, flat * self.signs, count)",
        "return np.bincount(self.buckets, flat, count)",
        NETWORKS,
        "test_the_gradient_goes_to_what_is_behind_the_weight",
    ),
    Fault(
        "filters: the bias of a filter that went stays",
        "weight, bias = weight[before], None if bias is None else bias[before]",
        "weight, bias = weight[before], None if bias is None else bias[: len(before)]",
        NETWORKS,
        "test_a_network_without_filters_is_the_one",
    ),
    Fault(
        "folding: the mean is not subtracted",
        "(beta + (before - mean) * factor).astype(dtype)",
        "(beta + before * factor).astype(dtype)",
        NETWORKS,
        "test_folding_is_the_network_in_evaluation_mode",
    ),
    Fault(
        "distillation: gradients shrink with the temperature",
        "slope = ((q - p) * (temperature / len(p))).astype(logits.dtype)",
        "slope = ((q - p) / (temperature * len(p))).astype(logits.dtype)",
        NETWORKS,
        "test_the_divergence_is_zero_for_equal_logits",
    ),
    Fault(
        "LoRA: the factor is not divided by the rank",
        "self.factor = (2 * rank if alpha is None else alpha) / rank",
        "self.factor = 2 * rank if alpha is None else alpha",
        NETWORKS,
        "test_lora_begins_as_the_network",
    ),
]

GROUPS, PROCESSES = (f"tests/workers/test_{name}.py" for name in ("groups", "processes"))
WORKERS = [
    Fault(
        "workers: a direct sum is in another order",
        "combine(part, parts[rank], out=part)",
        "combine(part, parts[-rank % group.size], out=part)",
        GROUPS,
        "test_which_sums_are_those_of_one_worker",
    ),
    Fault(
        "workers: bytes are counted as elements",
        "group.bytes_sent += array.nbytes",
        "group.bytes_sent += array.size",
        GROUPS,
        "test_bytes_of_an_all_reduce",
    ),
    Fault(
        "workers: a message of another operation is taken",
        "if ours != theirs:",
        "if ours is None:",
        GROUPS,
        "test_a_wrong_program_is_told",
    ),
    Fault(
        "workers: a broadcast from another root than 0 goes astray",
        "group.send(array, (relative_rank + step + root) % group.size, what)",
        "group.send(array, (relative_rank + step) % group.size, what)",
        GROUPS,
        "test_all_collectives_on_all_shapes",
    ),
    Fault(
        "workers: the reader of a ring buffer forgets what a part was padded by",
        "self._moved(received, tail + _padded(length), source)",
        "self._moved(received, tail + length, source)",
        PROCESSES,
        "test_the_same_as_over_threads and 2",
    ),
    Fault(
        "workers: a full ring buffer is taken for an empty one",
        "free = head % capacity, capacity - (head - self.words[received])",
        "free = head % capacity, capacity",
        PROCESSES,
        "test_programs_on_four_workers",
    ),
    Fault(
        "workers: a ring stops a step before the last part has gone round",
        "for step in range(group.size - 1):",
        "for step in range(group.size - 2):",
        GROUPS,
        "test_all_collectives_on_all_shapes",
    ),
    Fault(
        "workers: a barrier waits for a neighbour only",
        "        group.exchange(nothing, (group.rank + step) % group.size, (group.rank - step) % group.size, "
        '"barrier")',
        "        group.exchange(nothing, (group.rank + step) % group.size, (group.rank - step) % group.size, "
        '"barrier") if step < 2 else 0',
        GROUPS,
        "test_nobody_leaves_a_barrier",
    ),
    Fault(
        "workers: an all-reduce takes the messages of one that failed",
        "if self._failed:",
        "if False:",
        GROUPS,
        "aside_raises_unheard or goes_on_after",
    ),
    Fault(
        "workers: the index of a checkpoint does not wait for all files",
        "group.barrier()  # all files are on the disk",
        "pass  # all files are on the disk",
        "tests/workers/test_sharded_checkpoints.py",
        "test_the_index_comes_after",
    ),
    Fault(
        "workers: a bucket is sent when backward has ended",
        "and not self._missing[len(self._running)]:",
        "and not any(self._missing):",
        "tests/workers/test_data_parallel.py",
        "test_a_bucket_is_on_its_way",
    ),
    Fault(
        "workers: ZeRO cuts the weights first",
        "parts[2 - k] /= workers",
        "parts[k] /= workers",
        "tests/workers/test_zero.py",
        "test_the_papers_table",
    ),
    Fault(
        "workers: a bias is added by each part of a layer",
        "self.bias = linear.bias and Parameter(linear.bias.data.copy()) if group.rank == 0 else None",
        "self.bias = linear.bias and Parameter(linear.bias.data.copy())",
        "tests/workers/test_tensor_parallel.py",
        "test_column_then_row_is_the_pair and 5-False",
    ),
    Fault(
        "workers: gradients of keys stay a turn before home",
        "return [of_q, *self.turn(of_k, of_v)]",
        "return [of_q, of_k, of_v]",
        "tests/workers/test_context.py",
        "test_attention_over_the_whole_sequence and 8-False-False",
    ),
    Fault(
        "workers: 1F1B goes one forward pass ahead too far",
        "warmup = min(workers - 1 - s, microbatches)",
        "warmup = min(workers - s, microbatches)",
        "tests/workers/test_pipeline_schedules.py",
        "test_activations",
    ),
    Fault(
        "workers: interleaved chunks come back in the order in which they went",
        'chunk = chunk if kind == "F" else chunks - 1 - chunk',
        "chunk = chunk",
        "tests/workers/test_pipeline_schedules.py",
        "test_all_passes or divide_the_bubble",
    ),
    Fault(
        "workers: choices of experts are another token's",
        "token = np.tile(np.arange(len(chosen)), self.top_k)",
        "token = np.repeat(np.arange(len(chosen)), self.top_k)",
        "tests/workers/test_experts.py",
        "test_one_worker_by_definition",
    ),
    Fault(
        "workers: an expert takes one token too many",
        "taken = number < self.capacity(len(chosen))",
        "taken = number <= self.capacity(len(chosen))",
        "tests/workers/test_experts.py",
        "test_capacity_drops",
    ),
    Fault(
        "workers: tokens go to the workers of other experts",
        "owners = [range(self.number)[part] for part in _parts(self.number, n)]",
        "owners = [range(self.number)[part] for part in _parts(self.number, n)[::-1]]",
        "tests/workers/test_experts.py",
        "test_the_layer_of_one_worker",
    ),
    Fault(
        "workers: staleness counts the worker's own steps",
        "stale = self.version - version",
        "stale = self.clocks[worker] - version",
        "tests/workers/test_staleness.py",
        "test_the_bound",
    ),
    Fault(
        "workers: a worker may be one step further ahead",
        "self.clocks[worker] - min(self.clocks) <= self.bound",
        "self.clocks[worker] - min(self.clocks) <= self.bound + 1",
        "tests/workers/test_staleness.py",
        "test_the_bound or test_bound_0",
    ),
    Fault(
        "workers: an outer optimizer steps away from the average",
        "self.anchor.grad = self.anchor.data - mean",
        "self.anchor.grad = mean - self.anchor.data",
        "tests/workers/test_staleness.py",
        "test_an_outer_optimizer",
    ),
    Fault(
        "simulate: a ring sends whole arrays",
        "return 2 * (n - 1) * link.seconds(nbytes / n) if n > 1 else 0.0",
        "return 2 * (n - 1) * link.seconds(nbytes) if n > 1 else 0.0",
        "tests/workers/test_simulate.py",
        "test_a_ring",
    ),
    Fault(
        "simulate: the backward pass costs as much as the forward pass",
        "compute = 2 * matrices + (2.5 if grid.flash else 2) * core + 2 * around",
        "compute = matrices + (2.5 if grid.flash else 2) * core + 2 * around",
        "tests/workers/test_simulate_steps.py",
        "published",
    ),
    Fault(
        "simulate: weights in float32 are forgotten",
        "held(12, grid.zero >= 1)",
        "held(8, grid.zero >= 1)",
        "tests/workers/test_simulate_steps.py",
        "test_zero_shares",
    ),
]

FUSION = "tests/training/test_fusion.py"
TUNED = [
    Fault(
        "tune: the last trial exceeds the budget",
        "if spent + effort > budget + EPSILON:",
        "if spent > budget + EPSILON:",
        "tests/tune/test_space_and_search.py",
        "test_a_search_keeps_its_budget",
    ),
    Fault(
        "tune: expected improvement forgets the tail",
        "return deviation * (z * norm.cdf(z) + norm.pdf(z))",
        "return deviation * z * norm.cdf(z)",
        "tests/tune/test_space_and_search.py",
        "test_expected_improvement",
    ),
    Fault(
        "tune: halving keeps the slower half",
        "runners = sorted(runners, key=scores.get)[: max(1, len(runners) // eta)]",
        "runners = sorted(runners, key=scores.get)[-max(1, len(runners) // eta) :]",
        "tests/tune/test_space_and_search.py",
        "test_successive_halving or finds_it_sooner",
    ),
    Fault(
        "tune: a model is fitted to the scores of what failed",
        "seen = np.log(np.minimum(found, runs.max()))",
        "seen = np.log(found)",
        "tests/tune/test_space_and_search.py",
        "test_failures_stop",
    ),
    Fault(
        "tune: a cost model reads each result once",
        "results = tiles * rows * vectors * (2 * blocks - 1)",
        "results = tiles * rows * vectors * blocks",
        "tests/tune/test_examples.py",
        "test_counts or test_padding",
    ),
    Fault(
        "tune: a tile on the right reads beyond its matrix",
        "inside = front + p < k and left + j < n",
        "inside = front + p < k",
        "tests/tune/test_examples.py",
        "test_the_gpu_kernel_is_right",
    ),
    Fault(
        "tune: a configuration is judged by the samples that it was chosen by",
        "samples[:, ::2], samples[:, 1::2].min(axis=1)",
        "samples[:, ::2], samples[:, ::2].min(axis=1)",
        "tests/tune/test_replay_and_models.py",
        "test_what_a_configuration_is_worth",
    ),
    Fault(
        "tune: prices of a fitted model are of scaled counts",
        "return prices / scale",
        "return prices",
        "tests/tune/test_replay_and_models.py",
        "test_prices",
    ),
    Fault(
        "tune: a score is carried on the wrong way round",
        'score = self.score / measured.ratio("best", "this").ratio',
        'score = self.score * measured.ratio("best", "this").ratio',
        "tests/tune/test_timed.py",
        "test_scores_compare",
    ),
    Fault(
        "fusion: what is kept is written, and never read",
        "return inputs + 2 * sum(size[k] for k in keep)",
        "return inputs + sum(size[k] for k in keep)",
        FUSION,
        "test_backward_keeps",
    ),
    Fault(
        "fusion: sums count as whole results",
        "written = [(form, self.steps[k].dtype) for k, form in self.outputs]",
        'written = [("full", self.steps[k].dtype) for k, form in self.outputs]',
        FUSION,
        "test_the_formula_for_bytes",
    ),
    Fault(
        "fusion: the gradient of a difference has one sign",
        '(step.inputs[1], put("mul", (grad, minus)))',
        "(step.inputs[1], grad)",
        FUSION,
        "test_random_chains",
    ),
    Fault(
        "fusion: a gradient goes to what stands for a tensor",
        "x = x.wait()  # a leaf of a fused function",
        "x = x  # a leaf of a fused function",
        FUSION,
        "product_with_what",
    ),
    Fault(
        "fusion: a warp's last exchange is missing",
        "for step in (16, 8, 4, 2, 1)\n                    for n",
        "for step in (16, 8, 4, 2)\n                    for n",
        FUSION,
        "test_random_chains_on_the_executor",
    ),
]

OPENCL_HOST, TRANSLATED, DIGITS, SUB_GROUPS = (
    f"tests/opencl/test_{name}.py" for name in ("host", "translate", "digits", "sub_groups")
)
OPENCL = [  # most are noticed only where a device is: make opencl
    Fault(
        "opencl: the last of equal pixels gets the gradient",
        "if (plane[y * width + x] > plane[best]) best",
        "if (plane[y * width + x] >= plane[best]) best",
        DIGITS,
        "largest_of_windows",
    ),
    Fault(
        "opencl: a weight's gradient steps by inputs, not outputs",
        "plane = (size_t)picture * outs + channel;",
        "plane = (size_t)picture * ins + channel;",
        DIGITS,
        "any_convolution",
    ),
    Fault(
        "opencl: the sum of a sub-group is left out",
        "for (int k = 1; k < get_num_sub_groups(); k++)",
        "for (int k = 2; k < get_num_sub_groups(); k++)",
        SUB_GROUPS,
        "in_the_executor",
    ),
    Fault(
        "opencl: sub-groups are used where there are none",
        '"sum_sub_groups.cl" if device().has_sub_groups else "sum.cl"',
        '"sum.cl" if device().has_sub_groups else "sum_sub_groups.cl"',
        SUB_GROUPS,
        "takes_the_tree",
    ),
    Fault(
        "opencl: an NDRange that does not divide is launched",
        "if rounded != work_items:",
        "if rounded < work_items:",
        OPENCL_HOST,
        "wrong_launches",
    ),
    Fault(
        "opencl translator: a ulong is joined to a long",
        "return have.bitwidth == kind.bitwidth and not kind.signed",
        "return have.bitwidth == kind.bitwidth",
        TRANSLATED,
        "any_two_types",
    ),
    Fault(
        "opencl translator: a choice between ints is taken for a long",
        "made = None if made == kind else made",
        "made = None",
        TRANSLATED,
        "any_two_types",
    ),
    Fault(
        "opencl reader: sub-groups of a work-group are rounded down",
        "ast.BinOp(ast.BinOp(_group_size(), ast.Add(), ast.Constant(31)), ast.FloorDiv(), ast.Constant(32)),",
        "ast.BinOp(ast.BinOp(_group_size(), ast.Add(), ast.Constant(0)), ast.FloorDiv(), ast.Constant(32)),",
        SUB_GROUPS,
        "ragged_work_group",
    ),
]

FAULTS = [*KERNELS, *EXECUTOR, *COMPILED, *XRAY, *LAB, *COURSEWORK, *SMALLER, *WORKERS, *TUNED, *OPENCL]

# ---- planting them --------------------------------------------------------------------------------------------------


def texts_of(lib):
    """{file: text} of a library, its kernels in OpenCL C included."""
    return {path: path.read_text("utf-8") for path in sorted([*lib.rglob("*.py"), *lib.rglob("*.cl")])}


def find(fault, texts):
    """The file of a library with these texts in which a fault is planted; LookupError unless its text occurs there
    once."""
    found = [path for path, text in texts.items() for _ in range(text.count(fault.old))]
    if len(found) != 1:
        raise LookupError(f"the text occurs {len(found)} times")
    return found[0]


def in_copy(copy, work, limit=LIMIT):
    """(exit code of `work()`, what it printed), called in a new process whose library is the copy's; None for the code
    if it took longer than `limit` seconds.

    A fork of this process, which has imported numba and pytest once for all. What it compiles is kept beside the copy.
    """
    output = copy / "output.txt"
    process = os.fork()
    if process == 0:
        os.setsid()
        with open(output, "w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(copy)
        # For hypothesis, CI means the same examples in every run.
        os.environ |= {"PYTHONPATH": str(copy / "lib"), "NUMBA_CACHE_DIR": f"{copy}.numba", "CI": "1"}
        numba.core.config.reload_config()
        sys.path[0] = str(copy / "lib")
        code = CRASHED
        try:
            code = int(work())
        finally:
            sys.stdout.flush()
            os._exit(code)
    code, end = None, time.monotonic() + limit
    while code is None and time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else None
        time.sleep(0.05)
    if code is None:
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return code, output.read_text("utf-8", "replace")


def run_tests(copy, file, tests, before=lambda: None, limit=LIMIT):
    """As in_copy, of the tests; `before()` is called first."""
    arguments = [file, "-k", tests, "-x", "-q", *(f"-pno:{name}" for name in PLUGINS)]
    return in_copy(copy, lambda: before() or pytest.main(arguments), limit)


def take_compiled(clean, reached):
    """Of modules that a fault does not reach, take the code that was compiled without it (or most of the time would go
    into compiling); what is compiled with it is not kept."""
    from dlkernels.simd import cache

    faulty, cache.LIBRARY = cache.library_stamp(), clean / "lib" / "dlkernels"
    without, begin = cache.library_stamp.__wrapped__(), cache._Cache.__init__

    def begun(self, function, holds):
        cache.library_stamp = lambda: faulty if function.__module__ in reached else without
        begin(self, function, holds)

    cache._Cache.__init__, cache._Cache.save_overload = begun, lambda *_: None


def check_imports(copy):
    """Stop unless the packages that tests import are the copy's."""

    def imported_from_elsewhere():
        names = [path.parent.name for path in (copy / "lib").glob("*/__init__.py")]
        return not all(importlib.import_module(name).__file__.startswith(str(copy)) for name in names)

    code, output = in_copy(copy, imported_from_elsewhere)
    if code:
        sys.exit(f"The copy's packages are not imported:\n{output}")


def modules_reached(copy, root):
    """{file of the library: the modules that use it, by themselves or by others, and its own}."""

    def tell():
        sys.path.insert(1, str(root / "tests"))
        from uses import Uses

        uses = Uses()
        names = {file: name for name, file in uses.modules.items()}
        print(json.dumps({file: [names[one] for one in uses.reached_from(file) if one in names] for file in names}))
        return 0

    code, output = in_copy(copy, tell)
    return json.loads(output) if code == 0 else sys.exit(f"Who uses which file is not found out:\n{output}")


def check_unchanged(copy, file, faults):
    """Stop unless the tests in a file pass where there is no fault."""
    tests = " or ".join(dict.fromkeys(f"({fault.tests})" for fault in faults))
    code, output = run_tests(copy, file, tests, limit=LIMIT_WITHOUT)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"Without any fault, tests in {file} {'hang' if code is None else 'fail'}:\n{output[-3000:]}")


def plant(copy, fault, clean, place):
    """Put the fault into the file at `place` in lib/ of a new copy."""
    shutil.rmtree(copy)
    shutil.copytree(clean, copy)
    text = (clean / "lib" / place).read_text("utf-8")
    (copy / "lib" / place).write_text(text.replace(fault.old, fault.new), "utf-8")


def noticed_by(copy, fault, clean, reached):
    """(whether a planted fault is noticed, by which test)."""
    code, output = run_tests(copy, fault.file, fault.tests, lambda: take_compiled(clean, reached))
    if code not in (None, pytest.ExitCode.TESTS_FAILED):  # code from without the fault need not fit, or notice
        code, output = run_tests(copy, fault.file, fault.tests)
    if code is None:
        return True, "a hang"
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        return False, "MISSED: no such test"
    if code == pytest.ExitCode.OK:
        return False, "MISSED"
    named = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    return True, named[1].removeprefix("tests/") if named else "a crash"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="words of the faults' names (default: all)")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1], help="the checkout (default: this one)")
    parser.add_argument("--python", type=Path, help="default: that of the checkout's .venv, else this one")
    wish = parser.parse_args()
    root = wish.root.resolve()
    own = wish.python or root / ".venv" / "bin" / "python"
    if own != Path(sys.executable) and own.exists():
        os.execv(own, [str(own), __file__, "--root", str(root), "--python", str(own), *wish.names])
    here = {"", *(name for name, found in llvmlite.binding.get_host_cpu_features().items() if found)}
    faults = [f for f in FAULTS if f.needs in here and (not wish.names or any(name in f.name for name in wish.names))]
    begun, noticed = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        clean, copy = Path(folder, "clean"), Path(folder, "copy")
        shutil.copytree(root, clean, ignore=LEFT_OUT)
        shutil.copytree(clean, copy)
        check_imports(copy)
        reached, texts = modules_reached(copy, root), texts_of(clean / "lib")
        for file in dict.fromkeys(fault.file for fault in faults):
            start, of_file = time.monotonic(), [fault for fault in faults if fault.file == file]
            shutil.rmtree(copy)
            shutil.copytree(clean, copy)
            check_unchanged(copy, file, of_file)
            print(f"{file}: without a fault its tests pass ({time.monotonic() - start:.0f} s)", flush=True)
            for fault in of_file:
                start, place, is_noticed = time.monotonic(), "", False
                try:
                    place = find(fault, texts).relative_to(clean / "lib")
                except LookupError as error:
                    verdict = f"NOT PLANTED: {error}"
                else:
                    plant(copy, fault, clean, place)
                    is_noticed, verdict = noticed_by(copy, fault, clean, reached.get(f"lib/{place}", ()))
                noticed += is_noticed
                print(f"{fault.name:<75} {place!s:<32} {time.monotonic() - start:4.0f} s  {verdict}", flush=True)
    print(f"{noticed} of {len(faults)} noticed, {time.monotonic() - begun:.0f} s")
    sys.exit(noticed < len(faults))


if __name__ == "__main__":
    main()
