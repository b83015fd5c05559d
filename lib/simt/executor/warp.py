"""Warp operations: given what every lane brings, what every lane gets."""

import numpy as np

from ..intrinsics import warp_functions
from ..trace import WARP
from .memory import POISON, poison

SHUFFLED = (int, float, np.int32, np.int64, np.float32, np.float64)  # types of what a shuffle hands over
VOTED = (int, np.integer, np.bool_)
VOTES = ("ballot_sync", "any_sync", "all_sync", "eq_sync")


def shuffle_source(name, lane, operand):
    """The lane that ``lane`` reads from."""
    operand = int(operand)
    if name == "shfl_sync":
        return operand & 31
    if name == "shfl_xor_sync":
        return (lane ^ operand) & 31
    source = lane - operand if name == "shfl_up_sync" else lane + operand
    return source if 0 <= source < 32 else lane


def _unset(value, byte):
    """What a lane gets that reads from one which takes no part: undefined on a GPU, nan or -1 here, or what ``byte``
    makes."""
    dtype = np.dtype({int: np.int64, float: np.float64, bool: np.bool_}.get(type(value), type(value)))
    return poison(dtype, byte)


def combine(name, lanes, on_inactive_read, unset=POISON):
    """Results by lane. ``lanes``: lane -> operands. ``on_inactive_read(lane, source)``: a shuffle read from nobody."""
    if name == "syncwarp":
        return dict.fromkeys(lanes)
    if name in warp_functions:
        if len(lanes) < WARP:
            raise ValueError(f"{name} takes all {WARP} lanes of a warp, {len(lanes)} came")
        return warp_functions[name](lanes)
    if name.startswith("shfl"):
        result = {}
        for lane, (value, operand) in lanes.items():
            source = shuffle_source(name, lane, operand)
            if source in lanes:
                result[lane] = lanes[source][0]
            else:
                on_inactive_read(lane, source)
                result[lane] = _unset(value, unset)
        return result
    bits = {lane: 1 << lane for lane in lanes}
    if name == "activemask":
        return dict.fromkeys(lanes, np.uint32(sum(bits.values())))
    values = {lane: operands[0] for lane, operands in lanes.items()}
    if name == "ballot_sync":
        return dict.fromkeys(lanes, _as_int32(sum(bits[lane] for lane in lanes if values[lane])))
    if name == "any_sync":
        return dict.fromkeys(lanes, any(values.values()))
    if name == "all_sync":
        return dict.fromkeys(lanes, all(values.values()))
    first_value = next(iter(values.values()))
    if name == "eq_sync":
        return dict.fromkeys(lanes, all(bool(v) == bool(first_value) for v in values.values()))
    if name == "match_all_sync":
        same = all(v == first_value for v in values.values())
        return dict.fromkeys(lanes, (_as_int32(sum(bits.values()) if same else 0), same))
    if name == "match_any_sync":
        return {lane: _as_int32(sum(bits[peer] for peer in lanes if values[peer] == values[lane])) for lane in lanes}
    raise ValueError(f"no such warp operation: {name}")


def _as_int32(mask):
    return np.uint32(mask).view(np.int32)
