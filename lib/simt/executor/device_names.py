"""What a call of each name of ``numba.cuda`` becomes in a lowered kernel."""

import ast

import numpy as np

from ..source.syntax import make_call, make_name
from . import atomics
from .operations import SYNC

FULL = 0xFFFFFFFF


def compute(lowering, node, name):
    """A function of values only, such as ``popc``."""
    return make_call(f"_{name.path}", *(lowering.expression(a) for a in lowering.source.bind(node, name)))


def nothing(lowering, node, name):
    """Sleeping."""
    lowering.source.bind(node, name)
    return ast.Constant(None)


def fence(lowering, node, name):
    """Threads run one at a time and see all of memory: a fence is only noted, for the x-ray."""
    lowering.source.bind(node, name)
    lowering.program.fences = True
    return (
        make_call("_fence", make_name("_t"), name.path != "threadfence_block")
        if lowering.traced
        else ast.Constant(None)
    )


def index(lowering, node, name):
    """``grid(n)`` and ``gridsize(n)``."""
    (dimensions,) = lowering.source.bind(node, name)
    known, count = lowering.source.static(dimensions)
    if not (known and type(count) is int and count in (1, 2, 3)):
        lowering.source.refuse(node, f"the argument of cuda.{name.path}() must be the constant 1, 2 or 3")
    return make_call(f"_{name.path}", make_name("_t"), count)


def barrier(lowering, node, name):
    """``syncthreads`` and its three variants with a predicate."""
    predicate = [lowering.expression(a) for a in lowering.source.bind(node, name)]
    lowering.lowered.synchronises = True
    site = lowering.site(node, "barrier")
    variant = name.path.partition("_")[2]  # "", "count", "and", "or"
    predicate = predicate or [ast.Constant(None)]
    parts = [ast.Constant(SYNC["block"]), ast.Constant(site), ast.Constant(variant), *predicate, *lowering.way()]
    return ast.Yield(ast.Tuple(parts, ast.Load()))


def warp(lowering, node, name):
    """A warp operation: (mask, value, ...) of each lane; the engine gives each lane its result."""
    operands = lowering.source.bind(node, name)
    lowering.lowered.synchronises = True
    site = lowering.site(node, "collective")
    values = [ast.Constant(FULL) if a is None else lowering.expression(a) for a in operands]
    visit = lowering.visited() if name.path == "activemask" else []  # lanes that are together make one visit
    head = [ast.Constant(SYNC["warp"]), ast.Constant(site), ast.Constant(name.path)]
    return ast.Yield(ast.Tuple(head + values + visit, ast.Load()))


def array(lowering, node, name):
    """``shared.array`` and ``local.array``: the shape must be known before the kernel runs, as for a GPU."""
    source, space = lowering.source, name.path.partition(".")[0]
    shape, dtype, _ = source.bind(node, name)
    size = source.constant_shape(shape)
    if size is None:
        source.refuse(
            node,
            f"the shape of cuda.{name.path} must be a constant: a number, a global or closure variable, or "
            "a tuple of them. Numba does no arithmetic here: compute it outside the kernel (PADDED = TILE + 1)",
        )
    site = lowering.site(node, "allocation")
    variable = source.assigned_name(node) or space
    known, value = source.static(dtype)
    kind = make_name(lowering.constant(value)) if known else lowering.expression(dtype)
    return make_call(f"_{space}", make_name("_t"), site, ast.Constant(size), kind, variable)


def constant_array(lowering, node, name):
    (values,) = lowering.source.bind(node, name)
    known, value = lowering.source.static(values)
    if not (known and isinstance(value, np.ndarray)):
        lowering.source.refuse(node, "cuda.const.array_like() takes a NumPy array that is a global or closure variable")
    variable = lowering.source.assigned_name(node) or ast.unparse(values)
    return make_call("_constant_array", make_name(lowering.constant(value)), variable)


def atomic(lowering, node, name):
    """``cuda.atomic.add(array, index, value)`` and its family."""
    values = [lowering.expression(a) for a in lowering.source.bind(node, name)]
    operation = name.path.partition(".")[2]
    if operation == "compare_and_swap":
        operation = "cas"
        values.insert(1, ast.Constant(0))
    site = lowering.site(node, "atomic")
    if node is not lowering.unused:
        lowering.program.tickets = True
    elif operation == "exch":
        lowering.program.sets.add(site)
    target, key, *rest = values
    return make_call("_atomic", operation, target, key, ast.Tuple(rest, ast.Load()), site, *lowering.visited())


def this_grid(lowering, node, name):
    lowering.source.bind(node, name)
    return ast.Constant("grid group")


#: path -> function(lowering, node, name) that lowers a call of it
CALLS = {
    "grid": index, "gridsize": index,
    "syncthreads": barrier, "syncthreads_count": barrier, "syncthreads_and": barrier, "syncthreads_or": barrier,
    "syncwarp": warp, "activemask": warp,
    "shfl_sync": warp, "shfl_up_sync": warp, "shfl_down_sync": warp, "shfl_xor_sync": warp,
    "ballot_sync": warp, "any_sync": warp, "all_sync": warp, "eq_sync": warp,
    "match_any_sync": warp, "match_all_sync": warp,
    "threadfence": fence, "threadfence_block": fence, "threadfence_system": fence, "nanosleep": nothing,
    "lanemask_lt": compute, "fma": compute, "popc": compute, "clz": compute, "ffs": compute, "brev": compute,
    "cbrt": compute, "selp": compute,
    "shared.array": array, "local.array": array, "const.array_like": constant_array, "cg.this_grid": this_grid,
    **{f"atomic.{operation}": atomic for operation in (*atomics.OPERATIONS, "compare_and_swap")},
}  # fmt: skip
