"""The names of ``numba.cuda`` in OpenCL C, but for barriers and what a warp does together (warps.py)."""

import ast

from numba.core import types

from simt.typed.device_names import TYPES

from .values import LARGEST, NAMES, NOTHING, SUM, UNARY, ArrayValue, Several, converted, literal, number


class Cuda:
    """The part of a function's translation that knows them."""

    def _cuda(self, node, called):
        if called.kind in ("barrier", "warp"):
            return self.collective(node, called)
        path = called.path
        if path in ("grid", "gridsize"):
            return self._grid(node, called)
        if called.kind == "array":
            return self.made_array(node, called)
        if called.kind == "constant array":
            (values,) = self.source.bind(node, called)
            return self.expression(values)
        if called.kind == "fence":
            fences = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE" if "block" in path else "CLK_GLOBAL_MEM_FENCE"
            self.emit(f"mem_fence({fences});")
            return NOTHING
        if called.kind == "pause":
            return NOTHING
        if called.kind == "atomic":
            return self.atomic(node, called)
        if called.kind == "group":
            return NOTHING
        return self._arithmetic_of_cuda(node, called)

    def _grid(self, node, called):
        (dimensions,) = self.source.bind(node, called)
        count = self.source.static(dimensions)[1]
        which = "get_global_id" if called.path == "grid" else "get_global_size"
        low, uniform = (0, False) if called.path == "grid" else (1, True)
        # of type size_t, which no index needs: as long
        axes = [
            number(f"(long){which}({axis})", types.int64, low, LARGEST, uniform=uniform, binds=UNARY)
            for axis in range(count)
        ]
        return axes[0] if count == 1 else Several(tuple(axes))

    def _arithmetic_of_cuda(self, node, called):
        path = called.path
        if path == "lanemask_lt":
            return number("(1u << lane_id()) - 1", types.uint32, uniform=False, binds=SUM)
        values = [self.number_of(n) for n in self.source.bind(node, called)]
        uniform = all(v.uniform for v in values)
        kinds, result = self.typed(node, TYPES[called], *(v.type for v in values))
        if path == "selp":
            return self.choice(node, values[0], values[1], values[2])
        operands = [converted(v, k) for v, k in zip(values, kinds, strict=True)]
        if path in ("fma", "cbrt"):
            return number(f"{path}({', '.join(v.text for v in operands)})", result, uniform=uniform)
        (x,) = operands
        x = x.text if x.constant is None else f"({NAMES[kinds[0]]}){x.text}"
        if path == "popc":
            return number(f"popcount({x})", result, 0, 64, uniform=uniform)
        if path == "clz":
            return number(f"clz({x})", result, 0, 64, uniform=uniform)
        if path == "ffs":
            unsigned = f"as_u{NAMES[kinds[0]].lstrip('u')}({x})"
            bits, zero = kinds[0].bitwidth, f"({unsigned} & (0 - {unsigned}))"
            return number(
                f"({x} == 0 ? 0 : {bits} - (int)clz({zero}))", result, 0, 64, uniform=uniform, made=types.int32
            )
        if path == "brev":
            return number(f"reversed_bits_{NAMES[result]}({x})", result, uniform=uniform)
        return self.refuse(node, f"cuda.{path}")

    def atomic(self, node, called):
        """cuda.atomic: OpenCL's function where it has one, else compare and exchange."""
        nodes = self.source.bind(node, called)
        array = self.expression(nodes[0])
        if not isinstance(array, ArrayValue):
            self.refuse(node, "an atomic operation on what is no array")
        if array.space == "__private":
            self.refuse(node, "an atomic operation on a local array")
        operation, kind = called.path.partition(".")[2], array.dtype
        if operation == "compare_and_swap":
            indices, operands, operation = [literal(0)], nodes[1:], "cas"
        else:
            parts = nodes[1].elts if isinstance(nodes[1], ast.Tuple) else [nodes[1]]
            indices, operands = self.index(node, array, parts), nodes[2:]
        operands = [converted(self.number_of(n), kind, implicit=True).text for n in operands]
        address, c = f"&{self.place(array, indices)}", NAMES[kind]
        text = self._atomic_text(operation, kind, c, array.space, address, operands)
        if isinstance(getattr(node, "parent_statement", None), ast.Expr):
            self.emit(f"{text};")
            return NOTHING
        name = self.fresh("before")
        self.define(c, name, text, "const ")
        return number(name, kind, uniform=False)

    def _atomic_text(self, operation, kind, c, space, address, operands):
        prefix = "atomic" if kind.bitwidth == 32 else "atom"
        native = {"add": "add", "sub": "sub", "max": "max", "min": "min", "and_": "and", "or_": "or", "xor": "xor",
                  "exch": "xchg", "cas": "cmpxchg", "nanmax": "max", "nanmin": "min"}  # fmt: skip
        if isinstance(kind, types.Integer) and operation in native:
            return f"{prefix}_{native[operation]}({', '.join([address, *operands])})"
        return f"{self.program.atomic(operation, c, space)}({', '.join([address, *operands])})"
