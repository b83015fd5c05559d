"""What a launch may ask for: the limits of real NVIDIA GPUs (CUDA C++ Programming Guide, "Compute Capabilities")."""

from .errors import LaunchError

WARP_SIZE = 32
SECTOR_BYTES = 32  # what device memory moves at least
BANKS = 32  # of shared memory
BANK_BYTES = 4
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_SHARED_PER_BLOCK = 48 * 1024  # bytes, static and dynamic together, without opting in to more
MAX_CONSTANT_MEMORY = 64 * 1024  # bytes
MULTIPROCESSORS = 8  # of the pretended device: few, so that kernels which size their grid by it stay quick
MAX_THREADS_PER_MULTIPROCESSOR = 2048
MAX_BLOCKS_PER_MULTIPROCESSOR = 32
MOST_ROUNDS = 10_000_000  # of one loop of one thread, where no budget is set: seconds in the executor

_NO_LAUNCH = (
    "Kernel launch configuration was not specified. Use the syntax: "
    "kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)"
)


def dimensions(value, name):
    """A grid or block size as (x, y, z). ValueError or TypeError, worded as numba does."""
    if value is None:
        raise ValueError(_NO_LAUNCH)
    parts = list(value) if isinstance(value, (tuple, list)) else [value]
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {parts!r}")
    for part in parts:
        if isinstance(part, bool) or not hasattr(part, "__index__"):
            hint = " (use // for whole-number division)" if isinstance(part, float) else ""
            raise TypeError(f"{name} must be a sequence of integers, got {parts!r}{hint}")
    return tuple(int(p) for p in parts) + (1,) * (3 - len(parts))


def check_launch(grid, block, shared_bytes):
    """LaunchError where no GPU would start this."""
    for extent, limit, axis in zip(grid, MAX_GRID, "xyz", strict=True):
        if extent < 1:
            raise LaunchError(
                f"the grid is {grid}: every axis needs at least one block. For 0 elements, do not launch at all",
                "CUDA_ERROR_INVALID_VALUE",
            )
        if extent > limit:
            raise LaunchError(f"the grid has {extent} blocks in {axis}; at most {limit}", "CUDA_ERROR_INVALID_VALUE")
    for extent, limit, axis in zip(block, MAX_BLOCK, "xyz", strict=True):
        if extent < 1:
            raise LaunchError(f"the block is {block}: every axis needs at least one thread", "CUDA_ERROR_INVALID_VALUE")
        if extent > limit:
            raise LaunchError(f"the block has {extent} threads in {axis}; at most {limit}", "CUDA_ERROR_INVALID_VALUE")
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS_PER_BLOCK:
        raise LaunchError(
            f"the block {block} has {threads} threads; a block has at most {MAX_THREADS_PER_BLOCK}. "
            "Use smaller blocks and more of them",
            "CUDA_ERROR_INVALID_VALUE",
        )
    if not 0 <= shared_bytes <= MAX_SHARED_PER_BLOCK:
        raise LaunchError(
            f"{shared_bytes} bytes of dynamic shared memory; a block has at most {MAX_SHARED_PER_BLOCK} (48 KiB)",
            "CUDA_ERROR_INVALID_VALUE",
        )


def check_shared(static_bytes, dynamic_bytes, name):
    """LaunchError where the shared arrays of a block do not fit."""
    if static_bytes > MAX_SHARED_PER_BLOCK:
        raise LaunchError(
            f"the kernel's shared arrays need {static_bytes} bytes with {name!r}; a block has at most "
            f"{MAX_SHARED_PER_BLOCK} (48 KiB). ptxas would say: uses too much shared data "
            f"(0x{static_bytes:x} bytes, 0x{MAX_SHARED_PER_BLOCK:x} max)"
        )
    if static_bytes + dynamic_bytes > MAX_SHARED_PER_BLOCK:
        raise LaunchError(
            f"{static_bytes} bytes of static and {dynamic_bytes} of dynamic shared memory; together a block has at "
            f"most {MAX_SHARED_PER_BLOCK} (48 KiB)",
            "CUDA_ERROR_INVALID_VALUE",
        )


def most_resident_blocks(block):
    """How many blocks of this size the pretended device holds at once."""
    threads = block[0] * block[1] * block[2]
    per_multiprocessor = min(MAX_BLOCKS_PER_MULTIPROCESSOR, MAX_THREADS_PER_MULTIPROCESSOR // threads)
    return per_multiprocessor * MULTIPROCESSORS


def check_cooperative(grid, block):
    """LaunchError where a grid barrier could not be: all blocks must be on the device at once."""
    blocks, most = grid[0] * grid[1] * grid[2], most_resident_blocks(block)
    if blocks > most:
        raise LaunchError(
            f"a kernel with a grid barrier needs all its {blocks} blocks on the device at once; the executor's device "
            f"holds {most} blocks of shape {block}",
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
        )
