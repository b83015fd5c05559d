"""The weights and the multiply-adds of a depthwise separable layer, counted."""

from . import FALSE, Part

CLAIM = "Depthwise convolution uses 1x1 kernels. (And: depthwise separable convolution cuts work by about k^2.)"
CHANNELS, OUTPUTS, SIDE, K = 64, 256, 28, 3
PARTS = (
    Part(
        "kernel",
        "the depthwise kernel is 1 x 1",
        "weights of each channel's kernel, k = 3",
        FALSE,
        "09_convolution",
        1,
        1,
        exact=True,
    ),
    Part(
        "work",
        "the work is cut by about k^2",
        "multiply-adds, dense / separable, over k^2; 64 to 256 channels",
        "true if there are many more output channels than k^2",
        "09_convolution",
        0.9,
        1.0,
        exact=True,
    ),
)


def measure(quick):
    import numpy as np

    from dlkernels import conv2d, conv2d_separable

    x = np.ones((CHANNELS, SIDE, SIDE), np.float32)
    depthwise, pointwise = np.ones((CHANNELS, 1, K, K), np.float32), np.ones((OUTPUTS, CHANNELS, 1, 1), np.float32)
    dense = np.ones((OUTPUTS, CHANNELS, K, K), np.float32)
    one, other = conv2d(x, dense, padding=1), conv2d_separable(x, depthwise, pointwise, padding=1)
    assert one.shape == other.shape == (OUTPUTS, SIDE, SIDE)  # the two take each other's place
    work = dense.size / (depthwise.size + pointwise.size)  # each weight is used once for each pixel
    return {"kernel": depthwise[0].size, "work": work / K**2}
