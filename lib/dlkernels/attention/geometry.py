"""What an attention is about: how many heads of which size, and which matrices of keys and values each head looks at.

Leading dimensions are broadcast, and with grouped queries several heads share keys and values. No array is repeated for
that: each head has the number of the element at which its matrix begins, in arrays that lie row after row.
"""

import functools
import math
from collections import namedtuple

import numpy as np

from ..arguments import FLOATS, float_array, number, one_place, same

#: heads: matrices of the result; queries, keys: rows of each; width: of a query and a key, values: of a
#: value. causal: whether a query looks at no key after its own place. scale: what scores are multiplied by.
#: of_q, of_k, of_v, of_mask: for each head where its matrix begins. mask_row, mask_column: elements from the mask of
#: one query, or key, to the next; 0 where one serves all.
Geometry = namedtuple(
    "Geometry", "heads queries keys width values causal scale of_q of_k of_v of_mask mask_row mask_column"
)

BOOLEAN = np.dtype(bool)
HALVES = (np.dtype("float16"), np.dtype("uint16"))  # of 16 bits: float16, and bfloat16 by its bits
SHAPES = "expected q (..., queries, width), k (..., keys, width) and v (..., keys, value width)"


def geometry(q, k, v, mask, is_causal, scale, enable_gqa, kinds=FLOATS):
    """(shape of the result, `Geometry`) of a call; ValueError or TypeError where there is none.

    kinds: the dtypes that q, k and v may have. Those of 16 bits are widened: terms of a mask are float32 there.
    """
    plain = type(q) is type(k) is type(v) is np.ndarray and type(is_causal) is type(enable_gqa) is bool
    if plain and mask is None and (scale is None or type(scale) is float):
        shapes = q.shape, k.shape, v.shape
        return _of_arrays_like(shapes, (q.dtype, k.dtype, v.dtype), is_causal, scale, enable_gqa, kinds)
    return _checked(q, k, v, mask, is_causal, scale, enable_gqa, kinds)


@functools.lru_cache(maxsize=64)  # a layer that is called again need not be checked again
def _of_arrays_like(shapes, dtypes, is_causal, scale, enable_gqa, kinds):
    arrays = (np.broadcast_to(np.zeros((), dtype), shape) for shape, dtype in zip(shapes, dtypes, strict=True))
    return _checked(*arrays, None, is_causal, scale, enable_gqa, kinds)


def _checked(q, k, v, mask, is_causal, scale, enable_gqa, kinds):
    arrays = {"q": q, "k": k, "v": v}
    for name, x in arrays.items():
        float_array(name, x, kinds)
    same("dtype", **arrays)
    if mask is not None:
        float_array("mask", mask, (q.dtype if kinds is FLOATS else FLOATS[0], BOOLEAN))
        arrays["mask"] = mask
    one_place(**arrays)
    for name, value in (("is_causal", is_causal), ("enable_gqa", enable_gqa)):
        if not isinstance(value, bool | np.bool):
            raise TypeError(f"{name} is {value!r}; expected True or False.")
    if mask is not None and is_causal:
        raise ValueError("mask is given and is_causal is True; expected one of them. A mask may itself be causal.")
    factor = None if scale is None else float(number("scale", scale, np.float64))
    shapes = (*(tuple(x.shape) for x in (q, k, v)), None if mask is None else tuple(mask.shape))
    return _of_shapes(shapes, bool(is_causal), factor, bool(enable_gqa))


@functools.lru_cache(maxsize=64)  # a model asks for the same ones in every layer; nobody writes into their arrays
def _of_shapes(shapes, is_causal, scale, enable_gqa):
    q_shape, k_shape, v_shape, mask_shape = shapes
    told = ", ".join(f"{name} {shape}" for name, shape in zip("qkv", shapes[:3], strict=True))
    told += "" if mask_shape is None else f", mask {mask_shape}"
    if min(map(len, shapes[:3])) < 2 or q_shape[-1] != k_shape[-1] or k_shape[-2] != v_shape[-2]:
        raise ValueError(
            f"The shapes are {told}; {SHAPES}, with one width for q and k and one number of keys and values."
        )
    if q_shape[-1] == 0:
        raise ValueError(f"The shapes are {told}; expected a width of at least 1.")
    lead = tuple(shape[:-2] for shape in shapes[:3])
    repeats = _groups(lead, told) if enable_gqa else (1, 1, 1)
    numbered = [_numbered(shape, repeat) for shape, repeat in zip(lead, repeats, strict=True)]
    try:
        lead_shape = np.broadcast_shapes(*(places.shape for places in numbered))
    except ValueError:
        raise ValueError(f"The shapes are {told}; expected leading dimensions that are equal, 1 or missing.") from None
    (queries, width), (keys, values) = q_shape[-2:], v_shape[-2:]
    sizes = queries * width, keys * width, keys * values
    of_q, of_k, of_v = (_spread(n, lead_shape) * size for n, size in zip(numbered, sizes, strict=True))
    of_mask, row, column = _of_mask(mask_shape, lead_shape, queries, keys)
    factor = 1 / math.sqrt(width) if scale is None else scale
    places = of_q, of_k, of_v, of_mask
    g = Geometry(math.prod(lead_shape), queries, keys, width, values, is_causal, factor, *places, row, column)
    return (*lead_shape, queries, values), g


def _groups(lead, told):
    """How many heads of q share each one of q, k and v, the dimension before the last two."""
    if not all(lead):
        raise ValueError(f"The shapes are {told}, and enable_gqa is True; expected a dimension of heads in q, k and v.")
    heads = lead[0][-1]
    for shape in lead[1:]:
        if heads % shape[-1] if shape[-1] else heads:
            raise ValueError(
                f"The shapes are {told}, and enable_gqa is True; expected a number of heads of q that is a multiple of "
                "those of k and of v."
            )
    return tuple(heads // shape[-1] if heads else 1 for shape in lead)


def _numbered(shape, repeat):
    """The numbers of the matrices of an array with these leading dimensions, each repeated for its group of heads."""
    places = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    return np.repeat(places, repeat, axis=-1) if repeat > 1 else places


def _spread(places, lead_shape):
    return np.broadcast_to(places, lead_shape).reshape(-1)


def _of_mask(mask_shape, lead_shape, queries, keys):
    """(of_mask, mask_row, mask_column) of a `Geometry`."""
    if mask_shape is None:
        return np.zeros(math.prod(lead_shape), np.int64), 0, 0
    shape = (1,) * (2 - len(mask_shape)) + mask_shape
    try:
        fits = np.broadcast_shapes(shape, (*lead_shape, queries, keys)) == (*lead_shape, queries, keys)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask has shape {mask_shape}; expected one that can be broadcast to {(*lead_shape, queries, keys)}: "
            "leading dimensions, queries, keys."
        )
    rows, columns = shape[-2:]
    of_mask = _spread(_numbered(shape[:-2], 1), lead_shape) * (rows * columns)
    return of_mask, columns if rows > 1 else 0, int(columns > 1)
