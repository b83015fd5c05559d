"""Numbers that know how far a computation with roundings may be from them.

A reference, written for NumPy, is run on these instead of arrays: each operation gives its result and adds what its own
rounding, and the errors of its operands, can do (running error analysis; Higham, Accuracy and Stability of Numerical
Algorithms, section 3.3). So the allowed error of a result follows from its formula, forward and backward, over any
number of steps. The order of a sum is left open: it is bounded by the sizes of all its terms.
"""

import numpy as np

FUNCTION = 8  # roundings by which an exponential, or a function made of it, may be wrong
JOINS = (np.concatenate, np.stack)


class Rounded(np.lib.mixins.NDArrayOperatorsMixin):
    """value: float64. error: how far from it each number may be where eps is the spacing of numbers at 1."""

    def __init__(self, value, error, eps):
        self.value, self.eps = np.asarray(value, np.float64), eps
        self.error = np.broadcast_to(error, self.value.shape)

    shape = property(lambda self: self.value.shape)
    T = property(lambda self: self._moved(np.transpose))

    def __len__(self):
        return len(self.value)

    def __getitem__(self, key):
        return self._moved(lambda part: part[key])

    def reshape(self, *shape):
        return self._moved(lambda part: part.reshape(*shape))

    def sum(self, axis):
        size = self.eps * self.shape[axis] * np.abs(self.value).sum(axis)
        return Rounded(self.value.sum(axis), self.error.sum(axis) + size, self.eps)

    def _moved(self, move):
        """Other places, or some of the numbers: nothing is computed."""
        return Rounded(move(self.value), move(self.error), self.eps)

    def _of(self, x):
        return x if isinstance(x, Rounded) else Rounded(x, 0.0, self.eps)

    def __array_ufunc__(self, function, method, *operands):
        return RULES[function](*map(self._of, operands))

    def __array_function__(self, function, types, arguments, options):
        """np.where, np.moveaxis and those that join arrays."""
        operand, *rest = arguments
        if function is np.where:
            chosen = [self._of(choice) for choice in rest]
            value, error = np.where(operand, *(x.value for x in chosen)), np.where(operand, *(x.error for x in chosen))
        elif function in JOINS:
            joined = [self._of(item) for item in operand]
            value, error = (function([getattr(x, part) for x in joined], **options) for part in ("value", "error"))
        else:
            value, error = (function(part, *rest, **options) for part in (operand.value, operand.error))
        return Rounded(value, error, self.eps)


def _sum(x, y, sign):
    return Rounded(x.value + sign * y.value, x.error + y.error + x.eps * (abs(x.value) + abs(y.value)), x.eps)


def _product(x, y):
    x_size, y_size = abs(x.value), abs(y.value)
    return Rounded(x.value * y.value, x_size * y.error + (y_size + y.error) * x.error + x.eps * x_size * y_size, x.eps)


def _ratio(x, y):
    value, least = x.value / y.value, np.maximum(abs(y.value) - y.error, np.finfo(np.float64).tiny)
    return Rounded(value, (x.error + abs(value) * y.error) / least + x.eps * abs(value), x.eps)


def _matrix_product(x, y):
    x_size, y_size = abs(x.value), abs(y.value)
    rounding = (x_size.shape[-1] + 2) * x.eps * (x_size @ y_size)
    return Rounded(x.value @ y.value, x_size @ y.error + x.error @ (y_size + y.error) + rounding, x.eps)


def _exp(x):
    value = np.exp(x.value)
    return Rounded(value, value * (np.expm1(x.error) + (FUNCTION + abs(x.value)) * x.eps), x.eps)


def _tanh(x):
    value = np.tanh(x.value)
    slope = 1 - np.tanh(np.maximum(abs(x.value) - x.error, 0)) ** 2  # the steepest between here and the error
    return Rounded(value, slope * x.error + FUNCTION * x.eps * abs(value), x.eps)


def _log_add_exp(x, y):
    value = np.logaddexp(x.value, y.value)
    return Rounded(value, np.maximum(x.error, y.error) + FUNCTION * x.eps * value, x.eps)


def _sign(x, y):
    """Whether x > y; either, where the error leaves it open."""
    return Rounded(x.value > y.value, abs(x.value - y.value) <= x.error + y.error, x.eps)


#: What a function of NumPy makes of such numbers.
RULES = {
    np.add: lambda x, y: _sum(x, y, 1),
    np.subtract: lambda x, y: _sum(x, y, -1),
    np.multiply: _product,
    np.true_divide: _ratio,
    np.matmul: _matrix_product,
    np.negative: lambda x: Rounded(-x.value, x.error, x.eps),
    np.exp: _exp,
    np.tanh: _tanh,
    np.logaddexp: _log_add_exp,
    np.maximum: lambda x, y: Rounded(np.maximum(x.value, y.value), np.maximum(x.error, y.error), x.eps),
    np.greater: _sign,
}
