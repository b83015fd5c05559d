"""How a call of each name of ``numba.cuda`` is lowered."""

import ast

from .atomics import ATOMICS
from .core import BLOCK, GRID, THREAD, Sync, call, name
from .warp import SOURCES, VOTES

FULL = 0xFFFFFFFF
_BARRIERS = {"syncthreads": "block", "syncthreads_count": "count", "syncthreads_and": "and", "syncthreads_or": "or"}


def compute(lowering, node, called):
    """A function of values only, such as ``popc``."""
    return call(f"_{called.path}", *lowering.several(lowering.source.bind(node, called)))


def lanemask(lowering, node, called):
    lowering.effects.add("thread")
    return call("_lanemask_lt", name("_t"))


def index(lowering, node, called):
    """``grid(n)`` and ``gridsize(n)``, from the numbers of the thread and the block."""
    (dimensions,) = lowering.source.bind(node, called)
    count = lowering.source.static(dimensions)[1]
    if called.path == "grid":
        lowering.effects.add("thread")
    axes = []
    for axis in range(count):
        extent = ast.Constant(lowering.unit.block[axis])
        if called.path == "grid":
            block_start = ast.BinOp(name(BLOCK[axis]), ast.Mult(), extent)
            axes.append(ast.BinOp(block_start, ast.Add(), name(THREAD[axis])))
        else:
            axes.append(ast.BinOp(name(GRID[axis]), ast.Mult(), extent))
    return axes[0] if count == 1 else ast.Tuple(axes, ast.Load())


def sync(lowering, node, called):
    """A barrier or warp operation: a statement before the one at hand, its result a variable."""
    kind = _BARRIERS.get(called.path, called.path)
    nodes = lowering.source.bind(node, called)
    lowered = iter(lowering.several([n for n in nodes if n is not None]))
    passed = {p: next(lowered) for p, n in zip(called.parameters, nodes, strict=True) if n is not None}
    operands = {}
    if "mask" in called.parameters:
        mask = passed.get("mask", ast.Constant(FULL))
        full = isinstance(mask, ast.Constant) and int(mask.value) & FULL == FULL
        to_mask = ast.BinOp(call("_int64", mask), ast.BitAnd(), ast.Constant(FULL))
        operands["mask"] = ast.Constant(FULL) if full else lowering.fresh(to_mask, node)
    if kind in SOURCES:
        operands["operand"] = lowering.fresh(call("_int64", passed[called.parameters[2]]), node)
    if "predicate" in called.parameters:
        asked = call("_counted_value" if kind in _BARRIERS.values() else "_voted", passed["predicate"])
        operands["value"] = lowering.fresh(call("bool", asked), node)
    elif "value" in called.parameters:
        value = call("_shuffled_value", passed["value"]) if kind in SOURCES else passed["value"]
        operands["value"] = lowering.fresh(value, node)
    target = None if kind in ("block", "syncwarp") else lowering.unit.namespace.temporary()
    if kind not in _BARRIERS.values():
        lowering.unit.warp = True
    lowering.pending.append(Sync(kind, target, operands, node))
    if kind == "match_all_sync":
        return ast.Tuple([name(target), ast.Compare(name(target), [ast.NotEq()], [ast.Constant(0)])], ast.Load())
    return ast.Constant(None) if target is None else name(target)


def fence(lowering, node, called):
    lowering.effects.add("store")
    lowering.pending.append(ast.copy_location(ast.Expr(call("_fence")), node))
    return ast.Constant(None)


def nothing(lowering, node, called):
    return ast.Constant(None)


def this_grid(lowering, node, called):
    """Only its method `sync` does anything, whatever it is called on: a number will do."""
    lowering.source.bind(node, called)
    return ast.Constant(0)


def array(lowering, node, called):
    return name(lowering.declare(node, called, None))


def constant_array(lowering, node, called):
    (values,) = lowering.source.bind(node, called)
    array = lowering.source.static(values)[1]
    if lowering.unit.counted is not None:
        return lowering.unit.counted.frozen(array, lowering.source.assigned_name(node) or ast.unparse(values))
    return name(lowering.unit.namespace.bind(array))


def atomic(lowering, node, called):
    lowered = lowering.several(lowering.source.bind(node, called))
    operation, target, key, operands = called.path.partition(".")[2], lowered[0], lowered[1], lowered[2:]
    if operation == "compare_and_swap":
        operation, key, operands = "cas", ast.Constant(0), lowered[1:]
    lowering.effects |= {"load", "store"}
    memory = lowering.unit.memory
    if isinstance(target, ast.Name) and target.id in memory.private:
        lowering.refuse(node, "an atomic operation on a local array")
    # A device function that is compiled by itself may have a parameter of a shared array's name.
    is_shared = isinstance(target, ast.Name) and (lowering.is_kernel or lowering.prefix) and target.id in memory.shared
    wanted = f"_atomic_{operation}_{'shared' if is_shared else 'all'}"
    function = lowering.unit.namespace.bind(ATOMICS[operation, bool(is_shared)], wanted)
    return call(function, *lowering.flagged(node, "atomic"), target, key, ast.Tuple(operands, ast.Load()))


#: path -> function(lowering, node, called) that lowers a call of it
CALLS = {
    "grid": index, "gridsize": index, **dict.fromkeys((*_BARRIERS, "syncwarp", *SOURCES, *VOTES), sync),
    "threadfence": fence, "threadfence_block": fence, "threadfence_system": fence, "nanosleep": nothing,
    "cg.this_grid": this_grid,
    "lanemask_lt": lanemask, "fma": compute, "popc": compute, "clz": compute, "ffs": compute, "brev": compute,
    "cbrt": compute, "selp": compute,
    "shared.array": array, "local.array": array, "const.array_like": constant_array,
    **{f"atomic.{operation}": atomic for operation, _ in ATOMICS}, "atomic.compare_and_swap": atomic,
}  # fmt: skip
