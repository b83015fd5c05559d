"""09-cost: What a separable layer saves, and what it does not."""

import numpy as np

from dlkernels.convolution import reference

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

INS, OUTS, SIDE = 32, 64, 28


def _layer(ins, outs, kernel, groups=1):
    """(x, weight, result) of a layer on SIDE x SIDE pixels that keeps their number; only the shapes matter."""
    x, weight = np.zeros((ins, SIDE, SIDE), np.float32), np.zeros((outs, ins // groups, kernel, kernel), np.float32)
    out = reference.conv2d(x, weight, None, 1, kernel // 2, 1, groups).astype(np.float32)
    return x, weight, out


def multiplications(x, weight, out):
    """Each element of the result has a product for each weight of its channel."""
    return out.size * weight[0].size


def moved(x, weight, out):
    return x.nbytes + weight.nbytes + out.nbytes


def _dense():
    return _layer(INS, OUTS, 3)


def _separable():
    return _layer(INS, INS, 3, INS), _layer(INS, OUTS, 1)


_PIXELS = SIDE * SIDE
_DENSE = OUTS * _PIXELS * INS * 9
_DEPTH, _POINT = INS * _PIXELS * 9, OUTS * _PIXELS * INS

COST = PredictionTask(
    id="09-cost",
    section=Section("9", "09_convolution", "Depthwise separable"),
    title="What a separable layer saves, and what it does not",
    objective="Predict multiplications and bytes of a convolution, grouped, and depthwise separable",
    points=2,
    minutes=8,
    questions=(
        Question(
            "dense",
            f"multiplications of a 3 x 3 layer, {INS} to {OUTS} channels, {SIDE} x {SIDE}",
            lambda: multiplications(*_dense()),
            {
                OUTS * _PIXELS * 9: f"That is one input channel. Each output channel looks at all {INS}.",
                INS * _PIXELS * 9: f"That is one output channel. There are {OUTS}.",
                _POINT: "That is a kernel of 1 x 1.",
                2 * _DENSE: "That counts the additions, too. Multiplications are asked for.",
                OUTS * INS * 9: "That is the number of weights. Each of them is used at every pixel of the result.",
            },
            "One element of the result: how many products has its sum? Then all elements.",
        ),
        Question(
            "grouped",
            "the same layer in 4 groups",
            lambda: multiplications(*_layer(INS, OUTS, 3, 4)),
            {
                _DENSE: "In 4 groups an output channel sees only the input channels of its own group.",
                _DENSE
                // 16: "The groups are four. Each has a quarter of the inputs and of the outputs: a sixteenth of the "
                "work, four times.",
                4 * _DENSE: "Groups make fewer pairs of channels, not more.",
                _DENSE // 8: "How many input channels does an output channel see, in 4 groups?",
                _DENSE // INS: "That is as many groups as channels. Here there are 4.",
            },
            "In 4 groups, how many input channels does one output channel see?",
        ),
        Question(
            "separable",
            "depthwise 3 x 3, then 1 x 1 to 64 channels: multiplications of both",
            lambda: sum(multiplications(*layer) for layer in _separable()),
            {
                _DEPTH: "That is the depthwise part alone. A 1 x 1 layer follows.",
                _POINT: "That is the 1 x 1 part alone. The depthwise layer comes before it.",
                OUTS * _PIXELS * 9 + OUTS * _PIXELS * OUTS: "The depthwise layer has as many channels as come in, 32.",
                OUTS * _PIXELS * 9 + _POINT: "The depthwise layer has as many channels as come in, 32, not as go out.",
            },
            "Depthwise: each channel has its own 3 x 3 weights and no sum over channels. The 1 x 1 layer: a product "
            "for each pair of channels.",
        ),
        Question(
            "dense_bytes",
            "bytes of the ordinary layer if x, weights and result move once, float32",
            lambda: moved(*_dense()),
            {
                moved(*_dense()) // 4: "That is the number of elements. A float32 has 4 bytes.",
                4 * (INS + OUTS) * _PIXELS: "The weights move, too.",
                4 * (INS * _PIXELS + 9 * INS * OUTS): "The result must be stored, too.",
                4 * (OUTS * _PIXELS + 9 * INS * OUTS): "The picture must be loaded, too.",
                4
                * (
                    (INS + OUTS) * _PIXELS + 9 * OUTS
                ): "Each output channel has 9 weights for each of the 32 input channels.",
            },
            "Three arrays: the pixels that come in, the weights, the pixels that go out. Write down the elements of "
            "each.",
        ),
        Question(
            "separable_bytes",
            "the same of the depthwise and the 1 x 1 layer together, one after the other",
            lambda: sum(moved(*layer) for layer in _separable()),
            {
                sum(moved(*layer) for layer in _separable())
                // 4: "That is the number of elements. A float32 has 4 bytes.",
                4
                * (
                    (INS + OUTS) * _PIXELS + 9 * INS + INS * OUTS
                ): "What the first layer stores, the second one loads: both move.",
                moved(*_separable()[0]): "That is the depthwise layer alone.",
                moved(*_separable()[1]): "That is the 1 x 1 layer alone.",
                4 * ((2 * INS + INS + OUTS) * _PIXELS): "The weights move, too.",
                4
                * (
                    (2 * INS + OUTS) * _PIXELS + 9 * INS + INS * OUTS
                ): "What the first layer stores, the second one loads: both move.",
            },
            "Two layers, three arrays each. The result of the first is the picture of the second, and counts twice.",
        ),
    ),
    hints=(
        "For one number of the result: over how many channels and places of the kernel does its sum go?",
        "A result of c channels has c * 28 * 28 elements. With g groups a sum goes over 1/g of the input channels; "
        "depthwise over one. Bytes: the elements of three arrays, times 4.",
        "ordinary: how many products for one of the 64 * 784 elements? Depthwise has 32 * 784 elements, and each has "
        "far fewer; 1 x 1 has the channels alone. For the bytes of two layers, the array between them counts twice.",
    ),
)
