"""Answers to 09-roofline. CLAIMS: what is said beside each; the last lines say where something else is."""

import numpy as np
from answers import MASTER, edit, replace
from numba import njit

RESULTS = 4 * 32 * 32
CLAIMS = {
    "flops": 18 * RESULTS,
    "moved": 4 * 4 * (34 * 34 + 9 + 32 * 32),
    "intensity": 18 * RESULTS / (4 * 4 * (34 * 34 + 9 + 32 * 32)),
    "roof": "memory",
}


@njit
def written_out(x, weight, out):
    """right"""
    for c in range(x.shape[0]):
        for i in range(x.shape[1] - 2):
            for j in range(x.shape[2] - 2):
                above = (
                    weight[c, 0, 0] * x[c, i, j] + weight[c, 0, 1] * x[c, i, j + 1] + weight[c, 0, 2] * x[c, i, j + 2]
                )
                here = weight[c, 1, 0] * x[c, i + 1, j] + weight[c, 1, 1] * x[c, i + 1, j + 1]
                here += weight[c, 1, 2] * x[c, i + 1, j + 2] + weight[c, 2, 0] * x[c, i + 2, j]
                out[c, i, j] = (
                    above + here + weight[c, 2, 1] * x[c, i + 2, j + 1] + weight[c, 2, 2] * x[c, i + 2, j + 2]
                )


@njit
def along_rows(x, weight, out):
    """right"""
    for c in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                out[c, y, z] = 0
            for ky in range(3):
                for kx in range(3):
                    factor = weight[c, ky, kx]
                    for z in range(out.shape[2]):
                        out[c, y, z] += factor * x[c, y + ky, z + kx]


products_only = edit(MASTER, "wrong flops: A multiply and an add", claims={"flops": 9 * RESULTS})
of_one_element = edit(MASTER, "wrong flops: then multiply by the number of elements", claims={"flops": 18})
of_one_channel = edit(MASTER, "wrong flops: 4 channels of 32 x 32", claims={"flops": 18 * 32 * 32})
elements_not_bytes = edit(MASTER, "wrong moved: That is the number of elements", claims={"moved": CLAIMS["moved"] // 4})
each_load = edit(MASTER, "wrong moved: however often it is loaded", claims={"moved": 4 * 19 * RESULTS})
picture_alone = edit(MASTER, "wrong moved: the result 4 of 32 x 32", claims={"moved": 4 * 4 * 34 * 34})
no_roof = edit(MASTER, 'wrong not-a-roof: "memory" or', claims={"roof": "bandwidth"})


@njit
def all_channels(x, weight, out):
    """wrong suspect: the sum over all channels"""
    for c in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                total = np.float32(0)
                for d in range(x.shape[0]):
                    for ky in range(3):
                        for kx in range(3):
                            total += weight[d, ky, kx] * x[d, y + ky, z + kx]
                out[c, y, z] = total


begun_with_old = edit(MASTER, "wrong adds-to-old: Begin each sum with 0", replace("np.float32(0)", "out[c, y, z]"))


@njit
def slices(x, weight, out):
    """wrong raised-NotAdmitted: without slices"""
    for c in range(out.shape[0]):
        for y in range(out.shape[1]):
            for z in range(out.shape[2]):
                out[c, y, z] = (weight[c] * x[c, y : y + 3, z : z + 3]).sum()


for function, claims in ((written_out, {"flops": 17 * RESULTS, "intensity": 17 * RESULTS / CLAIMS["moved"]}),):
    function.py_func.claims = claims
