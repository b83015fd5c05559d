"""Embedding and dropout: what test_operations.py cannot know of them. Known answers, sums that repeat, what is
counted."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlkernels
from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.layers import cpu_dropout, gpu_dropout, gpu_embedding, philox, reference
from simt.xray import xray

f32, u64 = np.float32, np.uint64
EXECUTOR = pytest.mark.skipif(device_name != "executor", reason="about what stands in for a GPU")


# ---- random numbers --------------------------------------------------------------------------------------------------

#: counter, key, words: philox4x32-10 in the file kat_vectors of Random123, the authors' library
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


@cuda.jit
def philox_kernel(words, out):
    out[0], out[1], out[2], out[3] = gpu_dropout.philox_of_one(
        words[0], words[1], words[2], words[3], words[4], words[5]
    )


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_known_answers(counter, key, words):
    """Of the specification, in NumPy, compiled for the CPU, in a kernel."""
    counter, key, words = ([int(word, 16) for word in line.split()] for line in (counter, key, words))
    given_words, out = np.array(counter + key, u64), np.zeros(4, u64)
    assert reference.philox4x32([counter], key)[0].tolist() == words
    assert [int(word) for word in philox.philox(*given_words)] == words
    assert list(cpu_dropout.philox_of_one(*given_words)) == words
    philox_kernel[1, 1](given_words, out)
    assert out.tolist() == words


@settings(max_examples=30, deadline=None)
@given(
    size=st.integers(0, 9000),
    cut=st.integers(0, 9000),
    seed=st.integers(0, 2**64 - 1),
    offset=st.integers(0, 2**62),
    p=st.sampled_from((0.0, 0.1, 0.5, 0.9)),
)
def test_parts_of_an_array_are_dropped_as_its_whole(size, cut, seed, offset, p):
    x, cut = np.arange(1, size + 1, dtype=f32), min(cut, size)
    whole = dlkernels.dropout(x, p, True, seed, offset)
    parts = [dlkernels.dropout(x[:cut], p, True, seed, offset), dlkernels.dropout(x[cut:], p, True, seed, offset + cut)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_same_numbers_on_cpu_and_gpu_bit_for_bit():
    x = np.random.default_rng(0).standard_normal(333).astype(f32)
    for seed, offset in ((0, 0), (2**63 + 1, 2**34 - 3), (7, 2)):
        found = {r.name: r(x, 0.3, True, seed, offset).tobytes() for r in implementations.of("dropout")}
        assert len(set(found.values())) == 1, found.keys()


def test_how_many_are_dropped():
    """Within five standard deviations of p n; and twice the same call is twice the same."""
    x = np.ones(1 << 16, f32)
    for p in (0.1, 0.5, 0.75):
        y = dlkernels.dropout(x, p, True, 42)
        assert set(np.unique(y)) == {f32(0), f32(1 / (1 - p))}
        assert abs((y == 0).sum() - p * x.size) < 5 * np.sqrt(p * (1 - p) * x.size)
        np.testing.assert_array_equal(dlkernels.dropout_backward(x, p, True, 42), y)
        assert (dlkernels.dropout(x, p, True, 43) != y).any()
        assert (dlkernels.dropout(x, p, True, 42, x.size) != y).any()


def test_what_a_tape_keeps_of_dropout_is_no_array():
    x = np.arange(12, dtype=f32).reshape(3, 4)
    kept = implementations.keep("dropout", dlkernels.dropout(x, 0.4, True, 9, 5), x, 0.4, True, 9, 5)
    assert kept == {"p": 0.4, "training": True, "seed": 9, "offset": 5}
    found = implementations.gradients("dropout", x, kept)
    np.testing.assert_array_equal(found["input"], dlkernels.dropout(x, 0.4, True, 9, 5))


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"p": 1.5}, ValueError, "p is 1.5; expected a probability, from 0 to 1"),
        ({"p": "half"}, TypeError, "p is a str; expected a number"),
        ({"training": 1}, TypeError, "training is 1; expected True or False"),
        ({"seed": -1}, ValueError, "seed is -1; expected a number from 0 to 18446744073709551615"),
        ({"offset": 0.5}, TypeError, "offset is 0.5; expected a whole number"),
    ],
)
def test_wrong_options_of_dropout_are_told(options, error, says):
    with pytest.raises(error, match=says):
        dlkernels.dropout(np.ones(3, f32), **options)


# ---- embedding -------------------------------------------------------------------------------------------------------

I = np.array([[4, 0, 1], [0, 0, 4]])
W = np.random.default_rng(2).standard_normal((5, 3)).astype(f32)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((I.astype(f32), W), TypeError, "input has dtype float32; expected int64 or int32"),
        ((I + 1, W), ValueError, r"input\[0, 0\] is 5; expected an index from 0 to 4\."),
        ((I - 1, W), ValueError, r"input\[0, 1\] is -1; expected an index from 0 to 4\."),
        ((I, W[0]), ValueError, r"weight has shape \(3,\); expected \(rows, width\)"),
        ((I, W, 5), ValueError, "padding_idx is 5; expected a number from -5 to 4"),
        ((I, W, 0.5), TypeError, "padding_idx is 0.5; expected a whole number, or None"),
        ((cuda.to_device(I), W), ValueError, "input in device memory, but weight in host memory"),
        ((cuda.to_device(I + 1), cuda.to_device(W)), ValueError, r"input\[0, 0\] is 5; expected an index from 0 to 4"),
    ],
)
def test_wrong_arguments_of_embedding_are_told(arguments, error, says):
    with pytest.raises(error, match=says):
        dlkernels.embedding(*arguments)


def test_indices_of_32_bits_are_the_same():
    grad = np.ones((2, 3, 3), f32)
    for place in (np.asarray, cuda.to_device):
        given = place(I.astype(np.int32)), place(W)
        found = dlkernels.embedding(*given), dlkernels.embedding_backward(place(grad), *given)
        found = [x if isinstance(x, np.ndarray) else x.copy_to_host() for x in found]
        np.testing.assert_array_equal(found[0], W[I])
        np.testing.assert_array_equal(found[1], dlkernels.embedding_backward(grad, I, W))


@settings(max_examples=30, deadline=None)
@given(
    positions=st.integers(0, 60),
    rows=st.integers(1, 9),
    width=st.integers(1, 70),
    seed=st.integers(0, 999),
    padding=st.sampled_from((None, 0, -1)),
)
def test_sorted_sums_have_the_bits_of_the_plain_loop(positions, rows, width, seed, padding):
    draw = np.random.default_rng(seed)
    grad, input = draw.standard_normal((positions, width)).astype(f32), draw.integers(0, rows, positions)
    loop, by_sorting = (
        next(r for r in implementations.of("embedding_backward") if r.name == f"embedding_backward_{name}")
        for name in ("rows", "sorted")
    )
    weight = np.zeros((rows, width), f32)
    np.testing.assert_array_equal(
        loop(grad, input, weight, padding), by_sorting(grad, input, weight, padding), strict=True
    )


def test_sorted_sums_repeat_bit_for_bit_on_any_number_of_threads_and_on_a_gpu():
    """65 columns and 3000 indices: several tasks on the CPU; on a GPU, a part of them."""
    draw = np.random.default_rng(4)
    grad, input = draw.standard_normal((3000, 65)).astype(f32), draw.integers(0, 103, 3000)
    weight, before, found = np.zeros((103, 65), f32), numba.get_num_threads(), set()
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found.add(dlkernels.embedding_backward(grad, input, weight, 7).tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(found) == 1
    few = grad[:40, :5].copy(), input[:40] % 7, weight[:7, :5].copy()
    on_gpu = dlkernels.embedding_backward(*map(cuda.to_device, few), 3).copy_to_host()
    np.testing.assert_array_equal(on_gpu, dlkernels.embedding_backward(*few, 3))


def test_keys_of_several_blocks_are_sorted():
    """More keys than a block sorts by itself: with steps in global memory."""
    draw = np.random.default_rng(5)
    keys = draw.permutation(4 * gpu_embedding.KEYS).astype(np.int64)
    there = cuda.to_device(keys)
    gpu_embedding.sort(there)
    np.testing.assert_array_equal(there.copy_to_host(), np.sort(keys))


@EXECUTOR
def test_the_count_that_chooses_the_public_rung():
    """64 indices into 3 rows of 32 numbers: 2048 atomic additions, of which up to 64 meet in one place; sorted, none,
    and each number that arrives is loaded once."""
    positions, rows, width = 64, 3, 32
    input, grad = np.arange(positions) % rows, np.ones((positions, width), f32)
    atomics = xray(gpu_embedding.atomics_kernel, (1, 8), (32, 8))(input, -1, grad, np.zeros((rows, width), f32))
    assert atomics.ok, str(atomics)
    assert atomics.total["atomics"] == positions * width
    keys, out = np.zeros(positions, np.int64), np.zeros((rows, width), f32)
    first = xray(gpu_embedding.keys_kernel, 1, positions)(input, keys)
    sort = xray(gpu_embedding.sort_in_blocks_kernel, 1, positions // 2)(keys, 2, positions)
    sums = xray(gpu_embedding.rows_kernel, (rows, 1), 32)(keys, positions, -1, grad, out)
    for report in (first, sort, sums):
        assert report.ok, str(report)
        assert report.total["atomics"] == 0
    assert sort.total["barriers"] == 1 + sum(range(1, 7))  # log2(64) merges of 1, 2, ... steps
    loads = sum(e.accesses for e in sums.expressions if (e.kind, e.array) == ("load", "grad"))
    assert loads == positions * width
    np.testing.assert_array_equal(out.sum(axis=1) / width, np.bincount(input))
    public = next(r for r in implementations.of("embedding_backward", "gpu") if r.public)
    assert gpu_embedding.rows_kernel in [kernel for kernel, _ in public.kernels]


@EXECUTOR
def test_four_numbers_of_a_block_cost_one_block():
    """Of 128 numbers: loads of 16 bytes are a quarter of the requests."""
    x, out = np.ones(128, f32), np.zeros(128, f32)
    arguments = x, f32(2), u64(1 << 31), u64(5), u64(0), u64(0), 0, out
    requests = {}
    for name, threads in (("one_per_element", 128), ("four_per_thread", 32), ("wide", 32)):
        report = xray(getattr(gpu_dropout, f"{name}_kernel"), 1, threads)(*arguments)
        assert report.ok, str(report)
        found = [(e.requests, e.sectors) for e in report.expressions if (e.kind, e.array) == ("store", "out")]
        requests[name] = tuple(sum(column) for column in zip(*found, strict=True))
    assert requests["one_per_element"] == (4, 16)
    assert requests["four_per_thread"] == (4, 64)  # 32 numbers that lie 4 apart, in 16 sectors, four times
    assert requests["wide"] == (1, 16)
