"""The register tile: the mechanism inside every fast kernel of this book that multiplies and adds.

A matrix product does one multiply-add for every two loads if it is written as a loop: the loads are the limit.
Keep a small *tile* of the result in vector registers instead, ``rows`` x ``vectors``, and every value that is
loaded serves many multiply-adds::

                            b: `vectors` vectors, loaded             for each step k:
                            [........][........]                         load the vectors of b
    a: one number per row   +--------+--------+                          for each row r:
      a0, in every lane     |  acc   |  acc   |                              put a[r, k] into every lane
      a1                    |  acc   |  acc   |                              for each vector v:
      a2                    |  acc   |  acc   |                                  acc[r, v] += a[r, k] * b[k, v]
                            +--------+--------+

A tile of 8 x 3 vectors does 24 multiply-adds with 11 loads in each step. The tile is a value of numba's type system
(`TileType`), made, changed and stored inside one ``@njit`` function::

    acc = tile_zeros(c, 8, 3)
    acc = tile_multiply_add(acc, depth, a, i, (a_row, a_step), b, j, b_step)
    tile_store(c, start, c_row, acc)

Matmul, convolution (rows = channels, lanes = pixels), attention (rows = keys, lanes = queries) and LSTM (rows = gates,
lanes = samples) differ only in what rows, lanes and steps mean, that is, in the strides they pass.

All offsets and strides count elements, from the first element of the array, whose layout is not looked at. They
are not checked. Offsets that are constants in the calling function become constants in the instructions.
Why a compiler must be told: LLVM does not keep 28 scalar sums of a Python loop as vectors in registers by itself.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from .emitted import emitted
from .target import vector_registers, vector_width
from .vector import ELEMENTS, call_llvm, fetch, splat

INDEX = ir.IntType(64)


class TileType(types.Type):
    """numba's type of a tile: ``rows`` x ``vectors`` vectors of ``lanes`` elements of ``dtype``."""

    def __init__(self, dtype, rows, vectors, lanes):
        self.dtype, self.rows, self.vectors, self.lanes = dtype, rows, vectors, lanes
        super().__init__(name=f"tile({dtype}, {rows} x {vectors} x {lanes})")

    @property
    def itemsize(self):
        return self.dtype.bitwidth // 8

    @property
    def places(self):
        """(row, vector) of each of the tile's vectors, in the order in which they are stored."""
        return [(r, v) for r in range(self.rows) for v in range(self.vectors)]


@register_model(TileType)
class _TileModel(models.PrimitiveModel):
    """For LLVM a tile is an array of vectors, which it splits into single registers."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.ArrayType(_vector(fe_type), fe_type.rows * fe_type.vectors))

    def as_data(self, builder, value):
        """See the model of a vector."""
        raise TypingError(f"a {self.fe_type} lives in registers, not in a list or a generator; arrays hold its numbers")


def _vector(tile):
    element = ir.FloatType() if tile.dtype == types.float32 else ir.DoubleType()
    return ir.VectorType(element, tile.lanes)


def _suffix(tile):
    return f"v{tile.lanes}{'f32' if tile.dtype == types.float32 else 'f64'}"


def _unpack(builder, tile, value):
    """The tile's vectors as a list of LLVM values."""
    return [builder.extract_value(value, k) for k in range(len(tile.places))]


def _pack(builder, tile, vectors):
    """The inverse of `_unpack`."""
    value = ir.Constant(ir.ArrayType(_vector(tile), len(vectors)), ir.Undefined)
    for k, vector in enumerate(vectors):
        value = builder.insert_value(value, vector, k)
    return value


def first_element(context, builder, array, value):
    """LLVM: the address of the first element of an array, whatever its layout."""
    return context.make_array(array)(context, builder, value).data


def as_index(context, builder, index_type, value):
    """LLVM: an integer of any of numba's types as an index."""
    return context.cast(builder, value, index_type, types.intp)


def constant(value):
    """LLVM: a number known to the compiler, as an index."""
    return ir.Constant(INDEX, value)


def _multiple(builder, stride, factor):
    """stride * factor; LLVM folds it where the stride is a constant."""
    return builder.mul(stride, constant(factor))


def load_vector(builder, tile, data, offset):
    """LLVM: a vector as wide as the tile's, from ``offset`` elements after ``data``."""
    address = builder.bitcast(builder.gep(data, [offset]), _vector(tile).as_pointer())
    return builder.load(address, align=tile.itemsize)


def store_vector(builder, tile, data, offset, vector):
    """LLVM: the inverse of `load_vector`."""
    address = builder.bitcast(builder.gep(data, [offset]), _vector(tile).as_pointer())
    builder.store(vector, address, align=tile.itemsize)


def offset_of(builder, tile, row, r, v):
    """LLVM: the offset of vector v of row r in an array with ``row`` elements from one row to the next."""
    return builder.add(_multiple(builder, row, r), constant(v * tile.lanes))


# ---- what may be passed ----------------------------------------------------------------------------------


def check_array(name, array, dtype=None):
    """A message to the person if ``array`` cannot be used by the function ``name``."""
    if not isinstance(array, types.Array) or array.dtype not in ELEMENTS:
        raise TypingError(f"{name} expects an array of float32 or float64, not {array}")
    if dtype is not None and array.dtype != dtype:
        raise TypingError(f"{name} expects an array of {dtype}, the tile's dtype, not {array}")


def _check_tile(name, tile):
    if not isinstance(tile, TileType):
        raise TypingError(f"{name} expects a tile, as tile_zeros or tile_load makes one, not {tile}")


def check_writable(name, array):
    """A message to the person if ``array`` is read-only."""
    if not array.mutable:
        raise TypingError(f"{name} expects an array that may be written; this one is read-only")


def _tile_type(name, array, rows, vectors, lanes):
    """The type of a new tile."""
    check_array(name, array)
    for size in (rows, vectors, *([] if lanes is None else [lanes])):
        if not isinstance(size, types.IntegerLiteral):
            raise TypingError(f"{name} expects constants for rows, vectors and lanes, not {size}")
        if size.literal_value < 1:
            raise TypingError(f"{name} expects at least 1 row, vector and lane, not {size.literal_value}")
    width = vector_width(ELEMENTS[array.dtype]) if lanes is None else lanes.literal_value
    return TileType(array.dtype, rows.literal_value, vectors.literal_value, width)


def _given(optional):
    """numba's type of an argument that may be left out."""
    return types.none if optional is None else optional


# ---- make, load, store -----------------------------------------------------------------------------------


@intrinsic(prefer_literal=True)
def tile_zeros(typingctx, like, rows, vectors, lanes=None):
    """``tile_zeros(like, rows, vectors)``: a tile of zeros, with the dtype of the array ``like``.

    ``rows`` and ``vectors`` are constants. ``lanes``: elements in a vector, if not what the machine has.
    """
    tile = _tile_type("tile_zeros", like, rows, vectors, lanes)

    def emit(context, builder, signature, arguments):
        return ir.Constant(ir.ArrayType(_vector(tile), len(tile.places)), None)

    return tile(like, rows, vectors, _given(lanes)), emit


@intrinsic(prefer_literal=True)
def tile_load(typingctx, array, start, row, rows, vectors, lanes=None):
    """``tile_load(array, start, row, rows, vectors)``: the tile whose row r starts at element start + r * row."""
    tile = _tile_type("tile_load", array, rows, vectors, lanes)

    def emit(context, builder, signature, arguments):
        pointer = builder.gep(
            first_element(context, builder, array, arguments[0]), [as_index(context, builder, start, arguments[1])]
        )
        stride = as_index(context, builder, row, arguments[2])
        offsets = [offset_of(builder, tile, stride, r, v) for r, v in tile.places]
        return _pack(builder, tile, [load_vector(builder, tile, pointer, offset) for offset in offsets])

    return tile(array, start, row, rows, vectors, _given(lanes)), emit


@intrinsic
def tile_store(typingctx, array, start, row, tile):
    """``tile_store(array, start, row, tile)``: write row r of the tile to elements start + r * row and after."""
    _check_tile("tile_store", tile)
    check_array("tile_store", array, tile.dtype)
    check_writable("tile_store", array)

    def emit(context, builder, signature, arguments):
        pointer = builder.gep(
            first_element(context, builder, array, arguments[0]), [as_index(context, builder, start, arguments[1])]
        )
        stride = as_index(context, builder, row, arguments[2])
        for (r, v), vector in zip(tile.places, _unpack(builder, tile, arguments[3]), strict=True):
            store_vector(builder, tile, pointer, offset_of(builder, tile, stride, r, v), vector)
        return context.get_dummy_value()

    return types.none(array, start, row, tile), emit


# ---- the loop --------------------------------------------------------------------------------------------


def _not_unrolled(module):
    """LLVM: what it is told of a loop that fills the registers as it is. Of several turns at once it would load all
    vectors first, and write those to the stack for which no register is left."""
    wish = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.disable")])
    loop = ir.MDValue(module, [wish], name=str(len(module.metadata)))
    loop.operands = (loop, wish)  # the first is the node itself, by which LLVM knows it from others
    return loop


@intrinsic
def tile_multiply_add(typingctx, tile, count, a, a_at, a_strides, b, b_at, b_step, taps=None, keep=None):
    """The tile plus, for k = 0 .. count - 1, the outer product of a column of ``a`` and the vectors of ``b``::

        tile[r, :] += a[a_at + r * row + k * step] * b[b_at + k * b_step :]        a_strides = (row, step)

    With ``taps``, a tuple of offsets, each k does several of them, unrolled: for the t-th offset ``shift``::

        tile[r, :] += a[a_at + r * row + k * step + t * tap] * b[b_at + k * b_step + shift :]

    where ``a_strides = (row, step, tap)``. They are the taps of a convolution (shift = ky * width + kx), or merely
    several steps of a matrix product in one turn of the loop.

    With ``keep = (line, at, step)``, the vectors of b are packed on the way: also written to line[at + k * step :].
    They come from far away, and so will those right of them, for the next tile: these are asked for in time.
    """
    _check_tile("tile_multiply_add", tile)
    check_array("tile_multiply_add", a, tile.dtype)
    check_array("tile_multiply_add", b, tile.dtype)
    taps, keep = (None if optional in (None, types.none) else optional for optional in (taps, keep))
    wanted = 2 if taps is None else 3
    if not isinstance(a_strides, types.BaseTuple) or len(a_strides) != wanted:
        raise TypingError(f"tile_multiply_add expects a tuple of {wanted} strides for a, not {a_strides}")
    if taps is not None and not isinstance(taps, types.BaseTuple):
        raise TypingError(f"tile_multiply_add expects a tuple of offsets as taps, not {taps}")
    if keep is not None:
        if not isinstance(keep, types.BaseTuple) or len(keep) != 3 or taps is not None:
            raise TypingError(f"tile_multiply_add expects (line, at, step) to keep vectors in, and no taps, not {keep}")
        check_array("tile_multiply_add", keep[0], tile.dtype)
        check_writable("tile_multiply_add", keep[0])

    def emit(context, builder, signature, arguments):
        def integers(types_, value):
            return [as_index(context, builder, kind, builder.extract_value(value, k)) for k, kind in enumerate(types_)]

        row, step, tap = (*integers(a_strides, arguments[4]), constant(0))[:3]
        shifts = [constant(0)] if taps is None else integers(taps, arguments[8])
        steps = as_index(context, builder, count, arguments[1])
        a_first = builder.gep(
            first_element(context, builder, a, arguments[2]), [as_index(context, builder, a_at, arguments[3])]
        )
        b_first = builder.gep(
            first_element(context, builder, b, arguments[5]), [as_index(context, builder, b_at, arguments[6])]
        )
        b_stride = as_index(context, builder, b_step, arguments[7])
        initial = _unpack(builder, tile, arguments[0])
        if keep is not None:
            line, *index = (builder.extract_value(arguments[9], k) for k in range(3))
            kept_at, kept_step = (
                as_index(context, builder, *typed) for typed in zip(keep.types[1:], index, strict=True)
            )
            kept_first = builder.gep(first_element(context, builder, keep[0], line), [kept_at])

        # The skeleton: before -> loop -> after, or straight to `after`.
        before = builder.block
        loop = builder.append_basic_block("tile.loop")
        after = builder.append_basic_block("tile.after")
        builder.cbranch(builder.icmp_signed(">", steps, constant(0)), loop, after)

        # A phi takes one value on entry, another when the loop comes round.
        builder.position_at_end(loop)
        k = builder.phi(INDEX, "k")
        a_now = builder.phi(a_first.type, "a")
        b_now = builder.phi(b_first.type, "b")
        tile_now = [builder.phi(_vector(tile), f"acc.{r}.{v}") for r, v in tile.places]

        # One step: load the vectors of b, then one number of a for each row.
        multiply_add = f"fmuladd.{_suffix(tile)}"
        sums = list(tile_now)
        for t, shift in enumerate(shifts):
            apart = range(0, tile.vectors * tile.lanes, tile.lanes)
            starts = [builder.add(shift, constant(elements)) for elements in apart]
            b_vectors = [load_vector(builder, tile, b_now, start) for start in starts]
            if keep is not None:
                kept_now = builder.gep(kept_first, [builder.mul(k, kept_step)])
                later = builder.gep(b_now, [constant(tile.vectors * tile.lanes)])
                for v, vector in enumerate(b_vectors):
                    index = constant(v * tile.lanes)
                    store_vector(builder, tile, kept_now, index, vector)
                    fetch(builder, builder.gep(later, [index]))
            for r in range(tile.rows):
                offset = builder.add(_multiple(builder, row, r), _multiple(builder, tap, t))
                number = builder.load(builder.gep(a_now, [offset]), align=tile.itemsize)
                lanes = splat(builder, number, tile.lanes)
                for v in range(tile.vectors):
                    index = r * tile.vectors + v
                    operands = [lanes, b_vectors[v], sums[index]]
                    sums[index] = call_llvm(builder, multiply_add, _vector(tile), operands)

        k_next = builder.add(k, constant(1))
        a_next = builder.gep(a_now, [step])
        b_next = builder.gep(b_now, [b_stride])
        last = builder.block
        turn = builder.cbranch(builder.icmp_signed("<", k_next, steps), loop, after)
        if len(tile.places) + tile.vectors + 1 >= vector_registers():
            turn.set_metadata("llvm.loop", _not_unrolled(builder.module))
        for phi, entry, again in (
            (k, constant(0), k_next),
            (a_now, a_first, a_next),
            (b_now, b_first, b_next),
            *zip(tile_now, initial, sums, strict=True),
        ):
            phi.add_incoming(entry, before)
            phi.add_incoming(again, last)

        builder.position_at_end(after)
        results = []
        for entry, end in zip(initial, sums, strict=True):
            phi = builder.phi(_vector(tile))
            phi.add_incoming(entry, before)
            phi.add_incoming(end, last)
            results.append(phi)
        return _pack(builder, tile, results)

    option_types = _given(taps), _given(keep)
    return tile(tile, count, a, a_at, a_strides, b, b_at, b_step, *option_types), emit


# ---- what may follow the loop: C += acc, C = C * scale + acc, and tiles that reach over the edge ------------


@intrinsic
def tile_scale(typingctx, tile, scale, start):
    """``tile_scale(tile, scale, start)``: every row of the tile times the elements of ``scale`` from ``start`` on."""
    _check_tile("tile_scale", tile)
    check_array("tile_scale", scale, tile.dtype)

    def emit(context, builder, signature, arguments):
        pointer = builder.gep(
            first_element(context, builder, scale, arguments[1]), [as_index(context, builder, start, arguments[2])]
        )
        factors = [load_vector(builder, tile, pointer, constant(v * tile.lanes)) for v in range(tile.vectors)]
        vectors = _unpack(builder, tile, arguments[0])
        return _pack(
            builder, tile, [builder.fmul(x, factors[v]) for (_, v), x in zip(tile.places, vectors, strict=True)]
        )

    return tile(tile, scale, start), emit


def _sum(left, right):
    if not isinstance(left, TileType) or left != right:
        return None

    def emit(context, builder, signature, arguments):
        pairs = zip(*(_unpack(builder, left, value) for value in arguments), strict=True)
        return _pack(builder, left, [builder.fadd(x, y) for x, y in pairs])

    return left(left, right), emit


emitted(operator.add, _sum, (TileType, TileType))


def _lane_masks(builder, tile, columns):
    """For each vector of a row, the lanes that lie in the first ``columns`` columns of the tile."""
    mask_type = ir.VectorType(INDEX, tile.lanes)
    limit = splat(builder, columns, tile.lanes)
    for v in range(tile.vectors):
        numbers = ir.Constant(mask_type, [v * tile.lanes + lane for lane in range(tile.lanes)])
        yield builder.icmp_signed("<", numbers, limit)


def _in_each_row(builder, tile, rows, emit_row):
    """Emit ``emit_row(r)`` under the condition r < rows, for each row of the tile."""
    for r in range(tile.rows):
        with builder.if_then(builder.icmp_signed("<", constant(r), rows)):
            emit_row(r)


@intrinsic
def tile_store_part(typingctx, array, start, row, tile, rows, columns, add):
    """Write, or with ``add`` true add to what is there, the first ``rows`` rows and ``columns`` columns only.

    For tiles that reach over the edge of a matrix: elements outside are neither read nor written.
    """
    _check_tile("tile_store_part", tile)
    check_array("tile_store_part", array, tile.dtype)
    check_writable("tile_store_part", array)

    def emit(context, builder, signature, arguments):
        pointer = builder.gep(
            first_element(context, builder, array, arguments[0]), [as_index(context, builder, start, arguments[1])]
        )
        stride = as_index(context, builder, row, arguments[2])
        vectors = _unpack(builder, tile, arguments[3])
        rows_, columns_ = (
            as_index(context, builder, *pair) for pair in ((rows, arguments[4]), (columns, arguments[5]))
        )
        masks = list(_lane_masks(builder, tile, columns_))
        adding = splat(builder, arguments[6], tile.lanes)
        align = ir.Constant(ir.IntType(32), tile.itemsize)
        nothing = ir.Constant(_vector(tile), None)
        kind = f"{_suffix(tile)}.p0"

        def emit_row(r):
            for v, mask in enumerate(masks):
                address = builder.gep(pointer, [offset_of(builder, tile, stride, r, v)])
                address = builder.bitcast(address, _vector(tile).as_pointer())
                wanted = builder.and_(mask, adding)
                there = call_llvm(builder, f"masked.load.{kind}", _vector(tile), [address, align, wanted, nothing])
                total = builder.fadd(there, vectors[r * tile.vectors + v])
                call_llvm(builder, f"masked.store.{kind}", ir.VoidType(), [total, address, align, mask])

        _in_each_row(builder, tile, rows_, emit_row)
        return context.get_dummy_value()

    return types.none(array, start, row, tile, rows, columns, types.boolean), emit
