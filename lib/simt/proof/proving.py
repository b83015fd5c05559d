"""From a kernel to a `Verdict`: walk, ask, and run what z3 holds possible."""

import inspect
import itertools

import numpy as np
from numba import typeof
from numba.core import sigutils
from numba.core import types as nb

from ..kernel import kernel_of
from ..limits import dimensions
from ..xray import xray
from .any_launch import AnyLaunch
from .launches import BARRIERS, RACES, Launches
from .query import candidates
from .state import Frame, State
from .values import Array, NotProvable, Written
from .verdict import ASSUMED, FAILS, FREE, NATURAL, UNKNOWN, Verdict
from .walk import Walk

TRIED = 2  # candidates that are run before a proof is given up


def prove(kernel, *types, block=None, grid=None, where=None):
    """See `simt.prove`."""
    kernel = kernel_of(kernel)
    block = dimensions(block, "blockdim") if block is not None else None
    if grid is not None and block is None:
        raise ValueError("a grid came without a block: a launch to look at has both")
    example = (dimensions(grid, "griddim"), block, types) if grid is not None else None
    kinds, written = kinds_of(kernel, types), set()
    while True:
        any_launch = AnyLaunch(block)
        walk = Walk(any_launch)
        source = walk.source_of(kernel.py_func)
        symbols = parameters(any_launch, source, kinds, written)
        launches = Launches(kernel, any_launch, walk, symbols, xray, example, conditions(where, symbols))
        walk.frames.append(Frame(source))
        try:
            walk.block(source.node.body, State({name: value for name, _, value, _ in symbols}))
            return asked(launches, block)
        except Written as found:  # walk again, knowing that
            written.add(found.name)
        except NotProvable as stopped:
            return tried(launches, block, stopped.reason, stopped.site)


def parameters(any_launch, source, kinds, written):
    """[(name, numba type, value in the walk, symbol for the launch)] of a kernel's parameters."""
    names = source.parameters
    if len(kinds) != len(names):
        raise TypeError(f"{source.name} takes {len(names)} arguments ({', '.join(names)}); types of {len(kinds)} came")
    return [
        (name, kind, *any_launch.argument(name, kind, name in written)) for name, kind in zip(names, kinds, strict=True)
    ]


def conditions(where, symbols):
    """What a function of the parameters says of the launches that are meant, in z3's terms."""
    if where is None:
        return []
    terms = {name: symbol for name, _, _, symbol in symbols}
    wanted = inspect.signature(where).parameters
    told = where(*(_Shaped(terms[n]) if isinstance(terms[n], Array) else terms[n].term for n in wanted))
    return list(told) if isinstance(told, list | tuple) else [told]


class _Shaped:
    """An array in a condition: its shape."""

    def __init__(self, array):
        self.shape = tuple(size.term for size in array.shape)


def asked(launches, block):
    """The verdict on a kernel that could be walked through."""
    name, walk, any_launch = launches.kernel.py_func.__name__, launches.walk, launches.any_launch
    meant, assumed = launches.conditions, ASSUMED
    if meant:
        assumed = (*ASSUMED, f"the launch has {' and '.join(map(str, meant))}".replace("!", " #"))
    if next(candidates(walk, any_launch, meant), None) is None:
        return Verdict(name, FREE, block, assumed=assumed)
    numbers = [symbol.term for _, kind, _, symbol in launches.parameters if isinstance(kind, nb.Integer)]
    natural = [] if meant else [number >= 0 for number in numbers]
    first = None
    possible = itertools.islice(candidates(walk, any_launch, [*meant, *natural]), TRIED)
    for query, parts, what, model in possible:  # a size below zero is no launch to show
        undecided, race = isinstance(model, str), isinstance(what, tuple)
        first = first or (what, undecided)
        confirmed = launches.confirm(query, parts, RACES if race else (*BARRIERS, *RACES))
        if confirmed:
            return Verdict(name, FAILS, block, *confirmed)
    if first is None:
        return Verdict(name, FREE, block, assumed=(*assumed, NATURAL) if natural else assumed)
    return tried(launches, block, *reason_of(walk, *first))


def tried(launches, block, reason, site):
    """The verdict on a kernel that could not be proved: what the x-ray finds in some launches."""
    launches.others()
    name = launches.kernel.py_func.__name__
    for launch in launches.ran:
        for finding in launch.found:
            if getattr(finding, "kind", "") in (*RACES, *BARRIERS):
                return Verdict(name, FAILS, block, launch, finding)
    return Verdict(name, UNKNOWN, block, reason=reason, site=site, ran=launches.clean())


def reason_of(walk, what, undecided):
    """(why, where) for the first candidate that no launch confirmed."""
    if not isinstance(what, tuple):
        return "whether all threads of a block take the same way here, to a barrier, is not known", what
    a, b = what
    for note, site in walk.notes.items():
        return f"the order that {note} makes is not followed, and `{a.site.text}` might meet `{b.site.text}`", site
    again = "itself" if a is b else f"`{b.site.text}` of line {b.site.line}"
    if undecided:
        return f"z3 did not decide whether this meets {again} in another thread", a.site
    return f"this might meet {again} in another thread, as far as its indices can be followed", a.site


def kinds_of(kernel, types):
    """numba's types of the parameters: given as types, as a signature, or as values; or declared with the kernel."""
    if not types and kernel.declared:
        return list(kernel.declared[0][0])
    if len(types) == 1 and (isinstance(types[0], str) or sigutils.is_signature(types[0])):
        return list(sigutils.normalize_signature(types[0])[0])
    return [t if isinstance(t, nb.Type) else _type_of(t) for t in types]


def _type_of(value):
    data = getattr(value, "_data", value)
    return nb.Array(typeof(data).dtype, data.ndim, "C") if isinstance(data, np.ndarray) else typeof(value)
