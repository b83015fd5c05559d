"""Where a token stands: sinusoidal encodings and rotary embeddings; what is called, and what checks its arguments."""

import numbers

import numpy as np

from ..arguments import check_gradient, float_array, number, one_place, same
from ..implementations import call, operation
from . import examples, reference


@operation(
    "sinusoidal_encoding",
    reference.sinusoidal_encoding,
    examples.SINUSOIDAL,
    no_backward="its only array are positions, and those are given, not learned",
)
def _prepare_sinusoidal(positions, width, base=10000.0):
    float_array("positions", positions)
    if isinstance(width, bool) or not isinstance(width, numbers.Integral):
        raise TypeError(f"width is {width!r}; expected a whole number.")
    if width < 1:
        raise ValueError(f"width is {width}; expected at least 1.")
    return int(width), _check_base(base), positions


def _check_base(base):
    base = float(number("base", base, np.float64))
    if not base > 0:
        raise ValueError(f"base is {base}; expected a number above 0.")
    return base


def _check_rotary(x, positions, base, interleaved):
    """(positions, base, interleaved) of a call."""
    float_array("x", x)
    float_array("positions", positions)
    one_place(x=x, positions=positions)
    same("dtype", x=x, positions=positions)
    if x.ndim < 2 or tuple(x.shape)[-1] % 2 or not tuple(x.shape)[-1]:
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (..., positions, width) with an even width of at least 2."
        )
    if tuple(positions.shape) != tuple(x.shape)[-2:-1]:
        raise ValueError(
            f"positions has shape {tuple(positions.shape)}, and x has shape {tuple(x.shape)}; expected "
            f"{tuple(x.shape)[-2:-1]}, one position for each row of x."
        )
    if not isinstance(interleaved, bool | np.bool):
        raise TypeError(f"interleaved is {interleaved!r}; expected True or False.")
    return positions, _check_base(base), bool(interleaved)


@operation("rotary_embedding", reference.rotary_embedding, examples.ROTARY, constants=("positions",))
def _prepare_rotary(x, positions, base=10000.0, interleaved=False):
    return *_check_rotary(x, positions, base, interleaved), 1, x


@operation(
    "rotary_embedding_backward",
    reference.rotary_embedding_backward,
    examples.ROTARY_BACKWARD,
    backward_of="rotary_embedding",
)
def _prepare_rotary_backward(grad, x, positions, base=10000.0, interleaved=False):
    checked = _check_rotary(x, positions, base, interleaved)
    check_gradient(grad, x.shape, x=x)
    return *checked, -1, grad


# ---- what is called -------------------------------------------------------------------------------------------------


def sinusoidal_encoding(positions, width, base=10000.0):
    """Sines and cosines that say where a token stands (Vaswani and others 2017): (..., width) for positions (...).

    Column 2 i is sin(position * base^(-2 i / width)), column 2 i + 1 the cosine of the same angle. positions: numbers,
    of the dtype that the result shall have; host memory only.
    """
    return call("sinusoidal_encoding", positions, width, base)


def rotary_embedding(x, positions, base=10000.0, interleaved=False):
    """Each pair of numbers of x turned by an angle that grows with its position (Su and others 2021). A new array.

    x: (..., length, width) with an even width: queries or keys of one head, or of several. positions: (length,) of the
    dtype of x. Pair i turns by position * base^(-2 i / width). interleaved: True for pairs of neighbours, 2 i and 2 i +
    1, as in the paper; False for i and i + width / 2, as in most models of today.
    """
    return call("rotary_embedding", x, positions, base, interleaved)


def rotary_embedding_backward(grad, x, positions, base=10000.0, interleaved=False):
    """The gradient of x, given `grad`, the one with respect to rotary_embedding(...): it turns back. Positions get
    none."""
    return call("rotary_embedding_backward", grad, x, positions, base, interleaved)
