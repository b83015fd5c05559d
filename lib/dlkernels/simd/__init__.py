"""Vector intrinsics for numba: what a CPU's SIMD unit does, said in Python.

A compiler turns a plain loop into vector instructions when it can prove that this is safe and guesses that
it pays. Some things it never does: write past the cache, keep a tile of a matrix in registers, prefetch a
row that another loop needs. These functions ask for exactly that::

    @njit
    def add(a, b, out):                       # 1-D, C-contiguous, one dtype
        width = lanes(out)                    # a compile-time constant: 4, 8 or 16 float32
        head = min(out.size, until_aligned(out))
        for i in range(head):
            out[i] = a[i] + b[i]
        i = head
        while i + width <= out.size:
            store_nontemporal(out, i, load(a, i) + load(b, i))
            i += width
        for i in range(i, out.size):
            out[i] = a[i] + b[i]
        fence()

They work in ``@njit`` functions, with or without ``parallel=True`` (create vectors inside the ``prange``
body), for float32 and float64, on every machine that numba supports: LLVM splits a vector that the machine
does not have, and replaces a store past the cache by a usual one where there is no such instruction.

Indices count elements from the start of the array, are not checked, and are not wrapped if negative.

Its files, in reading order:

target.py       which vectors the machine has          vector.py  the vector type, arithmetic lane by lane
memory.py       loads and stores                       line.py    memory without an end
exponential.py  our own exp, for a vector              pack.py    blocks copied to where kernels read them best
tile.py         the register tile                      dot.py     the product of two lines of memory
atomic.py       read, change, write back in one step   inner.py   functions compiled in their callers
cache.py        compiled code on disk                  emitted.py instructions in the place of a call
kept.py         answers kept on disk for this machine
"""

from .atomic import atomic_load, compare_and_swap, fetch_add
from .memory import (
    AHEAD,
    fence,
    fetch_ahead,
    lanes,
    load,
    load_bytes,
    load_nibbles,
    load_part,
    prefetch,
    store,
    store_low_bytes,
    store_nontemporal,
    store_part,
    until_aligned,
)
from .target import has, instruction_set, vector_bytes, vector_registers, vector_width
from .vector import (
    VectorType,
    broadcast,
    first_lanes,
    fma,
    full_vectors,
    larger,
    last_lane,
    maximum,
    minimum,
    prefix_sum,
    reduce_add,
    reduce_max,
    smaller,
    where,
)

__all__ = [
    "AHEAD",
    "VectorType",
    "atomic_load",
    "broadcast",
    "compare_and_swap",
    "fence",
    "fetch_add",
    "fetch_ahead",
    "first_lanes",
    "fma",
    "full_vectors",
    "has",
    "instruction_set",
    "lanes",
    "larger",
    "last_lane",
    "load",
    "load_bytes",
    "load_nibbles",
    "load_part",
    "maximum",
    "minimum",
    "prefetch",
    "prefix_sum",
    "reduce_add",
    "reduce_max",
    "smaller",
    "store",
    "store_low_bytes",
    "store_nontemporal",
    "store_part",
    "until_aligned",
    "vector_bytes",
    "vector_registers",
    "vector_width",
    "where",
]
