"""What turns sums of products of codes into the codes of a result: scales, zero points, limits.

A code q stands for the number scale (q - zero_point). So a layer's sum is one of whole numbers, times a factor:

    sum over k of  input_scale (x - x_zero)  weight_scale (w - w_zero)
        =  input_scale weight_scale  (  sum of x w  -  x_zero sum of w  -  w_zero sum of (x - x_zero)  )

The inner loop multiplies codes as they are. The sum of w belongs to the weight, and is known before any input comes;
the last sum is needed only where a weight has a zero point, which symmetric ones have not.

Sums fit 32 bits as long as there are not too many terms (`longest`): x - x_zero has 9 bits, w 8. On the way sums may
wrap around: whole numbers of 32 bits come back, floats would not.
"""

from collections import namedtuple

import numpy as np

INT32 = 2**31 - 1
FLIP = 128  # a code of int8 plus this is one of uint8; in bits, x ^ 0x80
LIMITS = {np.dtype("uint8"): (0, 255), np.dtype("int8"): (-128, 127)}
f32 = np.float32

#: What a kernel has to know of input and result, numbers only. Codes of int8 were moved to uint8, and their zero points
#: with them: flip is 128 for an input of int8, else 0, and is xor-ed to its codes. output_zero is that of the result as
#: it is; low, high: between which numbers a sum in units of the result's scale lies, seen from the zero point. Of a
#: float32 result the scale is 1, and low is 0 or minus infinity.
Quantizer = namedtuple("Quantizer", "input_scale input_zero flip output_scale output_zero low high")


def longest(with_weight_zeros):
    """The most terms whose sum fits 32 bits: |x - x_zero| and |w - w_zero| are at most 255, |w| is at most 128."""
    return INT32 // (255 * (255 if with_weight_zeros else 128))


def quantizer(dtype, input_scale, input_zero, output_scale, output_zero, activation):
    """The `Quantizer` for an input of that dtype. output_scale: None for a result in float32."""
    flip = FLIP if dtype == np.int8 else 0
    relu = activation == "relu"
    if output_scale is None:
        return Quantizer(f32(input_scale), input_zero + flip, flip, f32(1), 0, f32(0 if relu else -np.inf), f32(np.inf))
    least, most = LIMITS[dtype]
    low = max(least, output_zero) if relu else least
    return Quantizer(
        f32(input_scale),
        input_zero + flip,
        flip,
        f32(output_scale),
        output_zero,
        f32(low - output_zero),
        f32(most - output_zero),
    )


def factors(bias, scale, quantizer, codes):
    """(start, factor, add), float32 for each channel: the result is (sum + start) factor + add, each step rounded.

    codes: whether codes are wanted. Then the bias is added in units of the sum, as FBGEMM does: add is 0.
    """
    of_sum = quantizer.input_scale * scale
    nothing = np.zeros(len(scale), f32)
    if not codes:
        return nothing, of_sum, nothing if bias is None else bias
    return nothing if bias is None else bias / of_sum, of_sum / quantizer.output_scale, nothing
