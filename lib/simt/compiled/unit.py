"""A kernel, compiled: from its Python source to a function that runs a range of its blocks."""

import ast
import builtins
import math

import numpy as np
from numba import njit, typeof
from numba.core import types
from numba.core.errors import NumbaError

from ..errors import Unsupported
from ..executor.lowering import Lowering as ExecutorLowering
from ..executor.operations import assigned_name
from ..limits import check_shared
from ..source.tree import tree_of
from . import accesses as memory
from . import storage
from .casts import is_known
from .core import HIDDEN, assign, call, name, parse, show
from .devices import DeviceFunctions, function_of, with_stop
from .generation import FAILED, Generation
from .inference import Sequential, infer
from .interchange import choose
from .lowering import Lowering
from .namespace import CHEAP, NAMESPACE, PURE
from .replication import Replication, assigned_in, leaves
from .splitting import Splitting, structured
from .uniformity import Uniformity
from .vectorise import ThreadLoops

MOST_STACK = 4 << 20  # bytes of shared and private memory of one block


class Unit(DeviceFunctions):
    """One kernel on its way to a compiled function, for one block shape and one set of argument types."""

    DIVERGED, RAISED = 1 << 60, 1 << 61

    def __init__(self, kernel, program, argument_types, block, checked, order, shared_bytes):
        self.kernel, self.program, self.block = kernel, program, block
        self.argument_types, self.checked, self.order, self.shared_bytes = (
            argument_types,
            checked,
            order,
            shared_bytes,
        )
        self.name = kernel.py_func.__name__
        self.threads = block[0] * block[1] * block[2]
        self.namespace = {"__builtins__": builtins, "__name__": __name__, **NAMESPACE}
        self.pure, self.cheap = set(PURE), set(CHEAP)
        self.lines = {}  # bit of the flag -> lines of the source
        self.counter = 0
        self.shared, self.private = {}, {}  # name of an array -> (shape, dtype)
        self.shared_used = 0
        self.devices, self.in_progress, self.inlining = {}, set(), []
        self.warp = self.wide = self.returns = self.uses_warp_masks = False
        self.node = tree_of(kernel.py_func)
        self.origin = ast.copy_location(ast.Pass(), self.node)
        self.origin.end_lineno = self.origin.lineno
        self.parameters = [a.arg for a in self.node.args.posonlyargs + self.node.args.args]
        self.stages = {}  # what the passes made, as text

    # -- what lowering asks for ---------------------------------------------------------------------------------------

    def temporary(self):
        self.counter += 1
        return f"_k{self.counter}"

    def bind(self, value, wanted=None):
        """The name under which compiled code finds a Python object."""
        for known, other in self.namespace.items():
            if other is value:
                return known
        made = wanted if wanted and wanted not in self.namespace else f"_c{len(self.namespace)}"
        self.namespace[made] = value
        return made

    def bind_pure(self, function, wanted=None):
        made = self.bind(function, wanted)
        self.pure.add(made)
        if wanted:
            self.cheap.add(made)
        return made

    def constant_array(self, values):
        return self.bind(values)

    def site(self, line):
        """A number for a line with an access; its bit in the flag names the line again."""
        return self.lines.setdefault(line, len(self.lines))

    def lines_of(self, flag):
        return sorted(line for line, number in self.lines.items() if flag >> (number % 48) & 1)

    def collective(self, kind):
        if kind not in ("block", "count", "and", "or"):
            self.warp = True

    def is_shared(self, identifier):
        return identifier in self.shared

    def dtype_of_argument(self, node):
        """``a.dtype`` where ``a`` is an argument."""
        if isinstance(node, ast.Attribute) and node.attr == "dtype" and isinstance(node.value, ast.Name):
            kinds = dict(zip(self.parameters, self.argument_types, strict=True))
            return getattr(kinds.get(node.value.id), "dtype", None)
        return None

    def refuse_line(self, construct, node=None):
        line = self.names.program.sites
        number = self.names.site(node or self.node, "unsupported")
        raise Unsupported(construct, site=line.sites[number], kernel=self.name)

    def refuse_variable(self, construct, variable):
        """Refuse with the line where ``variable`` is first assigned."""
        found = (n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == variable)
        self.refuse_line(construct, next((n for n in found if isinstance(n.ctx, ast.Store)), None))

    def declare(self, space, shape, dtype, wanted, node):
        identifier = wanted or self.temporary()
        if space == "local":
            self.private[identifier] = shape, dtype
            return identifier
        if 0 in shape:
            if len(shape) != 1:
                self.refuse_line("a dynamic shared array of several axes", node)
        else:
            itemsize = np.dtype(str(dtype) if dtype != types.boolean else "bool").itemsize
            self.shared_used = -(-self.shared_used // 16) * 16 + math.prod(shape) * itemsize
            check_shared(self.shared_used, self.shared_bytes, assigned_name(self.node, node) or identifier)
        self.shared[identifier] = shape, dtype
        return identifier

    # -- memory of a block --------------------------------------------------------------------------------------------

    def storage(self, kind):
        self._take(self.threads * max(1, getattr(kind, "bitwidth", 8) // 8))
        return self._cached(("storage", kind), lambda: storage.per_thread(kind, self.threads))

    def zero(self, kind):
        return self._cached(("zero", kind), lambda: storage.zero_of(kind))

    def _cached(self, key, make):
        known = self.__dict__.setdefault("_made", {})
        if key not in known:
            known[key] = self.bind(make())
        return known[key]

    def _take(self, size):
        self.stack = getattr(self, "stack", 0) + size
        if self.stack > MOST_STACK:
            self.refuse_line(f"a block that needs more than {MOST_STACK >> 20} MiB for its threads' variables")

    # -- the passes ---------------------------------------------------------------------------------------------------

    def build(self):
        """The function that runs a range of blocks, as numba compiles it."""
        for parameter, kind in zip(self.node.args.posonlyargs + self.node.args.args, self.argument_types, strict=True):
            if not is_known(kind):
                self.refuse_line(f"an argument of type {getattr(kind, 'dtype', kind)}", parameter)
        body = self.lowered()
        self.stages["lowered"] = show(body)
        body = structured(body, self.temporary, set(), lambda node, what: self.refuse_line(what, node))
        known = {"_t"}
        pieces, replication, probes, variables = self.split(body, known)
        for _ in range(3):
            mixed = self.mixed_scalars(replication, variables) - known
            if not mixed:
                break
            known |= mixed  # a scalar of several types that a piece assigns: every thread gets its own
            pieces, replication, probes, variables = self.split(body, known)
        generation = Generation(self, replication, probes, variables)
        block = generation.block(pieces)
        made = self.function(generation, block)
        return made

    def lowered(self):
        lowering = Lowering(self, self.names, is_kernel=True)

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
        given = [assign(p, name(f"_given_{p}"), self.origin) for p in self.reassigned]
        return [*given, *self.private_arrays(body), *with_stop(body)]

    @property
    def parameter_names(self):
        """The names of the compiled function's parameters: one that the kernel assigns becomes a variable of each
        block."""
        return [f"_given_{p}" if p in self.reassigned else p for p in self.parameters]

    @property
    def names(self):
        if "_names" not in self.__dict__:
            self._names = ExecutorLowering(self.program.kernel, self.node)
        return self._names

    def private_arrays(self, body):
        """``sums = view of this thread's part``: an expression of the thread's number, so it is computed again where
        needed."""
        made = []
        for identifier, (shape, dtype) in self.private.items():
            size = math.prod(shape)
            self._take(size * self.threads * max(1, getattr(dtype, "bitwidth", 8) // 8))
            holder = f"_p_{identifier}"
            maker = self.bind(storage.per_thread(dtype, size * self.threads, poison=True))
            view = self.bind_pure(storage.private_view(shape, dtype, self.threads), f"_view_{identifier}")
            self.holders[holder] = call(maker)
            made.append(assign(identifier, call(view, name(holder), name("_t")), self.origin))
        return made

    holders = property(lambda self: self.__dict__.setdefault("_holders", {}))

    def split(self, body, varying):
        """Pieces, what they need, the types where they begin, and all types of all variables."""
        uniformity = Uniformity(body, self.pure, varying)
        chosen = choose(body, uniformity, self.threads, self.temporary)
        uniformity = Uniformity(body, self.pure, varying)
        splitting = Splitting(uniformity, chosen, self.temporary, lambda node, what: self.refuse_line(what, node))
        pieces = splitting.split(body)
        arguments = {*self.parameter_names, *self.namespace, *self.shared, *self.holders, "_dynamic"}
        replication = Replication(pieces, body, uniformity, arguments, self.cheap)
        sequential = Sequential(replication, self.origin)
        statements = [*self.holding(), *self.sharing(), *sequential.block(pieces)]
        hidden = ["_dynamic", *HIDDEN]
        made = function_of(self.name, [*hidden, *self.parameter_names], statements, self.kernel.py_func, self.namespace)
        places = [types.int64] * (len(HIDDEN) - 2)
        given = (DYNAMIC, memory.FLAG, types.intp, *places, *self.argument_types)
        try:
            found, variables = infer(made, given)
        except NumbaError as error:
            self.refuse_error(error)
        probes = {sequential.probes[number]: kind for number, kind in found.items()}
        return pieces, replication, probes, variables

    def refuse_error(self, error):
        """What numba cannot type, as Unsupported with the line."""
        line = getattr(getattr(error, "loc", None), "line", None)
        text = " ".join(str(error).split())[:200]
        node = next((n for n in ast.walk(self.node) if line and getattr(n, "lineno", None) == line), None)
        self.refuse_line(f"this: numba says {text!r}", node)

    def mixed_scalars(self, replication, variables):
        """Scalars of the block that a piece assigns and that have several types."""
        found = set()
        for piece in leaves(replication.pieces):
            for variable in replication.needs[piece].assigned:
                if replication.is_scalar(variable) and len(variables.get(variable, ())) > 1:
                    found.add(variable)
        return found

    def holding(self):
        return [assign(holder, maker, self.origin) for holder, maker in self.holders.items()]

    def sharing(self):
        """The block's shared arrays, poisoned."""
        made = []
        for identifier, (shape, dtype) in self.shared.items():
            if 0 in shape:
                maker = self._cached(("dynamic", dtype), lambda dtype=dtype: storage.dynamic_array(dtype))
                value = call(maker, name("_dynamic"))
            else:
                value = call(self._cached(("shared", identifier), lambda s=shape, d=dtype: storage.whole_array(s, d)))
            made.append(assign(identifier, value, self.origin))
        if any(0 in shape for shape, _ in self.shared.values()):
            made.append(ast.Expr(call("_poison_bytes", name("_dynamic"))))
        return made

    def function(self, generation, block):
        """The whole function, compiled for this unit's types."""
        setup = list(generation.setup)
        if self.uses_warp_masks:
            for identifier, kind in (("_active", types.boolean), ("_mask", types.int64), ("_part", types.int64)):
                setup.append(assign(identifier, call(self.storage(kind)), self.origin))
        number = "_last - 1 - _n" if self.order == "reverse" else "_first + _n"
        place = parse(
            f"_b = {number}\n_bx = _between(_b % _gx, 0, 2147483648)\n_by = _between(_b // _gx % _gy, 0, 65536)\n"
            "_bz = _between(_b // (_gx * _gy), 0, 65536)\n_tx = 0\n_ty = 0\n_tz = 0\n_t = 0",
            self.origin,
        )
        check = parse(FAILED, self.origin)
        body = [*place, *self.holding(), *self.sharing(), *block, *check]
        loop = ast.For(name("_n", True), parse("range(_last - _first)", self.origin)[0].value, body, [])
        statements = [assign("_flag", call("_new_flag"), self.origin), *setup, loop]
        parameters = ["_first", "_last", "_gx", "_gy", "_gz", "_stop", "_result", "_dynamic", *self.parameter_names]
        made = function_of(self.name, parameters, statements, self.kernel.py_func, self.namespace)
        self.stages["generated"] = show([made.tree])
        compiled = njit(error_model="numpy", nogil=True, _nrt=False, pipeline_class=ThreadLoops)(made)
        given = (types.int64,) * 5 + (types.intp, typeof(np.zeros(3, np.int64)), DYNAMIC, *self.argument_types)
        try:
            compiled.compile(given)
        except NumbaError as error:
            self.refuse_error(error)
        self.compare_types(compiled.overloads[given].type_annotation.typemap, generation.variables)
        return compiled

    def compare_types(self, typemap, variables):
        """A last check: no variable may have a type that it does not have in the kernel as one thread runs it."""
        for identifier, kind in typemap.items():
            variable = identifier.partition(".")[0]
            if variable in variables and types.unliteral(kind) not in variables[variable]:
                shown = ", ".join(sorted(map(str, variables[variable])))
                self.refuse_variable(
                    f"a variable {variable!r} that would become {kind}, where numba has {shown}", variable
                )


DYNAMIC = types.Array(types.uint8, 1, "C")
