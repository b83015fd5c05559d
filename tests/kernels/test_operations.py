"""Every operation of the table, from its examples alone: each rung against float64, at all sizes, layouts and values.

There is no operation by name in this file. What only one operation has is tested beside it (test_matmul.py and so on).
"""

import builtins
import contextlib
import inspect
import itertools

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dlkernels
from dlkernels import cuda, implementations
from dlkernels.device import name as device_name
from dlkernels.examples import LAYOUTS, Draw
from simt import Unsupported

from .checks import arrays_of, check, dtypes_for, is_out, mapped, seed_of, takes_out

OPERATIONS = implementations.OPERATIONS
ROWS = implementations.everything()
STAND_IN = 300  # numbers in a size beyond which the executor, one thread after the other, takes too long


def label(row):
    return f"{row.device}-{row.name}"


#: Each day a fourteenth of the rungs for CPUs, and of those for GPUs. Every day test_layouts.py calls the public ones.
IN_TURN = pytest.mark.rotates(by=lambda params: params["row"].device, together=lambda params: label(params["row"]))


def rows(device=None):
    """The rungs as parameters."""
    chosen = [row for row in ROWS if device in (None, row.device)]
    return pytest.mark.parametrize("row", [pytest.param(row, id=label(row), marks=IN_TURN) for row in chosen])


def operations():
    return pytest.mark.parametrize("operation", [pytest.param(o, id=o.name) for o in OPERATIONS.values()])


def shapes_for(row, shapes):
    """The sizes that a rung is to be tried with where it runs."""
    most = min(row.largest or np.inf, STAND_IN if stand_in(row) else np.inf)
    return [shape for shape in shapes if np.prod(shape) <= most]


def stand_in(row):
    """Whether the executor stands in for a GPU: a call takes long."""
    return row.device == "gpu" and device_name != "gpu"


def seeds_for(examples, slow, number, shapes):
    """The seeds for shape `number` of `shapes`: all of them, or, where a call takes long, each for one shape."""
    return range(number, examples.seeds, shapes) if slow and examples.seeds > 1 else range(examples.seeds)


def in_turn(row, choices):
    """[(dtype, choice, whether to try `out`), ...]: everything, or, where a call takes long, one dtype for each choice
    and `out` for every third."""
    dtypes = list(dtypes_for(row))
    if not stand_in(row):
        return [(dtype, choice, True) for dtype in dtypes for choice in choices]
    return [(dtypes[i % len(dtypes)], choice, i % 3 == 0) for i, choice in enumerate(choices)]


@rows()
def test_shapes(row):
    operation = OPERATIONS[row.operation]
    examples = operation.examples
    shapes = shapes_for(row, examples.shapes)
    for dtype, (number, shape), with_out in in_turn(row, list(enumerate(shapes))):
        for seed in seeds_for(examples, stand_in(row), number, len(shapes)):
            arguments = examples.make(shape, seed, dtype=dtype)
            result = check(row, operation, arguments)
            if with_out and takes_out(operation):
                out = mapped(lambda x: np.full_like(x, 7), result)
                assert is_out(check(row, operation, arguments, out=out), out)


@rows()
def test_layouts(row):
    operation = OPERATIONS[row.operation]
    examples = operation.examples
    if row.device == "gpu":  # all arrays travel to the device in one layout
        shapes = [max(shapes_for(row, examples.shapes), key=np.prod)]
    else:
        shapes = [shape for shape in examples.shapes if 1 < np.prod(shape) <= (row.largest or np.inf)]
    for dtype, (layout, shape), with_out in in_turn(row, list(itertools.product(examples.layouts, shapes))):
        arguments = examples.make(shape, seed_of(shape, layout), dtype=dtype, layout=layout)
        result = check(row, operation, arguments)
        if with_out and takes_out(operation):
            room = mapped(lambda x, layout=layout: Draw(str(x.dtype), layout, seed=1).array(*x.shape), result)
            assert is_out(check(row, operation, arguments, out=room), room)


@rows()
def test_values(row):
    """Very small and very large numbers, zeros of both signs, infinities and what is not a number."""
    operation = OPERATIONS[row.operation]
    examples = operation.examples
    shape = max(shapes_for(row, examples.shapes), key=np.prod)
    for dtype in dtypes_for(row):
        for values in examples.values:
            for seed in range(max(2, examples.seeds)):
                check(row, operation, examples.make(shape, seed, dtype=dtype, values=values))


@rows("cpu")
def test_large(row):
    """Past the sizes at which a rung changes its way of working, on one thread and on two in turn."""
    operation = OPERATIONS[row.operation]
    calls = [] if row.largest else itertools.product(enumerate(dtypes_for(row)), enumerate(operation.examples.large))
    before = numba.get_num_threads()
    try:
        for (i, dtype), (j, shape) in calls:
            numba.set_num_threads(min(1 + (i + j) % 2, numba.config.NUMBA_NUM_THREADS))
            check(row, operation, operation.examples.make(shape, seed_of(shape), dtype=dtype))
    finally:
        numba.set_num_threads(before)


@rows("cpu")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_any_size(row, data):
    operation = OPERATIONS[row.operation]
    examples = operation.examples
    axes = data.draw(st.sampled_from(sorted({len(shape) for shape in examples.shapes if shape})), label="axes")
    most = {1: 300, 2: 70, 3: 70}.get(axes, 9)
    shape = tuple(data.draw(st.lists(st.integers(0, most), min_size=axes, max_size=axes), label="shape"))
    kind = {
        "dtype": data.draw(st.sampled_from(list(dtypes_for(row))), label="dtype"),
        "layout": data.draw(st.sampled_from(examples.layouts), label="layout"),
        "values": data.draw(st.sampled_from(examples.values), label="values"),
    }
    if np.prod(shape) <= (row.largest or np.inf):
        check(row, operation, examples.make(shape, data.draw(st.integers(0, 1000), label="seed"), **kind))


@rows()
def test_in_place(row):
    """`out` may be an argument itself, where the examples say so."""
    operation = OPERATIONS[row.operation]
    if not operation.examples.in_place:
        pytest.skip("not in place")
    shape = max(shapes_for(row, operation.examples.shapes), key=np.prod)
    for dtype, seed in itertools.product(dtypes_for(row), range(operation.examples.seeds)):
        arguments = operation.examples.make(shape, seed, dtype=dtype)
        expected = row(*arguments)
        if operation.results:
            several_in_place(row, operation, arguments, expected)
            continue
        for place, x in enumerate(arguments):
            if isinstance(x, np.ndarray) and x.shape == expected.shape:
                target = x.copy()
                changed = (*arguments[:place], target, *arguments[place + 1 :])
                assert row(*changed, out=target) is target
                np.testing.assert_array_equal(target, expected)


def several_in_place(row, operation, arguments, expected):
    """Each result goes into the argument of its name; another one, and one that has no argument, is new."""
    named = inspect.signature(operation.function).bind(*arguments).arguments
    replaced = {name: mapped(np.copy, named[name]) for name in operation.results if named.get(name) is not None}
    out = tuple(
        replaced.get(name) if of is not None else None for name, of in zip(operation.results, expected, strict=True)
    )
    came = row(**(named | replaced), out=out)
    assert replaced
    for one, right, place in zip(came, expected, out, strict=True):
        assert one is right is None or place is None or is_out(one, place)
        for got, wanted in zip(arrays_of(one), arrays_of(right), strict=True):
            np.testing.assert_array_equal(got, wanted)


@rows("gpu")
def test_device_arrays(row):
    """What lies on the device stays there: device arrays in, a device array out."""
    operation = OPERATIONS[row.operation]
    for dtype in dtypes_for(row):
        for shape in shapes_for(row, operation.examples.shapes)[-4:]:
            check(row, operation, operation.examples.make(shape, dtype=dtype), device=True)


def of_rungs(by_day):
    """The rungs for GPUs. Where there is none, a kernel is compiled for the CPU first: what is not `by_day` waits for
    the night."""
    rungs = [row for row in ROWS if row.device == "gpu"]
    night = [[IN_TURN] if by_day(row) or not stand_in(row) else [pytest.mark.slow] for row in rungs]
    return pytest.mark.parametrize(
        "row", [pytest.param(row, id=label(row), marks=m) for row, m in zip(rungs, night, strict=True)]
    )


def large_by_day(row):
    """Those for tensor cores have files of their own; two of attention are compiled for a minute or two, and pages run
    them."""
    costly = row.name in ("attention_register_tiles", "decode_split_gpu")
    return row.public and not costly and not row.capability and not OPERATIONS[row.operation].backward_of


@of_rungs(by_day=large_by_day)
def test_at_real_size(row):
    """Many blocks, ragged in every direction: by the compiled engine where there is no GPU."""
    examples = OPERATIONS[row.operation].examples
    at_sizes(row, examples.shapes if row.largest else examples.large)


@of_rungs(by_day=lambda row: False)
def test_shapes_in_the_compiled_engine(row):
    """By day the executor has these (`test_shapes`), and random kernels are compared on both engines."""
    at_sizes(row, OPERATIONS[row.operation].examples.shapes)


def at_sizes(row, shapes):
    operation, executor = OPERATIONS[row.operation], device_name == "executor"
    made = [(shape, operation.examples.make(shape, seed_of(shape), dtype=next(dtypes_for(row)))) for shape in shapes]
    most = min(row.largest or np.inf, 1 << 21)
    fit = [(s, a) for s, a in made if max((x.size for x in a if isinstance(x, np.ndarray)), default=0) <= most]
    assert fit, "all sizes are too large"
    with cuda.engine("compiled") if executor else contextlib.nullcontext():
        for shape, arguments in fit:
            with_fallback(row, operation, arguments, np.prod(shape))
        assert not executor or cuda.last_launch().engine == "compiled"


def with_fallback(row, operation, arguments, size):
    """What the compiled engine does not take, the executor runs, if it is small."""
    try:
        check(row, operation, arguments)
    except Unsupported:
        if size > 4 * STAND_IN:
            raise
        with cuda.engine("executor"):
            check(row, operation, arguments)


# ---- the operation's own function, and its gradient ------------------------------------------------------------------


@pytest.mark.rotates
@operations()
def test_the_public_function(operation):
    """What a user calls: on host arrays, and on device arrays where there is a rung for them."""
    function, examples = getattr(dlkernels, operation.name), operation.examples
    devices = [False, True] if implementations.of(operation.name, "gpu") else [False]
    for device in devices:
        for dtype in examples.dtypes:
            arguments = examples.make(examples.shapes[-1], dtype=dtype)
            kind = operation.prepare(*arguments)[-1].dtype
            if device and not any(str(kind) in row.dtypes for row in implementations.of(operation.name, "gpu")):
                continue
            slow = device and device_name != "gpu"
            shapes = [shape for shape in examples.shapes if not slow or np.prod(shape) <= STAND_IN]
            for number, shape in enumerate(shapes):
                for seed in seeds_for(examples, slow, number, len(shapes)):
                    arguments = examples.make(shape, seed, dtype=dtype)
                    check(function, operation, public_arguments(function, arguments), device)


def public_arguments(function, arguments):
    """The examples speak the language of the public function; nothing may be missing there."""
    inspect.signature(function).bind(*arguments)
    return arguments


QUICK = [name for name, operation in OPERATIONS.items() if operation.quick]


@pytest.mark.rotates
@pytest.mark.parametrize("name", QUICK)
def test_the_short_way_comes_to_the_same(name):
    """Bit by bit, and not for what is empty alone."""
    examples, taken = OPERATIONS[name].examples, 0
    for dtype, layout in itertools.product(examples.dtypes, examples.layouts):
        large = examples.large[:2] if layout == "contiguous" else ()
        for seed, shape in enumerate((*examples.shapes, *large)):
            short, long = both_ways(name, examples.make(shape, seed, dtype=dtype, layout=layout))
            found = short()
            if found is not None:
                taken += found.size > 0
                np.testing.assert_array_equal(found, long(), strict=True)
    assert taken >= len(examples.dtypes), f"{name}: the short way takes nothing"


WRONG = {
    "a list": lambda x: x.tolist(),
    "nothing": lambda x: None,
    "whole numbers": lambda x: x.astype(int),
    "another type": lambda x: x.astype(np.float64),
    "another order of bytes": lambda x: x.astype(">f4"),
    "a row less": lambda x: x[:-1],
    "one dimension": lambda x: x.reshape(-1),
    "one more": lambda x: x[None],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("wrong", WRONG)
def test_the_short_way_makes_no_other_error(name, wrong):
    """What is wrong for one way is wrong for the other, in the same words."""
    examples = OPERATIONS[name].examples
    arguments = examples.make(next(shape for shape in examples.shapes if len(shape) > 1 and np.prod(shape) > 4))
    for place, x in enumerate(arguments):
        if isinstance(x, np.ndarray):
            given = (*arguments[:place], WRONG[wrong](x), *arguments[place + 1 :])
            _, long = both_ways(name, given)
            outcomes = [outcome(lambda given=given: getattr(dlkernels, name)(*given)), outcome(long)]
            assert outcomes[0] == outcomes[1], (name, wrong, place)


def both_ways(name, arguments):
    """(a call of the short way, one of the long way) with these arguments of the public function."""
    quick = OPERATIONS[name].quick
    bound = inspect.signature(getattr(dlkernels, name)).bind(*arguments)
    bound.apply_defaults()
    given = [bound.arguments[key] for key in inspect.signature(quick).parameters]
    return lambda: quick(*given), lambda: implementations.call(name, *given)


def outcome(function):
    """What came of it, to be compared: the error and its words, or the result's bytes."""
    try:
        result = function()
    except Exception as error:
        return type(error), str(error)
    return result.shape, result.dtype, result.tobytes()


DIFFERENTIABLE = [name for name, operation in OPERATIONS.items() if operation.backward]


def test_every_operation_has_a_backward_or_says_why_not():
    for operation in OPERATIONS.values():
        answers = [bool(operation.backward), bool(operation.no_backward), bool(operation.backward_of)]
        assert sum(answers) == 1, f"{operation.name}: one of backward=, no_backward= and backward_of= is to be given"
        if isinstance(operation.backward, str):
            assert OPERATIONS[operation.backward].backward_of, f"{operation.name}: {operation.backward} is no backward"
        known = {*inspect.signature(operation.function).parameters, *operation.results}
        assert set(operation.keeps) | set(operation.constants) <= known, operation.name


@pytest.mark.rotates
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_are_the_slope_of_the_reference(name):
    """Along a random direction, by central differences in float64: of the reference, and so of all rungs.

    Random sizes, and those of the examples that have one number or none.
    """
    examples, draw = OPERATIONS[name].examples, np.random.default_rng(seed_of(name))
    axes = sorted({len(shape) for shape in examples.shapes if shape})
    sizes = [draw.integers(1, 7, axes[seed % len(axes)]).tolist() for seed in range(max(4, examples.seeds))]
    for seed, shape in enumerate([*sizes, *(shape for shape in examples.shapes if np.prod(shape) < 2)]):
        slope_is_right(name, shape, seed)


def differentiated(name, arguments):
    """(the call's arguments by name, the gradients that arrive at its results, what `gradients` makes of these)."""
    operation = OPERATIONS[name]
    result = operation.function(*arguments)
    kept = implementations.keep(name, result, *arguments)
    assert tuple(kept) == operation.keeps
    names = operation.results or ("result",)
    results, draw = dict(zip(names, arrays_of(result), strict=True)), Draw(arrays_of(result)[0].dtype, seed=1)
    grads = {key: None if key in operation.constants else draw.array(*x.shape) for key, x in results.items()}
    grad = tuple(grads.values()) if operation.results else grads["result"]
    found = implementations.gradients(name, grad, kept)
    call = inspect.signature(operation.function).bind(*arguments).arguments
    for argument, gradient in found.items():
        pairs = zip(arrays_of(call[argument]), arrays_of(gradient), strict=True)
        assert all((of_x.shape, of_x.dtype) == (x.shape, x.dtype) for x, of_x in pairs), (name, argument)
    return call, grads, found


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_that_are_wanted_alone_are_the_same(name):
    """Bit for bit, of each argument alone and of all but one; what nobody wants is None."""
    operation = OPERATIONS[name]
    for seed, shape in enumerate(shape for shape in operation.examples.shapes if np.prod(shape) <= STAND_IN):
        arguments = operation.examples.make(shape, seed)
        _, grads, found = differentiated(name, arguments)
        kept = implementations.keep(name, operation.function(*arguments), *arguments)
        grad = tuple(grads.values()) if operation.results else grads["result"]
        for wanted in [{one} for one in found] + [set(found) - {one} for one in found]:
            some = implementations.gradients(name, grad, kept, wanted)
            assert {key for key, gradient in some.items() if gradient is not None} == wanted, (name, shape, wanted)
            for key in wanted:
                for one, same in zip(arrays_of(some[key]), arrays_of(found[key]), strict=True):
                    np.testing.assert_array_equal(one, same, err_msg=f"{name} {shape} {key} of {wanted}")


def slope_is_right(name, shape, seed, step=1e-6):
    operation = OPERATIONS[name]
    arguments = operation.examples.make(shape, seed, dtype="float64")
    call, grads, found = differentiated(name, arguments)
    floats = [key for key, x in call.items() if key not in operation.constants and floating(x)]
    assert set(found) == set(floats), f"{name}: gradients of {list(found)}, of {floats} expected"
    draw = Draw("float64", seed=seed + 1)
    directions = {key: mapped(lambda x: draw.array(*x.shape), call[key]) for key in floats}

    def loss(step):
        moved_to = {key: moved(call[key], direction, step) for key, direction in directions.items()}
        results = arrays_of((operation.slope_of or operation.reference)(*(call | moved_to).values()))
        return sum((y * g).sum() for y, g in zip(results, grads.values(), strict=True) if g is not None)

    slope = (loss(step) - loss(-step)) / (2 * step)
    along = sum(
        (gradient * line).sum()
        for key in floats
        for gradient, line in zip(arrays_of(found[key]), arrays_of(directions[key]), strict=True)
    )
    size = sum(np.abs(g).sum() for g in grads.values() if g is not None)
    farthest = max(np.abs(line).max(initial=0) for line in arrays_of(tuple(directions.values())))
    assert abs(along - slope) <= 1e-7 * (size * farthest + 1), (name, shape, seed, along, slope)


def floating(x):
    """Whether an argument is an array of floats, or holds some."""
    return any(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in arrays_of(x))


def moved(x, direction, step):
    """An array, or each of a tuple, a step further."""
    if isinstance(x, tuple):
        return tuple(moved(*pair, step) for pair in zip(x, direction, strict=True))
    return x + step * direction


@pytest.mark.parametrize("name", [name for name in DIFFERENTIABLE if callable(OPERATIONS[name].backward)])
def test_a_backward_of_other_operations_stays_on_the_device(name):
    """Those that are operations themselves are tried by test_device_arrays."""
    if not implementations.of(name, "gpu"):
        pytest.skip("host memory only")
    examples = OPERATIONS[name].examples
    for seed, shape in enumerate(shape for shape in examples.shapes if 1 < np.prod(shape) <= STAND_IN):
        arguments = examples.make(shape, seed)
        _, grads, expected = differentiated(name, arguments)
        there = mapped(cuda.to_device, arguments)
        kept = implementations.keep(name, OPERATIONS[name].function(*there), *there)
        found = implementations.gradients(name, cuda.to_device(grads["result"]), kept)
        for key, gradient in found.items():
            np.testing.assert_allclose(gradient.copy_to_host(), expected[key], rtol=1e-5, atol=1e-5)


def test_what_a_tape_may_not_ask():
    x = np.ones((2, 3), np.float32)
    with pytest.raises(ValueError, match="histogram has no backward: a count does not change"):
        implementations.keep("histogram", None, x, 3, 0, 1)
    with pytest.raises(ValueError, match="relu_backward has no backward: it computes gradients itself"):
        implementations.gradients("relu_backward", x, {})
    result = dlkernels.attention_with_sums(x, x, x)
    kept = implementations.keep("attention_with_sums", result, x, x, x)
    with pytest.raises(ValueError, match="no tuple of 2; expected the gradients of result, sums, or None"):
        implementations.gradients("attention_with_sums", x, kept)
    with pytest.raises(ValueError, match="no gradient by way of sums; expected None in its place"):
        implementations.gradients("attention_with_sums", result, kept)


# ---- the table itself ------------------------------------------------------------------------------------------------


def test_every_public_function_is_an_operation_with_examples():
    """What is exported and computes is in the table: otherwise nothing above would look at it."""
    public = [name for name in dir(dlkernels) if not name.startswith("_")]  # a folder comes with the first of its names
    functions = {name for name in public if inspect.isfunction(getattr(dlkernels, name))}
    assert functions == set(OPERATIONS)
    exported = {name for name in dlkernels.__all__ if inspect.isfunction(getattr(dlkernels, name))}
    assert exported == functions - set(dir(builtins)), "a star import must bring all but what hides a name of Python's"


@operations()
def test_examples_reach_the_corners(operation):
    examples = operation.examples
    sizes = [np.prod(shape) for shape in examples.shapes]
    assert 0 in sizes, "no empty array"
    assert any(all(n == 1 for n in shape) for shape in examples.shapes), "no single element"
    assert any(len(set(shape)) > 1 and all(shape) for shape in examples.shapes), "all sizes are square"
    assert any(any(n % 2 for n in shape) and np.prod(shape) > 8 for shape in examples.shapes), "all sizes are even"
    assert len({len(shape) for shape in examples.shapes}) > 1, "one number of axes only: no stacks"
    assert any(np.prod(shape) > 1 << 16 for shape in examples.large), "nothing large"
    assert examples.timed, "no size for the benchmark"
    assert set(examples.layouts) <= set(LAYOUTS)
    assert "normal" in examples.values
    for shape in (*examples.shapes, *examples.large):
        before = examples.make(shape, 3)
        for x, again in zip(arrays_of(before), arrays_of(examples.make(shape, 3)), strict=True):
            np.testing.assert_array_equal(x, again)


@operations()
def test_an_operation_has_rungs_and_says_which_is_public(operation):
    ladder = implementations.of(operation.name)
    assert ladder
    for device in {row.device for row in ladder}:
        here = [row for row in ladder if row.device == device]
        assert [row.rung for row in here] == list(range(1, len(here) + 1))
        for dtype in {dtype for row in here for dtype in row.dtypes}:
            assert implementations.public_rung(operation.name, device, np.dtype(dtype)).public
    for row in ladder:
        assert row.adds, row
        assert len(row.source) > 40, row
        assert row.kernels or row.device == "cpu", f"{row.name} names no kernels: it is not compiled for any GPU"
    names = [(row.device, row.name) for row in ladder]
    assert len(names) == len(set(names))
