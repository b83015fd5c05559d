"""Layers of a network that are no product: embedding and dropout.

Names, argument orders and defaults are PyTorch's; dropout takes its random numbers from a seed and an offset, not from
a state that changes. Arrays are float32 or float64, of any strides, in host or device memory (there: float32); indices
are int64 or int32. Nothing changes its inputs. Wrong arguments raise ValueError or TypeError.

Its files, in reading order:

reference.py       the specification in NumPy       examples.py       what each operation can be called with
cpu_embedding.py   rows of a table; who adds up what arrives: atomics, or sorted indices
gpu_embedding.py   the same on a GPU
philox.py          random numbers from a counter    cpu_dropout.py    gpu_dropout.py

Results repeat bit for bit, on any number of threads.
"""

import numbers

from ..arguments import check_gradient, float_array, number, one_place
from ..implementations import call, operation
from ..indices import checked_indices, counted
from . import examples, reference


def _check_embedding(input, weight, padding_idx):
    """The row that gets no gradient, or -1."""
    checked_indices("input", input)
    float_array("weight", weight)
    one_place(weight=weight, input=input)
    if weight.ndim != 2:
        raise ValueError(f"weight has shape {tuple(weight.shape)}; expected (rows, width).")
    rows = weight.shape[0]
    counted("input", input, rows)
    if padding_idx is None:
        return -1
    if isinstance(padding_idx, bool) or not isinstance(padding_idx, numbers.Integral):
        raise TypeError(f"padding_idx is {padding_idx!r}; expected a whole number, or None.")
    if not -rows <= padding_idx < rows:
        raise ValueError(f"padding_idx is {padding_idx}; expected a number from {-rows} to {rows - 1}.")
    return int(padding_idx) % rows


@operation("embedding", reference.embedding, examples.EMBEDDING)
def _prepare_embedding(input, weight, padding_idx=None):
    _check_embedding(input, weight, padding_idx)
    return input, weight


@operation("embedding_backward", reference.embedding_backward, examples.EMBEDDING_BACKWARD, backward_of="embedding")
def _prepare_embedding_backward(grad, input, weight, padding_idx=None):
    padding = _check_embedding(input, weight, padding_idx)
    check_gradient(grad, (*input.shape, weight.shape[1]), weight=weight)
    return padding, input, grad, weight


def _check_dropout(name, x, p, training, seed, offset):
    """(p, or 0 where nothing is dropped, seed, offset, x)."""
    float_array(name, x)
    p = float(number("p", p, "float64"))
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}; expected a probability, from 0 to 1.")
    if not isinstance(training, bool):
        raise TypeError(f"training is {training!r}; expected True or False.")
    for label, value in (("seed", seed), ("offset", offset)):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{label} is {value!r}; expected a whole number.")
        most = 2**64 if label == "seed" else 2**63
        if not 0 <= value < most:
            raise ValueError(f"{label} is {value}; expected a number from 0 to {most - 1}.")
    return p if training else 0.0, int(seed), int(offset), x


def _dropout_gradient(grad, p, training, seed, offset):
    return {"input": dropout_backward(grad, p, training, seed, offset)}


@operation("dropout", reference.dropout, examples.DROPOUT, backward=_dropout_gradient)
def _prepare_dropout(input, p=0.5, training=True, seed=0, offset=0):
    return _check_dropout("input", input, p, training, seed, offset)


@operation("dropout_backward", reference.dropout_backward, examples.DROPOUT, no_backward="it computes gradients itself")
def _prepare_dropout_backward(grad, p=0.5, training=True, seed=0, offset=0):
    return _check_dropout("grad", grad, p, training, seed, offset)


from . import cpu_dropout, cpu_embedding, gpu_dropout, gpu_embedding  # noqa: E402, F401

# ---- what is called -------------------------------------------------------------------------------------------------


def embedding(input, weight, padding_idx=None):
    """weight[input]: a row of the table for each index, as torch.nn.functional.embedding. A new array.

    input: int64 or int32, any shape, each from 0 to rows - 1, else ValueError. weight: (rows, width), float32 or
    float64. padding_idx: the row that gets no gradient; a negative one counts from the end. The result has the shape
    (*input.shape, width).

    Indices in device memory are copied to the host to be checked: a kernel cannot raise an error.
    """
    return call("embedding", input, weight, padding_idx)


def embedding_backward(grad, input, weight, padding_idx=None):
    """The gradient of weight, given `grad`, the one with respect to embedding(...): each row's gradients, added up.

    grad: (*input.shape, width), of the dtype of weight. Those of a row are added in the order of their indices: the
    result repeats bit for bit, and has the same bits on CPU and GPU. A new array.
    """
    return call("embedding_backward", grad, input, weight, padding_idx)


def dropout(input, p=0.5, training=True, seed=0, offset=0):
    """Each number is 0 with probability p, else it is multiplied by 1 / (1 - p), as torch.nn.functional.dropout does.

    input: float32 or float64, any shape. training: False for the numbers as they are. A new array.
    seed: a whole number below 2^64; offset: one below 2^63. Number i of the array goes by word offset + i of the
    sequence that Philox4x32-10 (Salmon and others, 2011) makes of the seed: the same on CPU and GPU. Who adds the size
    of each array to the offset gets new numbers in each call, and for parts of an array those of the whole. NaN and
    infinities become 0 where they are dropped.
    """
    return call("dropout", input, p, training, seed, offset)


def dropout_backward(grad, p=0.5, training=True, seed=0, offset=0):
    """The gradient of input, given `grad`, the one with respect to dropout(input, ...): what was dropped gets 0.

    Nothing was kept of that call: the same p, seed and offset make the same random numbers again.
    """
    return call("dropout_backward", grad, p, training, seed, offset)
