"""What an access tells: that its index lies outside (``*flag |= bit``), and in a counted launch that it happened.

Every access has a first operand that says so: None, the flag, or (flag, counter, visit, thread), with one more where
races are looked for.
"""

from llvmlite import ir
from numba.core import types

from .counting import count
from .shadow import shadow
from .words import INDEX

BITS = 48  # of the flag: lines share them


class WatchedAccess:
    """The first two operands of an access, in LLVM. ``site`` is a literal: BITS * its number among the counted + the
    bit."""

    def __init__(self, context, builder, kind, value, site):
        self.context, self.builder = context, builder
        self.flag = self.counter = None
        self.bit, self.site = 1 << site.literal_value % BITS, site.literal_value // BITS
        if isinstance(kind, types.BaseTuple):
            parts = [builder.extract_value(value, k) for k in range(len(kind))]
            self.flag, self.counter, self.visit, self.thread = parts[:4]
            self.raced = len(parts) > 4
        elif kind != types.none:
            self.flag = value

    def note(self, ok):
        """``*flag |= ok ? 0 : bit``"""
        if self.flag is not None:
            bad = self.builder.select(ok, INDEX(0), INDEX(self.bit))
            self.builder.store(self.builder.or_(self.builder.load(self.flag), bad), self.flag)

    def access(self, access, kind, make, default=None, more=0, fits=None):
        """``make()`` where the index lies inside, else ``default``.

        access: the Access. kind: LOAD, STORE or ATOMIC. more: elements beside it on the last axis. fits: what else must
        hold.
        """

        def made():
            if self.counter is not None:
                size = self.context.get_abi_sizeof(self.context.get_data_type(access.type.dtype)) * (1 + more)
                number, offset = count(self, access.array, access.pointer(), kind, size)
                if self.raced:
                    shadow(self, number, offset, kind, size)
            return make()

        if self.flag is None:
            return made()
        ok = access.ok(more)
        if fits is not None:
            ok = self.builder.and_(ok, fits())
        self.note(ok)
        return self._guarded(ok, made, default)

    def _guarded(self, ok, make, default):
        builder, before = self.builder, self.builder.block
        inside, after = builder.append_basic_block("inside"), builder.append_basic_block("after")
        builder.cbranch(ok, inside, after)
        builder.position_at_end(inside)
        value = make()
        inside = builder.block
        builder.branch(after)
        builder.position_at_end(after)
        if value is None:
            return None
        phi = builder.phi(value.type)
        phi.add_incoming(value, inside)
        phi.add_incoming(ir.Constant(value.type, None) if default is None else default, before)
        return phi
