"""Arrays in host memory as kernels take them, and calls of which what was checked once is not checked again."""

import sys
import warnings

import numpy as np
import pytest

import dlkernels
from dlkernels import conv2d, host, implementations, scaled_dot_product_attention, team
from dlkernels.implementations import OPERATIONS
from dlkernels.matrix import choose as products

pytestmark = pytest.mark.rotates

F32 = np.dtype("float32")


@pytest.mark.quick
def test_workspaces_are_kept_and_bounded():
    """The second call takes the memory of the first; what is large is given back."""
    line = host.workspace(F32, 1000)
    assert host.workspace(F32, 500) is line
    large = host.workspace(F32, host.KEPT)
    assert large.size >= host.KEPT
    assert host.workspace(F32, 500) is line


@pytest.mark.quick
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (1000,), (1 << 18,)])
def test_memory_begins_with_a_line_of_the_cache(dtype, shape):
    x = host.aligned_zeros(shape, dtype)
    assert (x.shape, x.dtype, x.flags.c_contiguous) == (shape, np.dtype(dtype), True)
    assert x.size == 0 or x.ctypes.data % host.LINE == 0
    assert not x.any()
    line = host.workspace(np.dtype(dtype), x.size)
    assert line.size >= x.size
    assert line.ctypes.data % host.LINE == 0


@pytest.mark.quick
@pytest.mark.parametrize("size", [0, 1, host.LARGE // 4 - 1, host.LARGE // 4, host.LARGE])
def test_large_results_begin_with_a_line_of_the_cache(size):
    x = host.new((size, 1), np.float32)
    assert (x.shape, x.dtype, x.flags.carray) == ((size, 1), np.float32, True)
    assert 4 * size < host.LARGE or x.ctypes.data % host.LINE == 0


USERS = [
    *("scaled_dot_product_attention", "scaled_dot_product_attention_backward", "linear_attention", "gated_delta_rule"),
    *("attention_with_sums", "attention_backward_from_sums"),
    *("decode_attention", "conv2d", "conv2d_winograd", "conv2d_separable", "max_pool2d", "avg_pool2d"),
]


@pytest.mark.parametrize("name", USERS)
def test_what_memory_held_before_gets_into_no_result(name, monkeypatch):
    """With NaN in all of a workspace, and in all of a new result, the results are the same, to the last bit."""
    taken = []

    def full_of_nan(dtype, elements):
        line = workspace(dtype, elements)
        line[:] = np.nan
        taken.append(elements)
        return line

    def new_of_nan(shape, dtype):
        array = new(shape, dtype)
        array[...] = np.nan
        return array

    operation, function, workspace, new = OPERATIONS[name], getattr(dlkernels, name), host.workspace, host.new
    shapes = sorted(operation.examples.shapes, key=np.prod)[-3:]
    calls = [operation.examples.make(shape, 1, dtype=dtype) for shape in shapes for dtype in operation.examples.dtypes]
    before = [function(*arguments) for arguments in calls]
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("dlkernels."):
            for attribute, function_of_host, poisoned in (
                ("workspace", workspace, full_of_nan),
                ("new", new, new_of_nan),
            ):
                if getattr(module, attribute, None) is function_of_host:
                    monkeypatch.setattr(module, attribute, poisoned)
    for arguments, right in zip(calls, before, strict=True):
        found = function(*arguments)
        for one, other in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, right)), strict=True):
            np.testing.assert_array_equal(one, other)
    assert taken, "it takes no workspace: the test says nothing"


@pytest.mark.quick
def test_plain_copies_only_what_has_to_be():
    x = np.zeros((4, 4), np.float32)
    assert host.plain(x) is x
    locked = np.zeros(4, np.float32)
    locked.flags.writeable = False
    shifted = np.zeros(17, np.uint8)[1:].view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(x)
    assert type(host.plain(matrix)) is np.ndarray  # numba knows no other
    for other in (x.T, x[::2], locked, shifted, np.broadcast_to(x[0], (4, 4))):
        copy = host.plain(other)
        assert copy.flags.carray
        assert not np.may_share_memory(copy, other)
        np.testing.assert_array_equal(copy, other)


Q, K = np.ones((2, 3, 8), np.float32), np.ones((2, 5, 8), np.float32)
X, W = np.ones((1, 2, 4, 4), np.float32), np.ones((2, 2, 1, 1), np.float32)
ATTENTION = {
    "a number for a bool": ((Q, K, K), {"is_causal": 1}, TypeError, "is_causal is 1"),
    "a list": ((Q, K, K), {"is_causal": []}, TypeError, r"is_causal is \[\]"),
    "a scale in words": ((Q, K, K), {"scale": "1"}, TypeError, "scale is a str"),
    "a scale in a list": ((Q, K, K), {"scale": [1.0]}, TypeError, "scale is a list"),
    "another dtype": ((Q, K.astype("f8"), K), {}, TypeError, "k has dtype float64"),
    "the other byte order": ((Q.astype(">f4"), K, K), {}, TypeError, "q has dtype >f4"),
    "a list of numbers": ((Q.tolist(), K, K), {}, TypeError, "q is a list"),
    "other widths": ((Q, K[..., :4], K), {}, ValueError, "with one width"),
    "a mask and causal": ((Q, K, K, np.ones((3, 5), bool)), {"is_causal": True}, ValueError, "expected one of them"),
}
CONVOLUTION = {
    "a bool for a number": ((X, W), {"stride": True}, TypeError, "stride is True"),
    "a list": ((X, W), {"dilation": [1]}, TypeError, r"dilation is \[1\]"),
    "a fraction": ((X, W), {"groups": 1.0}, TypeError, "groups is 1.0"),
    "nothing": ((X, W), {"padding": None}, TypeError, "padding is None"),
    "a negative padding": ((X, W), {"padding": -1}, ValueError, "padding is -1"),
    "another dtype": ((X, W.astype("f8")), {}, TypeError, "weight has dtype float64"),
    "a bias too short": ((X, W, np.ones(1, "f")), {}, ValueError, r"bias has shape \(1,\)"),
}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("function", "right", "wrong"),
    [
        (function, right, wrong)
        for function, right, cases in (
            (scaled_dot_product_attention, (Q, K, K), ATTENTION),
            (conv2d, (X, W), CONVOLUTION),
        )
        for wrong in cases.values()
    ],
    ids=[f"{kind}: {name}" for kind, cases in (("attention", ATTENTION), ("conv2d", CONVOLUTION)) for name in cases],
)
def test_what_was_right_once_lets_nothing_wrong_through(function, right, wrong):
    arguments, options, error, message = wrong
    for _ in range(2):
        function(*right)
        with pytest.raises(error, match=message):
            function(*arguments, **options)


@pytest.mark.quick
def test_numbers_and_strides_are_not_remembered():
    """Only shapes and dtypes are: the same call with other numbers, or from other memory, has its own result."""
    random = np.random.default_rng(0)
    q, k, x = (random.standard_normal(one.shape).astype("f") for one in (Q, K, X))
    first, other = scaled_dot_product_attention(q, k, k), scaled_dot_product_attention(2 * q, k, k)
    assert not np.allclose(first, other)
    strided = np.asfortranarray(q)
    np.testing.assert_allclose(scaled_dot_product_attention(strided, k, k), first, rtol=1e-6)
    np.testing.assert_allclose(scaled_dot_product_attention(q, k, k, scale=8**-0.5), first, rtol=1e-6)
    np.testing.assert_allclose(conv2d(x, W), conv2d(np.asfortranarray(x), W), rtol=1e-6)


def interrupted(*names):
    """Functions of modules, each of which now also fills the kept memory: as a signal's handler may, which computes,
    too."""

    def also(function):
        def called(*arguments):
            host.workspace(F32, 1).fill(np.nan)
            return function(*arguments)

        return called

    return [(module, name, also(getattr(module, name))) for module, name in names]


@pytest.mark.parametrize("rung", ["lanes", "separable", "pointwise", "columns", "columns backward"])
def test_what_runs_between_two_calls_has_other_memory(rung, monkeypatch):
    rng = np.random.default_rng(0)
    x, grad, planes, points, dense = (
        rng.standard_normal(shape, dtype=np.float32)
        for shape in ((2, 32, 9, 9), (2, 32, 9, 9), (32, 1, 3, 3), (32, 32, 1, 1), (32, 32, 3, 3))
    )
    rungs = {r.name: r for operation in ("conv2d", "conv2d_backward") for r in implementations.of(operation, "cpu")}
    run = {
        "lanes": lambda: [conv2d(x, planes, padding=1, groups=32)],
        "separable": lambda: [dlkernels.conv2d_separable(x, planes, points, padding=1)],
        "pointwise": lambda: [conv2d(x, points, stride=2)],
        "columns": lambda: [rungs["conv2d_im2col"](x, dense, padding=1)],
        "columns backward": lambda: rungs["conv2d_backward_columns"](grad, x, dense, padding=1),
    }[rung]
    expected = run()
    for module, name, function in interrupted((team, "members"), (products, "threads_for"), (products, "least_time")):
        monkeypatch.setattr(module, name, function)
    for one, other in zip(run(), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert host.workspace(F32, 1).size >= 1


@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (3, 1), (1, 3)])
@pytest.mark.parametrize("groups", [1, 32])
def test_a_stride_that_leaves_one_result_takes_no_memory(kernel, groups):
    """However long it is: it says how far it is to a result that there is not."""
    x, weight = np.ones((1, 32, 5, 5), np.float32), np.ones((32, 32 // groups, *kernel), np.float32)
    far, padding = 2**31 - 1, tuple(k // 2 for k in kernel)
    for stride in (far, (far, 1), (1, far)):
        near = tuple(5 if s == far else s for s in (stride if isinstance(stride, tuple) else 2 * (stride,)))
        expected = conv2d(x, weight, stride=near, padding=padding, groups=groups)
        found = conv2d(x, weight, stride=stride, padding=padding, groups=groups)
        np.testing.assert_array_equal(found, expected)
    if groups == 32:
        found, expected = (
            dlkernels.conv2d_separable(x, weight, np.ones((32, 32, 1, 1), np.float32), stride=s, padding=padding)
            for s in (far, 5)
        )
        np.testing.assert_array_equal(found, expected)
