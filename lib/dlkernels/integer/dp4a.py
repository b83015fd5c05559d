"""dp4a, for numba kernels: four products of codes, added to a sum of 32 bits, in one instruction of a thread.

    total = dot_of_codes(x, w, total)       # total + x0 w0 + x1 w1 + x2 w2 + x3 w3

x and w are words of four codes: x without sign, w with one. (PTX ISA, "dp4a": compute capability 6.1 on.) CUDA C++ has
it as __dp4a for two signed or two unsigned words; numba has no name for it, so it is inline PTX. In the executor, in
the compiled engine and in numba's simulator a function of four products stands in.
"""

import numpy as np
from llvmlite import ir

from simt import stand_in

from .. import device
from ..wide import intrinsic, types

CAPABILITY = (6, 1)  # of the oldest GPUs that have it
i32 = np.int32


@intrinsic
def dot_of_codes(typing_context, x, w, total):
    def generate(context, builder, signature, args):
        word = ir.IntType(32)
        words = [
            context.cast(builder, value, kind, wanted)
            for value, kind, wanted in zip(args, signature.args, (types.uint32, types.uint32, types.int32), strict=True)
        ]
        function = ir.FunctionType(word, [word] * 3)
        return builder.call(ir.InlineAsm(function, "dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r"), words)

    return types.int32(x, w, total), generate


def _dot_in_python(context, x, w, total):
    """What the instruction does; sums wrap around."""
    x, w = int(x), int(w)
    low = (x & 255) * ((w & 255 ^ 128) - 128) + (x >> 8 & 255) * ((w >> 8 & 255 ^ 128) - 128)
    high = (x >> 16 & 255) * ((w >> 16 & 255 ^ 128) - 128) + (x >> 24 & 255) * ((w >> 24 & 255 ^ 128) - 128)
    return i32((int(total) + low + high + 2**31 & 0xFFFFFFFF) - 2**31)


stand_in(dot_of_codes, _dot_in_python)

if device.name == "simulator":  # it runs plain Python only

    def dot_of_codes(x, w, total):
        return _dot_in_python(None, x, w, total)
