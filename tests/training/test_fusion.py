"""Fusion: random chains against NumPy in float64, against the operations one by one, and against differences; what is
moved is counted; and the same on a GPU's engines."""

import math
import operator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dlkernels
from dlkernels import cuda
from dlkernels.layers.reference import dropout as reference_dropout
from dlkernels.vector import PARAMETERS, reference
from simt.xray import available, compiled, xray
from training import Tensor, autocast, checkpoint, fusion, modules, no_grad
from training import functional as F
from training.fusion import generate, run

SHAPES = [(), (1,), (5,), (0, 3), (3, 0), (1, 1), (4, 7), (2, 3, 5), (3, 33), (65, 2)]
UNARY = [*PARAMETERS, "scale", "shift", "from", "negative", "dropout", "bias_activation"]
BINARY = ["add", "sub", "mul"]


# ---- chains ----------------------------------------------------------------------------------------------------------


@st.composite
def chains(draw, most=8, shapes=SHAPES):
    """(links, whether to sum up the last dimension, shape, seed). A link: (operation, number, which tensor is
    second)."""
    shape = draw(st.sampled_from(shapes))
    second = ["full", "again", "before"] + (["row", "column"] if len(shape) > 1 else [])
    links = draw(
        st.lists(
            st.tuples(st.sampled_from(UNARY + 2 * BINARY), st.floats(-1.5, 1.5, width=32), st.sampled_from(second)),
            min_size=1,
            max_size=most,
        )
    )
    return links, bool(shape) and draw(st.booleans()), shape, draw(st.integers(0, 99))


def leaves_of(links, shape, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    forms = {"full": shape, "again": shape, "row": shape[-1:], "column": (*shape[:-1], 1)}
    kinds = ["again", *(kind for op, _, kind in links if op in BINARY and kind not in ("again", "before"))]
    kinds += ["row"] if any(op == "bias_activation" for op, _, _ in links) else []
    return {kind: rng.standard_normal(forms[kind]).astype(dtype) for kind in kinds}


def chain(links, total):
    """The chain as a function of tensors, as a user writes it."""

    def function(**leaves):
        value = before = leaves["again"]
        for number, (op, x, kind) in enumerate(links):
            old = value
            if op in BINARY:
                other = before if kind == "before" else leaves[kind]
                value = getattr(operator, op)(value, other)
            elif op == "scale":
                value = value * x
            elif op == "shift":
                value = value + x
            elif op == "from":
                value = x - value
            elif op == "negative":
                value = -value
            elif op == "dropout":
                value = F.dropout(value, abs(x) / 3, seed=number, offset=number)
            elif op == "bias_activation":
                value = F.bias_activation(value, leaves["row"], "gelu") if len(value.shape) > 1 else F.silu(value)
            else:
                value = getattr(F, op)(value)
            before = old
        return value.sum(-1) if total else value

    return function


def by_numpy(links, total, leaves):
    value = before = leaves["again"]
    for number, (op, x, kind) in enumerate(links):
        old = value
        if op in BINARY:
            other = before if kind == "before" else leaves[kind]
            value = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op](value, other)
        elif op == "dropout":
            value = reference_dropout(value, abs(x) / 3, True, number, number)
        elif op == "bias_activation":
            value = reference.gelu(value + leaves["row"]) if value.ndim > 1 else reference.silu(value)
        elif op in PARAMETERS:
            value = getattr(reference, op)(value)
        else:
            value = {"scale": value * x, "shift": value + x, "from": x - value, "negative": -value}[op]
        before = old
    return np.asarray(value.sum(-1) if total else value)


def tensors(leaves, dtype=np.float64, put=np.asarray):
    return {kind: Tensor(put(x.astype(dtype)), requires_grad=True) for kind, x in leaves.items()}


def gradients(function, leaves, weight, **how):
    """(the result, {kind: gradient}) of a fused function."""
    result = fusion.fused(function, **how)(**leaves)
    if result.requires_grad:
        result.backward(weight.astype(result.dtype) if isinstance(weight, np.ndarray) else weight)
    zeros = {k: np.zeros(x.shape, x.dtype) for k, x in leaves.items()}
    return result.numpy(), {
        k: zeros[k] if x.grad is None else np.asarray(Tensor(x.grad).numpy()) for k, x in leaves.items()
    }


@contextmanager
def interpreted():
    """Generated loops run in Python: nothing is compiled, and each has the very statements that are compiled else."""

    def loop(program):
        names = run._on_cpu()
        part = run._made(generate.loop(program), "part", names | {"word": None})

        def whole(arguments, tasks, threads, least, members):
            for task in range(tasks):
                part(arguments, task, 0)

        return whole

    before, run.compiled_loop = run.compiled_loop, loop
    try:
        yield
    finally:
        run.compiled_loop = before


def scale(x):
    return max(1.0, float(np.abs(x).max(initial=0)))


@given(chains())
@settings(max_examples=40, deadline=None, derandomize=True)
@interpreted()
def test_random_chains(case):
    """The result against NumPy; against its operations one by one, to the bit; gradients against differences."""
    links, total, shape, seed = case
    leaves, function = leaves_of(links, shape, seed), chain(links, total)
    expected = by_numpy(links, total, leaves)
    weight = np.random.default_rng(seed + 1).standard_normal(expected.shape)
    got, found = gradients(function, tensors(leaves), weight)
    one, ones = gradients(function, tensors(leaves), weight, most=1)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * scale(expected))
    assert total or np.array_equal(got, one)
    rng, h = np.random.default_rng(seed + 2), 1e-6
    for kind in leaves:
        np.testing.assert_allclose(found[kind], ones[kind], rtol=1e-9, atol=1e-9 * scale(found[kind]))
        way = rng.standard_normal(leaves[kind].shape)
        ends = [(weight * by_numpy(links, total, leaves | {kind: leaves[kind] + s * h * way})).sum() for s in (1, -1)]
        slope, size = (ends[0] - ends[1]) / (2 * h), scale(found[kind]) * scale(ends[0])
        assert abs(slope - (found[kind] * way).sum()) <= 2e-5 * size * max(1, math.prod(leaves[kind].shape))


# ---- compiled --------------------------------------------------------------------------------------------------------


def tail(x, bias, residual):
    return F.dropout(F.gelu(x + bias), 0.1, seed=7, offset=3) + residual


def torso(x, bias, residual):
    return F.gelu(x + bias) + residual


def three(rows=37, columns=100, put=np.asarray, grad=True):
    rng = np.random.default_rng(0)
    arrays = (rng.standard_normal(s).astype(np.float32) for s in ((rows, columns), (columns,), (rows, columns)))
    return [Tensor(put(x), requires_grad=grad) for x in arrays]


@pytest.mark.parametrize(("rows", "columns"), [(37, 100), (600, 129), (3, 5000)])
def test_a_compiled_chain_has_the_bits_of_the_librarys_operations(rows, columns):
    x, bias, residual = three(rows, columns)
    with fusion.launches() as made:
        got = fusion.fused(tail)(x, bias, residual)
        got.backward(np.ones(got.shape, np.float32))
    total = x.data + bias.data
    assert np.array_equal(got.data, dlkernels.dropout(dlkernels.gelu(total), 0.1, True, 7, 3) + residual.data)
    grad = dlkernels.dropout_backward(np.ones_like(total), 0.1, True, 7, 3)
    of_x = dlkernels.gelu_backward(grad, total)
    assert np.array_equal(x.grad, of_x)
    np.testing.assert_allclose(bias.grad, of_x.sum(0, np.float64), rtol=1e-5, atol=1e-5 * rows**0.5)
    assert np.array_equal(residual.grad, np.ones_like(total))
    assert [str(one) for one in made] == ["add gelu dropout add", "add dropout gelu_backward"]


def test_a_compiled_sum_of_rows_and_a_cast():
    rng = np.random.default_rng(3)
    x, y = (Tensor(rng.standard_normal((70, 4099)).astype(np.float32), requires_grad=True) for _ in range(2))
    got = fusion.fused(lambda x, y: (fusion.cast(x * y, "float64") * 0.5).sum(-1))(x, y)
    got.backward(np.arange(70.0))
    expected = 0.5 * (x.data * y.data).astype(np.float64)
    np.testing.assert_allclose(got.data, expected.sum(-1), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(x.grad, 0.5 * np.arange(70)[:, None] * y.data, rtol=1e-6)


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    x, bias, residual = three(900, 128)
    found = []
    for threads in (1, 2):
        monkeypatch.setattr(run.team, "size", lambda threads=threads: threads)
        found.append(
            gradients(lambda **k: tail(**k), {"x": x, "bias": bias, "residual": residual}, np.ones((900, 128)))
        )
        x.grad = bias.grad = residual.grad = None
    for kind in ("x", "bias"):
        assert np.array_equal(found[0][1][kind], found[1][1][kind])


def test_one_kernel_is_kept_for_all_numbers_and_shapes():
    x, _, residual = three()
    scaled = fusion.fused(lambda x, by: F.leaky_relu(x * by) - x)
    scaled(x, 0.5)
    before = run.compiled_loop.cache_info().misses
    for by in (0.25, 4.0):
        got = scaled(residual, by).data
        assert np.array_equal(got, dlkernels.leaky_relu(residual.data * np.float32(by)) - residual.data)
    assert run.compiled_loop.cache_info().misses == before


# ---- bytes -----------------------------------------------------------------------------------------------------------


class Counted:
    """An array that remembers which of its elements were read or written."""

    def __init__(self, array, base=0, seen=None):
        self.array, self.base, self.seen = array, base, set() if seen is None else seen

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Counted(self.array[index], self.base + index.indices(len(self.array))[0], self.seen)
        self.seen.add(self.base + int(index))
        return self.array[index]

    def __setitem__(self, index, value):
        self.array[index] = value
        if not isinstance(index, slice):
            self.seen.add(self.base + int(index))


@given(chains(most=5))
@settings(max_examples=20, deadline=None, derandomize=True)
@interpreted()
def test_the_formula_for_bytes_is_what_the_loop_touches(case):
    links, total, shape, seed = case
    leaves = leaves_of(links, shape, seed)
    with fusion.launches() as made:
        gradients(chain(links, total), tensors(leaves), np.ones(by_numpy(links, total, leaves).shape))
    for one in made:
        program, size = one.program, one.rows * one.columns
        rows, columns, step, tasks = run.cut(program, one.rows, one.columns)
        assert tasks == 1
        lengths = {"full": size, "row": one.columns, "column": one.rows}
        given, arrays = [], []
        for s in program.steps:
            if s.op == "input":
                arrays.append(Counted(np.ones(lengths[s.form], s.dtype)))
                given.append(arrays[-1])
            elif s.op == "number":
                given.append(np.dtype(s.dtype).type(1))
        for k, form in program.outputs:
            arrays.append(Counted(np.ones(lengths[form], program.steps[k].dtype)))
            given.append(arrays[-1])
        run._made(generate.loop(program), "part", run._on_cpu())((*given, rows, columns, size, step), 0, 0)
        assert sum(len(x.seen) * x.array.itemsize for x in arrays) == one.bytes


def test_a_gpu_kernel_moves_what_the_formula_says():
    """By the x-ray; a bias is read once by each row of threads, as they are in different warps."""
    made = on_gpu(tail, three(16, 32, cuda.to_device))
    sizes = [xray(one.kernel, one.grid, one.block)(*one.arguments).total["bytes_moved"] for one in made]
    extra = 15 * 32 * 4
    assert sizes == [made[0].bytes + extra, made[1].bytes + 2 * extra]  # backward: the sums for the bias, too
    alone = [run.Launch(one, 16, 32, "gpu").bytes for one in fusion.alone(made[0].program)]
    assert len(alone) == 4
    assert sum(alone) > 2 * made[0].bytes


@interpreted()
def test_backward_keeps_what_costs_fewer_bytes_than_reading_the_inputs_again():
    def sum_of_four(a, b, c, d):
        return F.gelu(a + b + c + d) * 2.0

    def sum_of_two(a, b):
        return F.gelu(a + b)

    def product(a, b):
        return F.gelu(a * b)

    def rectified(a, b, c):
        return F.relu(a + b + c)

    rng = np.random.default_rng(0)
    read = {}
    for function, inputs in ((sum_of_four, 4), (sum_of_two, 2), (product, 2), (rectified, 3)):
        given = [Tensor(rng.standard_normal((8, 16)).astype(np.float32), requires_grad=True) for _ in range(inputs)]
        with fusion.launches() as made:
            fusion.fused(function)(*given).backward(np.ones((8, 16), np.float32))
        read[function.__name__] = [one.bytes // (8 * 16 * 4) for one in made]
    # forward reads 4 and writes 2 (the sum is kept); backward reads grad and the sum, and writes one gradient for all
    assert read["sum_of_four"] == [6, 3]
    assert read["sum_of_two"] == [3, 4]  # to write the sum and read it again costs as much: it takes no memory
    assert read["product"] == [3, 5]
    assert read["rectified"] == [4, 3]  # its result says where it was positive


@interpreted()
def test_every_choice_of_what_is_kept_has_the_same_gradients():
    steps = ("full", "full", "full")
    x, y, z = (np.random.default_rng(k).standard_normal((4, 6)) for k in range(3))
    S = fusion.Step
    base = [S("input", (), "float64"), S("input", (), "float64"), S("input", (), "float64"), S("number", (), "float64")]
    base += [S("mul", (0, 1), "float64"), S("tanh", (4, 3), "float64"), S("mul", (5, 2), "float64")]
    program = fusion.Program(tuple(base), ((6, "full"),))
    values = [x, y, z, 0.0]
    grads = []
    for kept in ((), (4,), (5,), (4, 5)):
        back = fusion.backward_of(program, (0, 1, 2), kept)
        also = fusion.Program(program.steps, (*program.outputs, *((k, "full") for k in back.kept)))
        result, *held = run.run(also, values, (4, 6))
        there = (
            dict(zip((0, 1, 2, 3), values, strict=True)) | dict(zip(back.kept, held, strict=True)) | {6: result, -1: x}
        )
        found = run.run(back.program, [there[k] for k in back.leaves], (4, 6))
        grads.append([found[back.outputs[k]] for k in range(len(steps))])
    for other in grads[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(grads[0], other, strict=True))


# ---- GPU -------------------------------------------------------------------------------------------------------------


def on_gpu(function, given):
    with fusion.launches() as made:
        result = fusion.fused(function)(*given)
        result.backward(cuda.to_device(np.ones(result.shape, result.dtype)))
    return made


@given(chains(most=4, shapes=[(1,), (5,), (0, 3), (1, 1), (3, 4), (2, 2, 3)]))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_random_chains_on_the_executor(case):
    links, total, shape, seed = case
    leaves, function = leaves_of(links, shape, seed), chain(links, total)
    expected = by_numpy(links, total, leaves)
    weight = np.ones(expected.shape)
    with cuda.engine("executor"):
        got, found = gradients(function, tensors(leaves, put=cuda.to_device), cuda.to_device(weight))
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * scale(expected))
    h, rng = 1e-6, np.random.default_rng(seed + 2)
    for kind in leaves:
        way = rng.standard_normal(leaves[kind].shape)
        ends = [by_numpy(links, total, leaves | {kind: leaves[kind] + s * h * way}).sum() for s in (1, -1)]
        slope, size = (ends[0] - ends[1]) / (2 * h), scale(found[kind]) * scale(ends[0])
        assert abs(slope - (found[kind] * way).sum()) <= 2e-5 * size * max(1, math.prod(leaves[kind].shape))


@pytest.mark.parametrize("engine", ["executor", pytest.param("compiled", marks=pytest.mark.slow)])
def test_both_engines_find_what_the_cpu_finds(engine):
    given, drop = three(9, 40), engine == "executor"

    @fusion.fused
    def fused(x, bias, residual):
        return ((tail if drop else torso)(x, bias, residual) * bias).sum(-1)

    with interpreted():
        fused(*given).backward(np.ones(9, np.float32))
    with cuda.engine(engine):
        there = three(9, 40, cuda.to_device)
        fused(*there).backward(cuda.to_device(np.ones(9, np.float32)))
    for a, b in zip(given, there, strict=True):
        np.testing.assert_allclose(b.grad.copy_to_host(), a.grad, rtol=1e-4, atol=1e-5)


def test_kernels_compile_for_a_gpu():
    if not available():
        pytest.skip("the compiler for GPUs is not installed")
    for one in on_gpu(lambda x, b, r: (tail(x, b, r) * b).sum(-1), three(4, 8, cuda.to_device)):
        kinds = ", ".join(
            f"{x.dtype}[::1]" if getattr(x, "ndim", 0) else np.asarray(x).dtype.name for x in one.arguments
        )
        view = compiled(one.kernel, f"void({kinds})", "sm_80")
        assert 0 < view.registers <= 64, one.source
        assert not view.spills, one.source


# ---- inside a network ------------------------------------------------------------------------------------------------


def network(seed=0):
    rng = np.random.default_rng(seed)
    return modules.Sequential(
        modules.Linear(12, 20, generator=rng),
        modules.GELU(),
        modules.Dropout(0.2, generator=rng),
        modules.Linear(20, 3, generator=rng),
    )


def step(call, model):
    x = np.random.default_rng(5).standard_normal((6, 12)).astype(np.float32)
    call(Tensor(x)).sum().backward()
    return [p.grad for p in model.parameters()]


@pytest.mark.parametrize("around", [lambda f: f, lambda f: lambda x: checkpoint(f, x)], ids=["plain", "checkpoint"])
def test_a_whole_module_is_fused_and_learns_the_same(around):
    plain, model = network(), network()
    expected = step(plain, plain)
    with fusion.launches() as made:
        found = step(around(fusion.fused(model)), model)
    assert {str(one) for one in made} == {"gelu dropout", "dropout gelu_backward"}
    assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))


def test_without_gradients_nothing_is_on_the_tape():
    x, bias, residual = three()
    with no_grad():
        assert not fusion.fused(tail)(x, bias, residual).requires_grad
    assert not fusion.fused(tail)(*three(grad=False)).requires_grad


@interpreted()
def test_a_value_that_is_used_twice_is_computed_once():
    x = Tensor(np.ones((4, 4), np.float32), requires_grad=True)
    with fusion.launches() as made:
        got = fusion.fused(lambda x: (lambda t: t * t + t)(F.tanh(x)))(x)
        got.backward(np.ones((4, 4), np.float32))
    assert str(made[0]) == "tanh mul add"
    t = np.tanh(1.0)
    np.testing.assert_allclose(x.grad, (2 * t + 1) * (1 - t * t), rtol=1e-5)


@interpreted()
def test_a_product_with_what_the_function_was_given():
    """Its gradient goes to the tensor that was given, not to what stands for it inside."""

    def layer(x, weight):
        return F.relu(F.matmul(F.gelu(x * 2.0), weight) + 1.0)

    rng, found = np.random.default_rng(0), []
    arrays = rng.standard_normal((3, 4)).astype(np.float32), rng.standard_normal((4, 5)).astype(np.float32)
    for function in (layer, fusion.fused(layer)):
        x, weight = (Tensor(array, requires_grad=True) for array in arrays)
        function(x, weight).sum().backward()
        found.append((x.grad, weight.grad))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_what_cannot_be_fused_runs_as_ever():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    half = fusion.fused(lambda x: F.softmax(F.relu(x) * 2.0) + 1.0)(x)
    assert np.array_equal(half.data, dlkernels.softmax(dlkernels.relu(x.data) * np.float32(2)) + np.float32(1))
    with autocast(network()), fusion.launches() as made:
        fusion.fused(F.relu)(x)
    assert not made


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda x, b: x + Tensor(np.ones(5, np.float32)), ValueError, "one number for each column"),
        (lambda x, b: x + Tensor(np.ones(3)), ValueError, "one dtype"),
        (lambda x, b: fusion.cast(x, "float16"), TypeError, "float32 or float64"),
    ],
)
def test_errors_say_what_was_expected(call, error, words):
    with pytest.raises(error, match=words):
        fusion.fused(call)(Tensor(np.ones((2, 3), np.float32)), None)
    with pytest.raises(ValueError, match="1 or more"):
        fusion.fused(call, most=0)
