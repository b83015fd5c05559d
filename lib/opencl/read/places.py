"""Where a work-item is: get_global_id() and its like, as (tree, type, bounds)."""

import ast

from .types import UINT, ULONG, call, name

MOST = (1 << 31) - 1  # work-items along an axis


def _member(path, axis):
    return ast.Attribute(ast.Attribute(name("ocl_cuda"), path, ast.Load()), axis, ast.Load())


def _times(a, b):
    return ast.BinOp(a, ast.Mult(), b)


def _linear():
    """Number of a work-item in its group."""
    x, y, z = (_member("threadIdx", axis) for axis in "xyz")
    rows = ast.BinOp(_times(z, _member("blockDim", "y")), ast.Add(), y)
    return ast.BinOp(_times(rows, _member("blockDim", "x")), ast.Add(), x)


def _group_size():
    x, y, z = (_member("blockDim", axis) for axis in "xyz")
    return _times(_times(x, y), z)


def _global_id(axis):
    start = _times(_member("blockIdx", axis), _member("blockDim", axis))
    return ast.BinOp(start, ast.Add(), _member("threadIdx", axis))


def linear_in_sub_group():
    """Number of a work-item in its sub-group."""
    return ast.BinOp(_linear(), ast.Mod(), ast.Constant(32))


PLACES = {
    "get_global_id": (_global_id, 0, MOST),
    "get_local_id": (lambda axis: _member("threadIdx", axis), 0, MOST),
    "get_group_id": (lambda axis: _member("blockIdx", axis), 0, MOST),
    "get_local_size": (lambda axis: _member("blockDim", axis), 1, MOST),
    "get_enqueued_local_size": (lambda axis: _member("blockDim", axis), 1, MOST),
    "get_num_groups": (lambda axis: _member("gridDim", axis), 1, MOST),
    "get_global_size": (lambda axis: _times(_member("gridDim", axis), _member("blockDim", axis)), 1, MOST),
    "get_global_offset": (lambda axis: ast.Constant(0), 0, 0),
}
SUB_GROUP = {
    "get_sub_group_size": (lambda: call("ocl_lanes_here", _group_size(), _linear()), ULONG, 1, 32),
    "get_max_sub_group_size": (lambda: ast.Constant(32), ULONG, 32, 32),
    "get_sub_group_local_id": (linear_in_sub_group, UINT, 0, 31),
    "get_sub_group_id": (lambda: ast.BinOp(_linear(), ast.FloorDiv(), ast.Constant(32)), UINT, 0, 31),
    "get_num_sub_groups": (
        lambda: ast.BinOp(ast.BinOp(_group_size(), ast.Add(), ast.Constant(31)), ast.FloorDiv(), ast.Constant(32)),
        UINT,
        1,
        32,
    ),
    "get_local_linear_id": (_linear, ULONG, 0, 1023),
}
