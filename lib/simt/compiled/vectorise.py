"""How numba's LLVM is changed: loops over threads are not unrolled, and integers wrap.

A loop over 16 threads has a constant length, and LLVM would write it out 16 times before it thinks of vectors; behind a
guard (``if i < n``) nothing becomes a vector afterwards. So the innermost loop over the threads begins with ``mark()``,
and when numba has written the function's LLVM, the marked loops are given the metadata ``llvm.loop.unroll.disable``: so
LLVM makes vector instructions of them.

numba promises LLVM that no signed integer overflows (``nsw``), and what follows from a broken promise is anything. A
hash or a random number generator breaks it. Without the promise integers wrap round, as in the executor; it costs no
time that we could measure.
"""

from numba.core import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic

HINTS = ("llvm.loop.unroll.disable",)


@intrinsic
def mark(typing):
    """The loop whose body begins here runs over threads."""

    def generate(context, builder, signature, args):
        builder.module.__dict__.setdefault("thread_bodies", []).append(builder.block)
        return context.get_dummy_value()

    return types.void(), generate


class _Lower(Lower):
    def post_lower(self):
        super().post_lower()
        for block in self.function.blocks:
            for instruction in block.instructions:
                if instruction.opname in ("add", "sub", "mul"):
                    instruction.flags = tuple(flag for flag in instruction.flags if flag != "nsw")
        order = {block.name: k for k, block in enumerate(self.function.blocks)}
        for body in self.module.__dict__.get("thread_bodies", ()):
            for block in self.function.blocks:
                targets = getattr(block.terminator, "operands", ())
                if len(targets) > 1 and any(t is body for t in targets[1:]):
                    header = block.name.partition(".")[0]  # numba cuts its blocks up: B12, B12.if, B12.endif
                    self._hint(header, order)

    def _hint(self, header, order):
        """Put the hints on the branches that go back to a loop's header."""
        for block in self.function.blocks:
            branch = block.terminator
            back = branch is not None and branch.opname == "br" and len(branch.operands) == 1
            if back and branch.operands[0].name == header and order[block.name] > order[header]:
                hints = [self.module.add_metadata([hint]) for hint in HINTS]
                loop = self.module.add_metadata([f"loop {len(self.module.metadata)}"])
                loop.operands = (loop, *hints)  # a loop's metadata names itself
                branch.set_metadata("llvm.loop", loop)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "lowering_with_thread_loops"

    @property
    def lowering_class(self):
        return _Lower


class ThreadLoops(CompilerBase):
    """numba's pipeline, with marked loops kept as loops and integers that wrap."""

    def define_pipelines(self):
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes[:] = [(_Lowering if p is NativeLowering else p, text) for p, text in manager.passes]
        manager._finalized = False
        manager.finalize()
        return [manager]
