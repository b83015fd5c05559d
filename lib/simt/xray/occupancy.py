"""Theoretical occupancy: how many warps of a kernel fit on one multiprocessor (SM) at once.

A block needs warps, registers and shared memory, and an SM has a fixed supply of each. The scarcest one
decides how many blocks are resident:

    by warps          warps per SM // warps per block
    by registers      4 x (registers of a quarter SM // registers per warp) // warps per block,
                      registers per warp = 32 x registers per thread, rounded up to 256
    by shared memory  shared bytes per SM // (shared bytes per block + reserved bytes), rounded up to a grain
    by blocks         a fixed limit

    occupancy = resident warps / warps per SM

Sources: CUDA C++ Programming Guide, table "Technical Specifications per Compute Capability" (limits), and
NVIDIA's ``cuda_occupancy.h`` (the rounding, the quarters of an SM, the bytes the system reserves in a block).
"""

from dataclasses import asdict, dataclass

WARP = 32
MAX_THREADS_PER_BLOCK = 1024
MAX_REGISTERS_PER_THREAD = 255
REGISTERS_PER_BLOCK = 65536
REGISTER_GRAIN = 256  # a warp gets registers in this unit
QUARTERS = 4  # an SM has four schedulers, each with its own part of the register file


@dataclass(frozen=True)
class Limits:
    """What one SM of an architecture offers. Bytes are bytes, registers are 32-bit registers."""

    name: str
    warps: int
    blocks: int
    registers: int
    shared_bytes: int
    shared_bytes_per_block: int
    shared_reserved: int  # taken by the system in every block
    shared_grain: int


LIMITS = {
    (7, 5): Limits("sm_75", 32, 16, 65536, 64 * 1024, 64 * 1024, 0, 256),
    (8, 0): Limits("sm_80", 64, 32, 65536, 164 * 1024, 163 * 1024, 1024, 128),
    (8, 6): Limits("sm_86", 48, 16, 65536, 100 * 1024, 99 * 1024, 1024, 128),
    (8, 9): Limits("sm_89", 48, 24, 65536, 100 * 1024, 99 * 1024, 1024, 128),
    (9, 0): Limits("sm_90", 64, 32, 65536, 228 * 1024, 227 * 1024, 1024, 128),
    (10, 0): Limits("sm_100", 64, 32, 65536, 228 * 1024, 227 * 1024, 1024, 128),
    (12, 0): Limits("sm_120", 48, 24, 65536, 100 * 1024, 99 * 1024, 1024, 128),
}


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps resident on one SM, the fraction of its warp slots, and what limits it."""

    arch: str
    threads_per_block: int
    blocks_per_sm: int
    warps_per_sm: int
    occupancy: float
    limited_by: tuple

    def to_dict(self):
        return {**asdict(self), "limited_by": list(self.limited_by)}

    def __str__(self):
        limit = " and ".join(self.limited_by)
        if not self.blocks_per_sm:
            return f"{self.arch}: no block of {self.threads_per_block} threads fits on an SM, for want of {limit}"
        return (
            f"{self.arch}: {self.blocks_per_sm} blocks of {self.threads_per_block} threads per SM, "
            f"{self.warps_per_sm} warps, occupancy {self.occupancy:.0%}, limited by {limit}"
        )


def capability(arch):
    """Compute capability as a pair, from ``(9, 0)``, ``"sm_90"``, ``"9.0"`` or ``90``."""
    text = "".join(map(str, arch)) if isinstance(arch, tuple | list) else str(arch)
    digits = text.lower().removeprefix("sm_").removeprefix("sm").replace(".", "")
    if not digits.isdigit() or len(digits) < 2:
        raise ValueError(f"arch is {arch!r}; expected a compute capability such as (9, 0), 'sm_90' or '9.0'.")
    return int(digits[:-1]), int(digits[-1])


def limits(arch):
    """The `Limits` of an architecture. Only those whose table is above; anything else is a ValueError."""
    pair = capability(arch)
    if pair not in LIMITS:
        known = ", ".join(limit.name for limit in LIMITS.values())
        raise ValueError(f"No occupancy table for compute capability {pair[0]}.{pair[1]}; known are {known}.")
    return LIMITS[pair]


def occupancy(arch, threads, registers, shared_bytes=0):
    """Theoretical `Occupancy` of a block of ``threads`` threads.

    registers: 32-bit registers per thread. shared_bytes: static plus dynamic bytes per block.
    """
    sm = limits(arch)
    if not 1 <= threads <= MAX_THREADS_PER_BLOCK:
        raise ValueError(f"threads is {threads}; a block has 1 to {MAX_THREADS_PER_BLOCK} threads.")
    warps = -(-threads // WARP)
    per_warp = _round_up(max(registers, 1) * WARP, REGISTER_GRAIN)
    shared = _round_up(shared_bytes + sm.shared_reserved, sm.shared_grain)
    blocks = {
        "warps": sm.warps // warps,
        "registers": QUARTERS * (sm.registers // QUARTERS // per_warp) // warps,
        "shared memory": sm.shared_bytes // shared if shared else sm.blocks + 1,  # none is used: it limits nothing
        "blocks": sm.blocks,
    }
    # The hardware checks a launch as if every quarter of the SM got the same number of warps.
    if per_warp * _round_up(warps, QUARTERS) > REGISTERS_PER_BLOCK or registers > MAX_REGISTERS_PER_THREAD:
        blocks["registers"] = 0
    if shared_bytes > sm.shared_bytes_per_block:
        blocks["shared memory"] = 0
    resident = min(blocks.values())
    limited_by = tuple(name for name, count in blocks.items() if count == resident)
    return Occupancy(sm.name, threads, resident, resident * warps, resident * warps / sm.warps, limited_by)


def _round_up(value, grain):
    return -(-value // grain) * grain
