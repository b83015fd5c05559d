"""An operation or a rung that is wrong fails the tests of test_operations.py, though nobody wrote a test for it."""

import pytest

import dlkernels
from dlkernels import implementations

from . import planted
from . import test_operations as tests

# Which of the tests is to notice each fault, and what of the new table it is called with.
NOTICED_BY = {
    planted.an_exported_function_that_is_not_in_the_table: (
        tests.test_every_public_function_is_an_operation_with_examples, None, "",
    ),
    planted.an_operation_that_returns_42: (tests.test_the_public_function, "cube", ""),
    planted.a_public_function_that_takes_a_wrong_rung: (tests.test_the_public_function, "cube", ""),
    planted.a_rung_with_a_wrong_tail: (tests.test_shapes, "add", "add_by_eights"),
    planted.a_rung_that_writes_its_input: (tests.test_shapes, "relu", "relu_in_place"),
    planted.a_rung_that_loses_nan: (tests.test_values, "relu", "relu_by_comparison"),
    planted.an_integer_layer_whose_pairs_saturate: (tests.test_shapes, "linear_int8", "linear_int8_saturating"),
    planted.an_integer_layer_that_rounds_ties_away: (tests.test_shapes, "linear_int8", "linear_int8_rounds_up"),
    planted.an_integer_layer_that_forgets_the_zero_point_of_the_weight: (
        tests.test_shapes, "linear_int8", "linear_int8_symmetric",
    ),
    planted.an_integer_convolution_padded_with_code_zero: (
        tests.test_shapes, "conv2d_int8", "conv2d_int8_zeros_outside",
    ),
    planted.a_kernel_that_forgets_its_last_block: (tests.test_at_real_size, "add", "add_whole_blocks"),
    planted.a_backward_with_the_wrong_sign: (
        tests.test_gradients_are_the_slope_of_the_reference, "tanh", "",
    ),
    planted.an_operation_that_says_nothing_of_its_gradient: (
        tests.test_every_operation_has_a_backward_or_says_why_not, None, "",
    ),
    planted.a_short_way_to_another_result: (tests.test_the_short_way_comes_to_the_same, "add", ""),
}  # fmt: skip


@pytest.fixture
def table(monkeypatch):
    """What a test plants is gone after it."""
    monkeypatch.setattr(implementations, "_LADDERS", {k: list(v) for k, v in implementations._LADDERS.items()})
    before = dict(implementations.OPERATIONS), {n: getattr(dlkernels, n) for n in dlkernels.__all__}
    yield
    implementations.OPERATIONS.clear()
    implementations.OPERATIONS.update(before[0])
    for name in set(dlkernels.__all__) - set(before[1]):
        delattr(dlkernels, name)
    dlkernels.__all__[:] = list(before[1])
    for name, function in before[1].items():
        setattr(dlkernels, name, function)
    implementations.public_rung.cache_clear()
    implementations._plans.clear()


@pytest.mark.parametrize("fault", NOTICED_BY, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_noticed(fault, table):
    fault()
    test, operation, rung = NOTICED_BY[fault]
    if operation is None:
        arguments = ()
    elif rung:
        arguments = [row for row in implementations.of(operation) if row.name == rung]
    elif "gradients" in test.__name__ or "short_way" in test.__name__:
        arguments = (operation,)
    else:
        arguments = (implementations.OPERATIONS[operation],)
    with pytest.raises(AssertionError):
        test(*arguments)


def test_without_a_fault_the_same_tests_pass():
    tests.test_every_public_function_is_an_operation_with_examples()
    tests.test_the_public_function(implementations.OPERATIONS["add"])
    tests.test_gradients_are_the_slope_of_the_reference("tanh")
    tests.test_every_operation_has_a_backward_or_says_why_not()
    tests.test_the_short_way_comes_to_the_same("add")
    for name, test in (("add_numpy", tests.test_shapes), ("relu_numpy", tests.test_values)):
        (row,) = [row for row in implementations.everything() if row.name == name]
        test(row)


def test_every_rung_of_the_table_is_a_case_of_those_tests():
    def cases(test):
        (mark,) = [m for m in test.pytestmark if m.name == "parametrize" and m.args[0] == "row"]
        return [case.values[0].name for case in mark.args[1]]

    for test in (tests.test_shapes, tests.test_layouts, tests.test_values):
        assert cases(test) == [row.name for row in implementations.everything()]
    on_gpus = [row.name for row in implementations.of("add", "gpu")]
    assert set(on_gpus) <= set(cases(tests.test_at_real_size))
