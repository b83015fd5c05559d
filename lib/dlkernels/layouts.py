"""Device arrays of any layout: where their elements lie, and copies in the order that kernels want.

Kernels here take C-contiguous arrays. `contiguous` is what PyTorch's ``.contiguous()`` is: the array itself, or a copy
made on the device. `transposed` exchanges the last two axes by a copy. Reading a matrix once costs little beside a
product, which reads each element many times.
"""

import functools
import types

import numpy as np

from .device import cuda, is_device_array
from .launches import device_array, launch, view

TILE, ROWS = 32, 8  # of a transposition: a block of 32 x 8 threads moves 32 x 32 elements
PADDED = TILE + 1  # a column more in shared memory: else all elements of a column would share a bank
THREADS, MOST_BLOCKS = 256, 1024
MOST_IN_Y = MOST_IN_Z = 65535  # blocks that a grid may have in its second and third dimension


def address(x):
    """Where a device array's first element lies, in bytes; None in numba's simulator, which does not say."""
    try:
        return x.device_ctypes_pointer.value or 0
    except AttributeError:
        return None


def aligned(*arrays):
    """Whether all device arrays begin where an access of 16 bytes, or to four elements, may: at a multiple of its
    size."""
    return all((address(x) or 0) % max(16, 4 * x.dtype.itemsize) == 0 for x in arrays)


def memory(x):
    """The array as NumPy sees its memory, to ask what overlaps: of a device array only addresses, not to be read.

    None where numba's simulator does not say where an array lies.
    """
    if not is_device_array(x):
        return x
    place = address(x)
    if place is None:
        return None
    interface = {"data": (place, False), "shape": tuple(x.shape), "strides": tuple(x.strides), "version": 3}
    return np.asarray(types.SimpleNamespace(__array_interface__=interface | {"typestr": x.dtype.str}))


# ---- copies --------------------------------------------------------------------------------------------------


@cuda.jit
def copy_line_kernel(source, target):
    for i in range(cuda.grid(1), target.size, cuda.gridsize(1)):
        target[i] = source[i]


@cuda.jit
def copy_matrix_kernel(source, target):
    column, first = cuda.grid(2)  # x along a row of the target
    if column < target.shape[1]:
        for row in range(first, target.shape[0], cuda.gridsize(2)[1]):
            target[row, column] = source[row, column]


# Under which they are compiled for GPUs without one, as the kernels of a rung are.
KERNELS = (
    (copy_line_kernel, "void(float32[:], float32[:])"),
    (copy_matrix_kernel, "void(float32[:, :], float32[:, ::1])"),
)


def copy(source, target):
    """target[...] = source for device arrays of one shape and dtype, of any strides. Returns target."""
    if target.size == 0:
        return target
    if target.ndim == 1:
        blocks = min(-(-target.size // THREADS), MOST_BLOCKS)
        copy_line_kernel[blocks, THREADS](bits(source), bits(target))
    elif target.ndim == 2:
        rows, columns = target.shape
        grid = -(-columns // TILE), min(-(-rows // ROWS), MOST_BLOCKS)
        copy_matrix_kernel[grid, (TILE, ROWS)](bits(source), bits(target))
    else:
        for k in range(target.shape[0]):
            copy(source[k], target[k])
    return target


def bits(x):
    """Numbers of 16 bits as uint16: numba's kernels can load and store these everywhere."""
    if x.dtype != np.float16:
        return x
    return view(x, tuple(x.shape), np.uint16) if is_contiguous(x) else x.view(np.uint16)


def is_contiguous(x):
    return x.ndim == 0 or x.size == 0 or x.is_c_contiguous()


def contiguous(x):
    """The device array itself where it is C-contiguous, else a copy that is."""
    return x if is_contiguous(x) else copy(x, device_array(tuple(x.shape), x.dtype))


def as_host(x):
    """A result as a NumPy array, wherever it lies."""
    return x.copy_to_host() if is_device_array(x) else x


# ---- transposition -------------------------------------------------------------------------------------------


@functools.cache
def transpose_kernel(real):
    """The kernel for elements of type `real`: target[z, j, i] = source[z, i, j]."""

    @cuda.jit
    def kernel(source, target):
        tile = cuda.shared.array((TILE, PADDED), real)
        x, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
        top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        for r in range(y, TILE, ROWS):
            if top + r < source.shape[1] and left + x < source.shape[2]:
                tile[r, x] = source[z, top + r, left + x]
        cuda.syncthreads()
        for r in range(y, TILE, ROWS):
            if left + r < source.shape[2] and top + x < source.shape[1]:
                target[z, left + r, top + x] = tile[x, r]

    return kernel


def transposed(x):
    """A contiguous copy of a device array of matrices, (..., m, n), with rows and columns exchanged: (..., n, m)."""
    *stack, m, n = x.shape
    result = device_array((*stack, n, m), x.dtype)
    return transpose(transpose_kernel(x.dtype.type), contiguous(x), result)


def transpose(kernel, source, target):
    """Run a kernel such as `transpose_kernel` makes on contiguous device arrays of any leading dimensions. Returns
    target.

    In one launch, unless there are more matrices, or tiles one below the other, than a grid may have blocks.
    """
    if target.size == 0:
        return target
    m, n = tuple(source.shape)[-2:]
    count, high = source.size // (m * n), MOST_IN_Y * TILE
    matrices, turned = view(source, (count, m, n)), view(target, (count, n, m))
    if count <= MOST_IN_Z and m <= high:
        launch(kernel, (-(-n // TILE), -(-m // TILE), count), (TILE, ROWS), matrices, turned)
        return target
    for first in range(0, count, MOST_IN_Z):
        part = slice(first, min(first + MOST_IN_Z, count))
        for top in range(0, m, high):
            rows = slice(top, min(top + high, m))
            grid = -(-n // TILE), -(-(rows.stop - top) // TILE), part.stop - first
            whole = m <= high  # then what a kernel gets is contiguous
            pair = (matrices[part], turned[part]) if whole else (matrices[part, rows], turned[part, :, rows])
            kernel[grid, (TILE, ROWS)](*pair)
    return target
