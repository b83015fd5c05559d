"""CUDA's small vectors in a kernel: ``v = cuda.float4(1, 2, 3, 4)``, then ``v.x`` to ``v.w``. Also ``cuda.float32x4``.

A constructor takes numbers and shorter vectors of its kind, or one vector to copy: ``cuda.float4(cuda.float2(1, 2), 3,
4)``. The executor runs them; the compiled engine leaves them to it.
"""

from numba.core import types

from . import numbers

AXES = "xyzw"


class VectorType:
    """``cuda.float32x4``: makes a `Vector` inside a kernel."""

    types_elsewhere = True  # numba-cuda has them

    def __init__(self, base, length):
        self.base, self.length = base, length
        self.__name__ = f"{base}x{length}"

    def __repr__(self):
        return f"<cuda.{self.__name__}>"

    def __call__(self, *parts):
        convert = numbers.caster(self.base)
        values = []
        for part in parts:
            if isinstance(part, Vector):
                if part.kind.base != self.base:
                    raise TypeError(f"{self.__name__} cannot be made from a {part.kind.__name__}: convert its parts")
                values += part.values
            else:
                values.append(convert(part))
        if len(values) != self.length:
            raise TypeError(f"{self.__name__} takes {self.length} values, {len(values)} came")
        return Vector(self, values)


class Vector:
    """A vector in a kernel."""

    __slots__ = ("kind", "values")

    def __init__(self, kind, values):
        self.kind, self.values = kind, values

    def __getattr__(self, axis):
        index = AXES.find(axis) if len(axis) == 1 else -1
        if not 0 <= index < self.kind.length:
            raise AttributeError(f"a {self.kind.__name__} has no .{axis}")
        return self.values[index]


_BASES = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long longlong", "uint8": "uchar", "uint16": "ushort",
    "uint32": "uint", "uint64": "ulong ulonglong", "float32": "float", "float64": "double",
}  # fmt: skip
VECTORS = {}
for _base, _aliases in _BASES.items():
    for _length in (1, 2, 3, 4):
        _kind = VectorType(getattr(types, _base), _length)
        VECTORS[_kind.__name__] = _kind
        VECTORS.update({f"{alias}{_length}": _kind for alias in _aliases.split()})
