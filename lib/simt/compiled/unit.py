"""A kernel, compiled: from its Python source to a function that runs a range of its blocks."""

import ast

import numpy as np
from numba import njit, typeof
from numba.core import types
from numba.core.errors import NumbaError

from ..errors import Unsupported
from ..interrupts import held_back
from ..source.function import Source
from .blockmemory import BlockMemory
from .casts import OURS, is_known
from .core import FAILED, HIDDEN, assign, call, name, parse, show
from .counted import Counted
from .devices import DeviceFunctions, function_of
from .generation import Generation
from .inference import Sequential, infer
from .interchange import choose
from .lowering import Lowering
from .meetings import KEPT, STAND
from .namespace import Namespace
from .replication import Replication, assigned_in, leaves
from .rounds import with_stop
from .splitting import Splitting, structured
from .uniformity import Uniformity
from .unset import guarded
from .vectorise import ThreadLoops
from .words import FLAG

DYNAMIC = types.Array(types.uint8, 1, "C")
RESULT = typeof(np.zeros(3, np.int64))


class Unit:
    """One kernel on its way to a compiled function, for one block shape and one set of argument types.

    Its parts: ``source`` (what the kernel's names mean), ``namespace`` (the names of generated code), ``memory`` (of a
    block), ``devices`` (device functions it calls).
    """

    ENDLESS, DIVERGED, RAISED = 1 << 59, 1 << 60, 1 << 61

    def __init__(self, kernel, argument_types, block, checked, order, shared_bytes, counted=False, raced=False):
        self.function, self.name = kernel.py_func, kernel.py_func.__name__
        self.argument_types, self.block, self.checked, self.order = argument_types, block, checked, order
        self.threads = block[0] * block[1] * block[2]
        self.source = Source(self.function)
        self.source.node, flags = guarded(self.source.node)
        self.source.locals |= flags
        self.node, self.parameters = self.source.node, self.source.parameters
        self.origin = ast.copy_location(ast.Pass(), self.node)
        self.origin.end_lineno = self.origin.lineno
        self.namespace = Namespace()
        self.memory = BlockMemory(self, shared_bytes)
        self.counted = Counted(self, raced) if counted else None
        self.devices = DeviceFunctions(self)
        self.lines = {}  # line of the source with an access -> its number, and bit in the flag
        self.reassigned = []  # parameters that the kernel assigns
        self.warp = False  # whether there are warp operations
        self.wide = False  # whether there are accesses of 16 bytes
        self.returns = False  # whether threads may leave before a warp operation
        self.uses_warp_masks = False  # whether it must be asked who takes part in a warp operation
        self.keeps = None  # bytes that a block keeps while it waits at a barrier of the grid, where there is one
        self.stages = {}  # what the passes made, as text

    # -- what lowering asks for ---------------------------------------------------------------------------------------

    def site(self, line):
        """A number for a line with an access; its bit in the flag names the line again."""
        return self.lines.setdefault(line, len(self.lines))

    def endless(self, loop):
        """The bits of the flag for a loop that goes on and on."""
        return self.ENDLESS | 1 << self.site(loop.lineno) % 48

    def loop_at(self, lines):
        """The `Site` of the first loop at one of these lines, of the kernel's or of a device function."""
        for source in (self.source, *self.devices.sources.values()):
            for node in ast.walk(source.node):
                if isinstance(node, (ast.While, ast.For)) and node.lineno in lines:
                    return source.site(node, "loop")
        return None

    def lines_of(self, flag):
        return sorted(line for line, number in self.lines.items() if flag >> (number % 48) & 1)

    def dtype_of_argument(self, node):
        """``a.dtype`` where ``a`` is an argument."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and isinstance(node.value, ast.Name):
            kinds = dict(zip(self.parameters, self.argument_types, strict=True))
            return getattr(kinds.get(node.value.id), "dtype", None)
        return None

    def refuse_line(self, construct, node=None):
        self.source.refuse(node or self.node, construct, Unsupported)

    def refuse_variable(self, construct, variable):
        """Refuse with the line where ``variable`` is first assigned."""
        uses = (n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == variable)
        self.refuse_line(construct, next((n for n in uses if isinstance(n.ctx, ast.Store)), None))

    # -- the passes ---------------------------------------------------------------------------------------------------

    @held_back()
    def build(self):
        """The function that runs a range of blocks, as numba compiles it."""
        for parameter, kind in zip(self.node.args.posonlyargs + self.node.args.args, self.argument_types, strict=True):
            if not is_known(kind):
                self.refuse_line(f"an argument of type {getattr(kind, 'dtype', kind)}", parameter)
        body = self.lowered()
        self.stages["lowered"] = show(body)
        body = structured(body, self.namespace.temporary, set(), lambda node, what: self.refuse_line(what, node))
        known = {"_t"}
        pieces, replication, probes, variables = self.split(body, known)
        for _ in range(3):
            mixed = self.mixed_scalars(replication, variables) - known
            if not mixed:
                break
            known |= mixed  # a scalar of several types that a piece assigns: every thread gets its own
            pieces, replication, probes, variables = self.split(body, known)
        generation = Generation(self, replication, probes, variables)
        return self.compile(generation, generation.block(pieces))

    def lowered(self):
        lowering = Lowering(self, self.source, is_kernel=True)

        def land(jump):
            if not self.warp:
                return []
            self.returns = True
            return [assign("_alive", ast.Constant(False), jump)]

        body = lowering.body(land)
        if self.returns:
            body.insert(0, assign("_alive", ast.Constant(True), self.origin))
        assigned = assigned_in(body)
        self.reassigned = [p for p in self.parameters if p in assigned]
        copies = [assign(p, name(f"_given_{p}"), self.origin) for p in self.reassigned]
        return [*copies, *self.memory.private_views(), *with_stop(body, self)]

    @property
    def parameter_names(self):
        """The names of the compiled function's parameters: one that the kernel assigns becomes a variable of each
        block."""
        return [f"_given_{p}" if p in self.reassigned else p for p in self.parameters]

    @property
    def hidden(self):
        """What device functions get besides their arguments."""
        return (*HIDDEN, *(("_counter", "_visit") if self.counted is not None else ()))

    def split(self, body, varying):
        """Pieces, what they need, the types where they begin, and all types of all variables."""
        uniformity = Uniformity(body, self.namespace.pure, varying)
        chosen = choose(body, uniformity, self.threads, self.namespace.temporary)
        uniformity = Uniformity(body, self.namespace.pure, varying)
        splitting = Splitting(
            uniformity, chosen, self.namespace.temporary, lambda node, what: self.refuse_line(what, node)
        )
        pieces = splitting.split(body)
        arguments = {
            *self.parameter_names,
            *self.namespace.objects,
            *self.memory.shared,
            *self.memory.holders,
            "_dynamic",
        }
        replication = Replication(pieces, body, uniformity, arguments, self.namespace.cheap)
        sequential = Sequential(replication, self.origin)
        statements = [*self.memory.statements(), *sequential.block(pieces)]
        hidden = ["_dynamic", *self.hidden]
        python = self.python([*hidden, *self.parameter_names], statements)
        places = [types.int64] * (len(HIDDEN) - 2)
        counted = (FLAG, types.int64) if self.counted is not None else ()
        signature = (DYNAMIC, FLAG, types.intp, *places, *counted, *self.argument_types)
        try:
            crossing, variables = infer(python, signature)
        except NumbaError as error:
            self.refuse_error(error)
        probes = {sequential.probes[number]: kind for number, kind in crossing.items()}
        return pieces, replication, probes, variables

    def python(self, parameters, statements):
        """Generated statements as a Python function."""
        return function_of(self.name, parameters, statements, self.function, self.namespace.objects)

    def refuse_error(self, error):
        """What numba cannot type, as Unsupported with the line."""
        line = getattr(getattr(error, "loc", None), "line", None)
        _, ours, reason = str(error).partition(OURS)
        said = reason.split("\n")[0] if ours else f"numba says {' '.join(str(error).split())[:200]!r}"
        node = next((n for n in ast.walk(self.node) if line and getattr(n, "lineno", None) == line), None)
        self.refuse_line(f"this: {said}", node)

    def mixed_scalars(self, replication, variables):
        """Scalars of the block that a piece assigns and that have several types."""
        mixed = set()
        for piece in leaves(replication.pieces):
            for variable in replication.needs[piece].assigned:
                if replication.is_scalar(variable) and len(variables.get(variable, ())) > 1:
                    mixed.add(variable)
        return mixed

    def compile(self, generation, block):
        """The whole function, compiled for this unit's types."""
        setup = list(generation.setup)
        if self.uses_warp_masks:
            for identifier, kind in (("_active", types.boolean), ("_mask", types.int64), ("_part", types.int64)):
                setup.append(assign(identifier, call(self.memory.per_thread(kind)), self.origin))
        setup.insert(0, assign("_flag", call("_new_flag"), self.origin))
        indices = parse(
            "_bx = _between(_b % _gx, 0, 2147483648)\n_by = _between(_b // _gx % _gy, 0, 65536)\n"
            "_bz = _between(_b // (_gx * _gy), 0, 65536)\n_tx = 0\n_ty = 0\n_tz = 0\n_t = 0\n_turns = 0",
            self.origin,
        )
        names, counts, kinds = self.parameter_names, [], ()
        if self.counted is not None:
            names, numbered = self.counted.given(names)
            setup[1:1] = numbered
            counts, kinds = ["_counts"], (types.intp,)
            begin = parse("_begin_block(_counter)\n" + "_enter(_counter, _b)" * self.counted.raced, self.origin)
            block = [*begin, *block, *parse("_end_block(_counter)", self.origin)]
        body = [*indices, *self.memory.statements(), *block, *parse(FAILED, self.origin)]
        number = parse("_b = _last - 1 - _n" if self.order == "reverse" else "_b = _first + _n")
        hidden = ["_gx", "_gy", "_gz", "_stop", "_result", "_dynamic", *counts]
        signature = (types.intp, RESULT, DYNAMIC, *kinds)
        setup, loop = [*setup], [*number, *body]
        if generation.meetings.numbers:  # a function for one block, which has to be left in the middle
            self.keeps = generation.meetings.bytes
            self.barriers = {number: piece.sync for piece, number in generation.meetings.numbers.items()}
            hidden, signature = [*hidden, "_stand", "_kept"], (*signature, STAND, KEPT)
            body = [*parse("_at = _stand[_b]"), *body, *parse("_stand[_b] = -1")]
            block_function = self.compiled(
                ["_b", *hidden, *names], [*setup, *body], (types.int64,) * 4 + signature, generation.variables
            )
            goes_on = "if _stand[_b] >= 0:\n    CALL\nif _result[0] >= 0:\n    return"
            again = ast.Expr(call(self.namespace.bind(block_function), *map(name, ["_b", *hidden, *names])))
            setup, loop = [], [*number, *parse(goes_on, self.origin, CALL=[again])]
        over = ast.For(name("_n", True), parse("range(_last - _first)", self.origin)[0].value, loop, [])
        parameters, signature = ["_first", "_last", *hidden, *names], (types.int64,) * 5 + signature
        return self.compiled(parameters, [*setup, over], signature, generation.variables)

    def compiled(self, parameters, statements, signature, variables):
        """A generated function, compiled. signature: the types of its parameters before those of the kernel."""
        python = self.python(parameters, statements)
        self.stages.setdefault("generated", show([python.tree]))
        made, signature = (
            njit(error_model="numpy", nogil=True, _nrt=False, pipeline_class=ThreadLoops)(python),
            (*signature, *self.argument_types),
        )
        try:
            made.compile(signature)
        except NumbaError as error:
            self.refuse_error(error)
        self.compare_types(made.overloads[signature].type_annotation.typemap, variables)
        return made

    def compare_types(self, typemap, variables):
        """A last check: no variable may have a type that it does not have in the kernel as one thread runs it."""
        for identifier, kind in typemap.items():
            variable = identifier.partition(".")[0]
            if variable in variables and types.unliteral(kind) not in variables[variable]:
                shown = ", ".join(sorted(map(str, variables[variable])))
                self.refuse_variable(
                    f"a variable {variable!r} that would become {kind}, where numba has {shown}", variable
                )
