"""Arrays in OpenCL C: where an element lies, views, vectors of neighbours, arrays of a block or thread."""

import ast

from numba.core import types
from numba.np.numpy_support import from_dtype

from simt.numbers import numpy_dtype

from .values import (
    LARGEST,
    NAMES,
    PRODUCT,
    STORED,
    SUM,
    ArrayValue,
    Several,
    Value,
    converted,
    in_parentheses,
    literal,
    number,
)

MOST_CONSTANTS = 64 << 10  # bytes of __constant memory that every device has


class Arrays:
    """The part of a function's translation that knows arrays."""

    # -- where an element lies ----------------------------------------------------------------------------------------

    def index(self, node, array, parts):
        """Indices of a subscript or an atomic as Values, Python's meaning of negative ones included."""
        values = []
        for part in parts:
            value = self.expression(part)
            values += value.items if isinstance(value, Several) else [value]
        if len(values) > len(array.shape):
            self.refuse(node, f"an array of {len(array.shape)} axes, with {len(values)} indices")
        return [self._from_the_start(node, v, n) for v, n in zip(values, array.shape, strict=False)]

    def _from_the_start(self, node, value, extent):
        if not isinstance(value, Value) or not value.is_whole:
            self.refuse(node, "an index that is no whole number")
        if value.constant is not None and value.low < 0:
            return self.arithmetic("+", extent, value, types.int64)
        if value.low >= 0:
            return value
        text = f"wrap({value.text}, {extent.text})"
        return number(text, types.int64, 0, LARGEST, uniform=value.uniform)

    def place(self, array, indices):
        """The text of an element: ``a[i * a_shape1 + j]``, ``tile[y][x]``."""
        if array.fixed:
            return array.text + "".join(f"[{i.text}]" for i in indices)
        return f"{array.text}[{self.offset(array, indices).text}]"

    def offset(self, array, indices):
        """How many elements after the first one an element lies, as a Value; of fewer indices than axes, a view's."""
        total = None
        if array.strides is None:
            for axis in range(len(array.shape)):
                if total is not None:
                    total = self.product(total, array.shape[axis])
                if axis < len(indices):
                    total = indices[axis] if total is None else self.sum(total, indices[axis])
            return total
        for i, stride in zip(indices, array.strides, strict=False):
            term = self.product(i, stride)
            total = term if total is None else self.sum(total, term)
        return total

    def product(self, a, b):
        if a.constant == 0 or b.constant == 1:
            return a
        if a.constant == 1 or b.constant == 0:
            return b
        return self._plain("*", a, b, PRODUCT, a.high * b.high)

    def sum(self, a, b):
        if a.constant == 0:
            return b
        return a if b.constant == 0 else self._plain("+", a, b, SUM, a.high + b.high)

    def _plain(self, sign, a, b, binds, high):
        """Arithmetic of places in memory, which are never negative: in int where that surely holds it."""
        small = all(x.in_c.bitwidth <= 32 for x in (a, b) if isinstance(x.in_c, types.Integer))
        if small and high > LARGEST:
            a = converted(a, types.int64) if a.constant is None else a
            b = b if a.constant is None else converted(b, types.int64)
        made = types.int32 if small and high <= LARGEST else types.int64
        text = f"{in_parentheses(a, binds)} {sign} {in_parentheses(b, binds + 1)}"
        return Value(text, types.int64, 0, high, a.uniform and b.uniform, binds, made=made)

    # -- loads, stores, views -----------------------------------------------------------------------------------------

    def load(self, node, array, indices):
        kind = array.dtype
        uniform = array.uniform and all(i.uniform for i in indices) and array.space != "__private"
        element = self.place(array, indices)
        if kind == types.float16:
            return Value(f"vload_half(0, {self.address(array, indices)})", kind, uniform=uniform)
        made = None if kind != types.boolean else types.uint8
        return number(element, kind, uniform=uniform, made=made)

    def address(self, array, indices):
        if array.fixed and len(indices) == len(array.shape):
            return f"&{self.place(array, indices)}"
        offset = self.offset(array, indices)
        return array.text if offset.constant == 0 else f"{array.text} + {in_parentheses(offset, SUM)}"

    def store(self, node, array, indices, value):
        self.emit(self.stored(node, array, indices, value))

    def stored(self, node, array, indices, value):
        """The statement that stores a value."""
        if array.readonly or array.space == "__constant":
            self.refuse(node, "a store into an array that is read-only")
        if array.dtype == types.float16:
            return f"vstore_half_rte({converted(value, types.float32, True).text}, 0, {self.address(array, indices)});"
        return f"{self.place(array, indices)} = {converted(value, array.dtype, implicit=True).text};"

    def on_Subscript(self, node):
        known, item = self.source.static_item(node)
        if known:
            return self.frozen(node, item)
        of = self.expression(node.value)
        if isinstance(of, Several):
            return self._item(node, of)
        if not isinstance(of, ArrayValue):
            self.refuse(node, f"an index into `{ast.unparse(node.value)}`, which is no array")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(p, ast.Slice) for p in parts):
            return self._slice(node, of, parts)
        indices = self.index(node, of, parts)
        return self.load(node, of, indices) if len(indices) == len(of.shape) else self.view(of, indices)

    def _item(self, node, of):
        index = self.expression(node.slice)
        if getattr(index, "constant", None) is None or not isinstance(index, Value):
            self.refuse(node, "an item of a tuple whose number is known only at run time: use cuda.local.array")
        return of.items[index.constant]

    def view(self, array, indices):
        """The rest of an array behind its first indices."""
        offset, rest = self.offset(self.flat(array), indices), len(indices)
        base = self.flat(array).text
        text = base if offset.constant == 0 else f"({base} + {in_parentheses(offset, SUM)})"
        strides = None if array.strides is None else array.strides[rest:]
        uniform = array.uniform and all(i.uniform for i in indices)
        return ArrayValue(text, array.dtype, array.space, array.shape[rest:], strides, False, array.readonly, uniform)

    def flat(self, array):
        """A C array as a pointer to its first element."""
        if not array.fixed or len(array.shape) == 1:
            return ArrayValue(**{**vars(array), "fixed": False})
        return ArrayValue(**{**vars(array), "fixed": False, "text": "&" + array.text + "[0]" * len(array.shape)})

    def strides_of(self, array):
        if array.strides is not None:
            return list(array.strides)
        strides, step = [], literal(1)
        for extent in reversed(array.shape):
            strides.insert(0, step)
            step = self.product(step, extent) if step.constant != 1 else extent
        return strides

    def _slice(self, node, array, parts):
        strides, shape, starts = self.strides_of(array), [], []
        new_strides, contiguous = [], array.strides is None
        flat = self.flat(array)
        for axis, extent in enumerate(array.shape):
            part = parts[axis] if axis < len(parts) else ast.Slice()
            if not isinstance(part, ast.Slice):
                starts.append(self._from_the_start(node, self.expression(part), extent))
                contiguous = contiguous and all(not isinstance(p, ast.Slice) for p in parts[:axis])
                continue
            if part.step is not None:
                self.refuse(node, "a slice with a step: write the index out, x[first + step * i]")
            low = self._limit(part.lower, extent, literal(0))
            high = self._limit(part.upper, extent, extent)
            starts.append(low)
            if part.lower is None and part.upper is None:
                shape.append(extent)
            else:
                length = self.arithmetic("-", high, low, types.int64)
                high_bound = high.high
                shape.append(number(f"max({_long(length)}, 0L)", types.int64, 0, high_bound, uniform=length.uniform))
                contiguous = contiguous and axis == len(array.shape) - len(shape) + len(shape) - 1 - (len(shape) - 1)
            new_strides.append(strides[axis])
        offset = None
        for start, stride in zip(starts, strides, strict=True):
            term = self.product(start, stride)
            offset = term if offset is None else self.sum(offset, term)
        vector = len(new_strides) == 1 and new_strides[0].constant == 1
        text = flat.text if offset.constant == 0 else f"({flat.text} + {in_parentheses(offset, SUM)})"
        keep = None if vector or (contiguous and self._whole_rows(parts, array)) else tuple(new_strides)
        uniform = array.uniform and all(s.uniform for s in starts)
        return ArrayValue(text, array.dtype, array.space, tuple(shape), keep, False, array.readonly, uniform)

    @staticmethod
    def _whole_rows(parts, array):
        """Whether only the first of the axes that stay is cut."""
        cut = [p for p in parts if isinstance(p, ast.Slice)]
        return all(p.lower is None and p.upper is None for p in cut[1:])

    def _limit(self, node, extent, default):
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return default
        value = self.expression(node)
        text = f"slice_start({value.text}, {extent.text})"
        return number(text, types.int64, 0, extent.high, uniform=value.uniform and extent.uniform)

    # -- neighbours ---------------------------------------------------------------------------------------------------

    def load_many(self, node, array, index, count):
        """``count`` neighbours as one vector, whose parts are the items of a tuple."""
        indices = index.items if isinstance(index, Several) else (index,)
        name = self.fresh("four" if count == 4 else "many")
        kind = NAMES[array.dtype]
        if array.dtype == types.float16 or count not in (2, 4, 8, 16):
            self.refuse(node, f"a load of {count} neighbours of {array.dtype}")
        self.define(f"{kind}{count}", name, f"vload{count}(0, {self.address(array, indices)})", "const ")
        uniform = array.uniform and all(i.uniform for i in indices)
        return Several(tuple(number(f"{name}.s{k:x}", array.dtype, uniform=uniform) for k in range(count)))

    def store_many(self, node, array, index, values):
        indices = index.items if isinstance(index, Several) else (index,)
        kind, count = NAMES[array.dtype], len(values.items)
        if array.dtype == types.float16 or count not in (2, 4, 8, 16):
            self.refuse(node, f"a store of {count} neighbours of {array.dtype}")
        parts = ", ".join(converted(v, array.dtype).text for v in values.items)
        self.emit(f"vstore{count}(({kind}{count})({parts}), 0, {self.address(array, indices)});")

    # -- arrays of a kernel's own -------------------------------------------------------------------------------------

    def made_array(self, node, called):
        """``cuda.shared.array`` and ``cuda.local.array``."""
        shape, dtype, _ = self.source.bind(node, called)
        sizes, dtype = self.source.constant_shape(shape), self._dtype(node, dtype)
        if sizes is None:
            self.refuse(node, "an array whose size is no constant")
        name = self._own_name(node)
        space = "__local" if called.path == "shared.array" else "__private"
        kind = STORED[dtype]
        if sizes == (0,) or 0 in sizes:
            if space != "__local":
                self.refuse(node, "a local array without elements")
            self.program.dynamic = True
            extent = number(f"dynamic_bytes / {dtype.bitwidth // 8 or 1}", types.int64, 0, LARGEST, binds=PRODUCT)
            self.hidden.add("dynamic")
            return ArrayValue(f"((__local {kind} *)dynamic)", dtype, "__local", (extent,))
        extents = "".join(f"[{size}]" for size in sizes)
        if space == "__local":
            name = self.program.shared(
                self, id(node), name, f"__local {kind} {{}}{extents} __attribute__((aligned(16)));"
            )
        else:
            self.own_arrays[id(node)] = f"{kind} {name}{extents};"
        return ArrayValue(name, dtype, space, tuple(map(literal, sizes)), fixed=True)

    def _own_name(self, node):
        """The name of the variable that gets an array, where it gets no other."""
        wanted = self.source.assigned_name(node) or "own"
        if self.store_counts.get(wanted) == 1 and self.program.allowed(wanted) not in self.program.taken:
            return self.program.allowed(wanted)
        return self.fresh(wanted, of=id(node))

    def _dtype(self, node, dtype):
        known, value = self.source.static(dtype)
        if not known:
            value = self.expression(dtype)
            known = isinstance(value, types.Type)
        try:
            kind = value if isinstance(value, types.Type) else from_dtype(numpy_dtype(value))
        except (TypeError, NotImplementedError):
            kind = None
        if kind not in STORED:
            self.refuse(node, f"an array of {ast.unparse(dtype)}: OpenCL C has numbers, no records or complex ones")
        return kind

    def frozen_array(self, node, array):
        """An array from outside, which a kernel has as a constant."""
        kind = from_dtype(array.dtype)
        if kind not in NAMES or kind == types.float16:
            self.refuse(node, f"a constant array of {array.dtype}")
        if array.nbytes > MOST_CONSTANTS:
            self.refuse(node, f"a constant array of {array.nbytes} bytes; 64 KiB are sure: make it an argument")
        wanted = node.id if isinstance(node, ast.Name) else "constants"
        name = self.program.constant_array(array, kind, wanted)
        return ArrayValue(name, kind, "__constant", tuple(map(literal, array.shape)), readonly=True)


def _long(value):
    return converted(value, types.int64).text if value.in_c != types.int64 else value.text
