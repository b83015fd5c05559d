"""A systolic array: exact products, and clocks and reads by the formulas that page 17.2 derives."""

import numpy as np
import pytest

from cpulab.systolic import output_stationary, weight_stationary

pytestmark = pytest.mark.quick

# (m, k, n), (rows, columns): smaller than the array, as large, larger, ragged, one row, one cell
CASES = [
    ((3, 3, 3), (8, 8)), ((4, 3, 3), (3, 3)), ((7, 5, 9), (4, 3)), ((1, 10, 6), (4, 4)), ((20, 13, 17), (4, 5)),
    ((33, 1, 5), (3, 2)), ((16, 32, 16), (16, 16)), ((1, 1, 1), (1, 1)), ((5, 7, 3), (1, 1)), ((2, 9, 9), (8, 2)),
    # weights come down while those of the tile before last are still used: rows of a between 2 and 2 * rows - 2
    ((4, 12, 7), (5, 2)), ((7, 20, 9), (7, 4)), ((9, 18, 3), (6, 1)),
]  # fmt: skip


def given(m, k, n):
    rng = np.random.default_rng(m * 10_000 + k * 100 + n)
    return rng.integers(-128, 128, (m, k)), rng.integers(-128, 128, (k, n))


def parts(size, part):
    return -(-size // part)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(("shape", "array"), CASES)
def test_weights_that_stay(shape, array, ahead):
    (m, k, n), (rows, columns) = shape, array
    a, b = given(m, k, n)
    run = weight_stationary(a, b, rows, columns, ahead=ahead)
    np.testing.assert_array_equal(run.result, a @ b)
    tiles = parts(k, rows) * parts(n, columns)
    if ahead:
        assert run.clocks == rows + (tiles - 1) * max(m, rows) + m + rows + columns - 2
    else:
        assert run.clocks == tiles * (2 * rows + columns + m - 2)
    assert run.counts == {
        "macs": m * k * n,
        "reads a": m * k * parts(n, columns),
        "reads b": k * n,
        "reads sums": m * n * (parts(k, rows) - 1),
        "writes": m * n * parts(k, rows),
    }
    assert run.use == m * k * n / (run.clocks * rows * columns)


@pytest.mark.parametrize(("shape", "array"), CASES)
def test_sums_that_stay(shape, array):
    (m, k, n), (rows, columns) = shape, array
    a, b = given(m, k, n)
    run = output_stationary(a, b, rows, columns)
    np.testing.assert_array_equal(run.result, a @ b)
    assert run.clocks == parts(m, rows) * parts(n, columns) * (2 * rows + columns + k - 2)
    assert run.counts == {
        "macs": m * k * n,
        "reads a": m * k * parts(n, columns),
        "reads b": k * n * parts(m, rows),
        "writes": m * n,
    }


@pytest.mark.parametrize("ahead", [False, True])
def test_a_clock_too_early_is_wrong_and_not_noticed(ahead):
    a, b = given(6, 9, 7)
    run = weight_stationary(a, b, 3, 3, ahead=ahead, early=1)
    assert run.result.shape == (6, 7)
    assert (run.result != a @ b).any()


@pytest.mark.parametrize("run", [weight_stationary, output_stationary])
def test_what_an_array_cannot_multiply_is_told(run):
    a, b = given(4, 3, 5)
    with pytest.raises(TypeError, match="b is float64; expected integers"):
        run(a, b * 0.5, 2, 2)
    for wrong in ((a, b.T), (a[0], b), (a[:0], b), (a[:, :0], b[:0])):
        with pytest.raises(ValueError, match=r"expected \(m, k\) and \(k, n\), none of them 0"):
            run(*wrong, 2, 2)
    with pytest.raises(TypeError, match="b is uint64; expected integers that an int64 can hold"):
        run(a, b.astype(np.uint64), 2, 2)
    with pytest.raises(ValueError, match="0 x 2 cells; expected at least one"):
        run(a, b, 0, 2)


@pytest.mark.parametrize("early", [-1, 3])
def test_clocks_that_there_are_not_are_told(early):
    with pytest.raises(ValueError, match=f"a starts {early} clocks early; expected 0 to 2"):
        weight_stationary(*given(4, 3, 5), 2, 2, early=early)
