"""Which way a convolution goes on a GPU: the one place that decides it, and says why."""

from ..implementations import implementation
from . import gpu, gpu_depthwise, gpu_gemm
from .choose import Choice

FEWEST = gpu_gemm.EDGE // 4  # channels of a group; with fewer, three of four multiply-adds of a tile are for nobody


def way(x, weight, g, out):
    """(name of the rung, why) for device arrays with a batch."""
    of_group = weight.shape[0] // g.groups
    if of_group < gpu.CHANNELS and gpu_depthwise.fits(x, weight, g, out):
        return "conv2d_depthwise_rows", "one input channel for each result: nothing to share among channels."
    if of_group >= FEWEST and gpu_gemm.fits(x, weight, g, out):
        shared = min(of_group, gpu_gemm.EDGE)
        return (
            "conv2d_implicit_gemm",
            f"a pixel that is loaded serves {shared} channels, a weight {gpu_gemm.ACROSS} pixels.",
        )
    if not gpu.fits(g, out):
        return "conv2d_one_per_output", "what a block sees does not fit into shared memory."
    if of_group >= gpu.CHANNELS:
        return "conv2d_channels", f"{of_group} channels for each pixel: too few for tiles of {gpu_gemm.EDGE}."
    return "conv2d_shared_halo", "less than four channels for each pixel: it serves its neighbours only."


def explained(x, weight, g, out):
    """The `Choice` for device arrays with a batch, in words."""
    multiplies = out.size * weight[0].size
    if not multiplies:
        return Choice("conv2d_chosen", "there is nothing to multiply.", 0, 0)
    return Choice(*way(x, weight, g, out), multiplies, 0)


RUNGS = (
    gpu.conv2d_one_per_output,
    gpu.conv2d_shared_halo,
    gpu.conv2d_channels,
    gpu_gemm.conv2d_implicit_gemm,
    gpu_depthwise.conv2d_depthwise_rows,
)
WAYS = {rung.__name__: rung.__wrapped__ for rung in RUNGS}


@implementation(
    "conv2d",
    "gpu",
    adds="of these, what fits the shape: conv2d(..., explain=True) says it",
    dtypes=("float32",),
    kernels=[
        (gpu_gemm.implicit_kernel, [gpu_gemm.LINES]),
        (gpu_depthwise.depthwise_kernel(*gpu_depthwise.USUAL[0]), [gpu_depthwise.DEPTHWISE]),
    ],
    public=True,
)
@gpu.on_pictures
def conv2d_chosen(x, weight, bias, g, out):
    WAYS[way(x, weight, g, out)[0]](x, weight, bias, g, out)
