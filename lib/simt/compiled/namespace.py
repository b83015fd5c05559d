"""The names that lowered code uses, and what they stand for."""

import builtins

import numpy as np
from numba.core import types

from . import accesses as memory
from . import arithmetic, casts, counting, shadow, storage, warp
from .inference import probe
from .vectorise import mark


@arithmetic.inline
def _lane(thread):
    return thread & 31


@arithmetic.inline
def _lanemask_lt(thread):
    return np.uint32((1 << (thread & 31)) - 1)


NAMESPACE = {
    "_load": memory.load, "_item": memory.load, "_store": memory.store, "_load_wide": memory.load_wide,
    "_store_wide": memory.store_wide, "_peek": storage.peek, "_poke": storage.poke, "_new_flag": storage.new_flag,
    "_read_flag": storage.read_flag, "_raise_flag": storage.raise_flag, "_going_on": storage.going_on,
    "_between": storage.between, "_fence": storage.fence, "_poison_bytes": storage.poison_bytes,
    "_min": arithmetic.smaller, "_max": arithmetic.larger, "_shift_left": arithmetic.shift_left,
    "_shift_right": arithmetic.shift_right, "_fma": arithmetic.fused_multiply_add, "_popc": arithmetic.popc,
    "_clz": arithmetic.clz, "_ffs": arithmetic.ffs, "_brev": arithmetic.brev, "_cbrt": arithmetic.cube_root,
    "_selp": arithmetic.select, "_range_length": arithmetic.range_length, "_range_item": arithmetic.range_item,
    "_more_rounds": arithmetic.more_rounds,
    "_int": casts.to_int, "_counted_value": casts.counted, "_shuffled_value": casts.shuffled, "_voted": casts.voted,
    "_int64": casts.caster(types.int64), "_lane": _lane, "_lanemask_lt": _lanemask_lt,
    "_from_whole_warp": warp.from_whole_warp, "_from_participant": warp.from_participant,
    "_participants": warp.participants, "_barrier_count": warp.barrier_count, "_barrier_and": warp.barrier_and,
    "_barrier_or": warp.barrier_or, "_probe": probe, "_mark": mark, "_assume": storage.assume,
    "_visit_of": counting.visit, "_at_address": counting.at_address, "_settle": counting.settle,
    "_keep_met": counting.keep_met, "_bring_met": counting.bring_met,
    "_begin_thread": counting.begin_thread, "_flush": counting.flush, "_meet": counting.meet,
    "_enter": shadow.enter, "_order_block": shadow.order_block, "_order_warps": shadow.order_warps,
    "_order_some": shadow.order_some,
    "_begin_block": counting.begin_block, "_end_block": counting.end_block, "_no_array": counting.no_array,
    "_keep": storage.keep, "_bring": storage.bring,
    **{"_" + n.replace("shfl", "source"): f for n, f in warp.SOURCES.items()},
    **{"_" + n: f for n, f in warp.VOTES.items()},
    **{"_stub_" + n: f for n, f in warp.STUBS.items()},
}  # fmt: skip
CHEAP = frozenset((
    "_item", "_min", "_max", "_shift_left", "_shift_right", "_int", "_counted_value", "_shuffled_value", "_voted",
    "_int64", "_lane", "_lanemask_lt", "_range_length",
    "_range_item", "_selp", "_popc", "_visit_of", "_no_array", "_clz", "_ffs", "_brev", "bool", "float", "abs", "len",
))  # fmt: skip
PURE = CHEAP | {"_fma", "_cbrt", "range", "complex", "round", "pow", "divmod", "enumerate", "zip"}


class Namespace:
    """The names of one kernel's generated code.

    objects: name -> what it stands for, the globals of all that is generated. pure: names of functions without side
    effects; cheap: those of them that may as well be called again.
    """

    def __init__(self):
        self.objects = {"__builtins__": builtins, "__name__": __name__, **NAMESPACE}
        self.pure, self.cheap = set(PURE), set(CHEAP)
        self._counter = 0
        self._once = {}

    def temporary(self):
        """A fresh variable."""
        self._counter += 1
        return f"_k{self._counter}"

    def prefix(self):
        """What makes a device function's variables names of their own where it becomes part of the kernel."""
        self._counter += 1
        return f"_i{self._counter}_"

    def bind(self, value, wanted=None):
        """The name under which compiled code finds a Python object."""
        for known, bound in self.objects.items():
            if bound is value:
                return known
        identifier = wanted if wanted and wanted not in self.objects else f"_c{len(self.objects)}"
        self.objects[identifier] = value
        return identifier

    def bind_pure(self, function, wanted=None):
        """``bind`` for a function without side effects; one with a name of its own is cheap."""
        identifier = self.bind(function, wanted)
        self.pure.add(identifier)
        if wanted:
            self.cheap.add(identifier)
        return identifier

    def once(self, key, make):
        """The name of what ``make()`` returned the first time it was called for this key."""
        if key not in self._once:
            self._once[key] = self.bind(make())
        return self._once[key]
