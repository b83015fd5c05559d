"""``numba.cuda.random``: a generator (xoroshiro128+, Blackman and Vigna) for each thread, far apart on one sequence.

    states = create_xoroshiro128p_states(threads, seed=1)      # on the host
    x = xoroshiro128p_uniform_float32(states, i)               # in a kernel; xoroshiro128p_normal_float64 ...

The same numbers as numba's for the same seed.
"""

import math

import numpy as np
from numba import float32, float64, njit, uint64

from . import cuda

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
_JUMP = np.array([0xBEAC0467EBA5FACB, 0xD86B048B86AA9922], np.uint64)  # as far as 2**64 numbers
_TWO_PI = 2 * math.pi


@njit
def _filled(states, seed, skipped):
    """Fill ``states``, an array (n, 2): the first from the seed, each of the others one jump behind the one before."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)  # splitmix64
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    s0 = s1 = z ^ (z >> np.uint64(31))
    for row in range(-skipped, len(states)):
        if row >= 0:
            states[row, 0], states[row, 1] = s0, s1
        j0 = j1 = np.uint64(0)
        for word in _JUMP:
            for bit in range(64):
                if word >> np.uint64(bit) & np.uint64(1):
                    j0 ^= s0
                    j1 ^= s1
                s1 ^= s0
                s0 = (s0 << np.uint64(55) | s0 >> np.uint64(9)) ^ s1 ^ (s1 << np.uint64(14))
                s1 = s1 << np.uint64(36) | s1 >> np.uint64(28)
        s0, s1 = j0, j1


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Give the generators on the device a seed; the first is ``subsequence_start`` jumps from its beginning."""
    numbers = np.zeros((len(states), 2), np.uint64)
    _filled(numbers, np.uint64(seed), int(subsequence_start))
    states.copy_to_device(numbers.view(xoroshiro128p_dtype).ravel())


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """``n`` generators on the device."""
    states = cuda.device_array(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(states, seed, subsequence_start)
    return states


@cuda.jit(device=True)
def xoroshiro128p_next(states, index):
    """The next 64 random bits of generator ``index``."""
    s0, s1 = states[index]["s0"], states[index]["s1"]
    result = s0 + s1
    s1 ^= s0
    states[index]["s0"] = (s0 << uint64(55) | s0 >> uint64(9)) ^ s1 ^ (s1 << uint64(14))
    states[index]["s1"] = s1 << uint64(36) | s1 >> uint64(28)
    return result


@cuda.jit(device=True)
def xoroshiro128p_jump(states, index):
    """Go on 2**64 numbers."""
    j0, j1 = uint64(0), uint64(0)
    for k in range(2):
        for bit in range(64):
            if _JUMP[k] >> uint64(bit) & uint64(1):
                j0 ^= states[index]["s0"]
                j1 ^= states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = j0
    states[index]["s1"] = j1


@cuda.jit(device=True)
def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1)."""
    return (xoroshiro128p_next(states, index) >> uint64(11)) * (float64(1) / (uint64(1) << uint64(53)))


@cuda.jit(device=True)
def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1)."""
    return float32(xoroshiro128p_uniform_float64(states, index))


@cuda.jit(device=True)
def xoroshiro128p_normal_float64(states, index):
    """A float64, normally distributed with mean 0 and deviation 1 (Box and Muller; from float32, as numba draws it)."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float64(-2) * math.log(u1)) * math.cos(_TWO_PI * u2)


@cuda.jit(device=True)
def xoroshiro128p_normal_float32(states, index):
    """A float32, normally distributed with mean 0 and deviation 1."""
    u1 = xoroshiro128p_uniform_float32(states, index)
    u2 = xoroshiro128p_uniform_float32(states, index)
    return math.sqrt(float32(-2) * math.log(u1)) * math.cos(float32(_TWO_PI) * u2)
