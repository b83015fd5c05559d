"""Other numbers for the predictions of chapter 09."""

from . import Asked, Variants


def size(n, kernel, stride=1, padding=0, dilation=1):
    """The side of a convolution's result."""
    return (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def sizes(picture, kernel, large, side, dilation):
    plain, halved, first_layer = size(picture, kernel), size(picture, 3, 2, 1), size(large, 7, 2, 3)
    span = 2 * dilation + 1
    beyond = "The last step would put the window beyond the padding: a place that is left over does not count."
    every = "That is stride 1. With stride 2 the window jumps over every second place."
    return {
        "plain": Asked(
            f"side of the result: picture {picture} x {picture}, kernel {kernel} x {kernel}",
            plain,
            {
                picture: "That needs padding. Without it the window must lie inside the picture: where does its left "
                "edge stand last?",
                plain
                - 1: f"The left edge can stand at 0, 1, 2 ... up to {picture} - {kernel}. How many places are that?",
                plain
                + 1: f"Its left edge stands at 0 first. Where does it stand last, if the window has {kernel} pixels?",
                picture - 2: "That is a kernel of 3 x 3.",
                plain**2: "Those are all numbers of the result. How many rows has it?",
            },
            "Write down the first and the last place at which the window's left edge can stand.",
        ),
        "halved": Asked(
            f"the same: picture {picture} x {picture}, kernel 3 x 3, stride 2, padding 1",
            halved,
            {
                picture: every,
                halved - 1: "That is without padding, or it is the number of steps: the first place counts, too.",
                halved + 1: beyond,
                halved - 0.5: "A rest of a step is no place: round down, and count the first place, too.",
            },
            f"With padding the picture is {picture + 2} wide. Go from left to right in steps of 2, and count.",
        ),
        "first_layer": Asked(
            f"the same: picture {large} x {large}, kernel 7 x 7, stride 2, padding 3",
            first_layer,
            {
                first_layer - 3: "That is without padding. There are 3 zeros on each side.",
                first_layer - 2: "There are 3 zeros on each side, 6 in all.",
                first_layer - 1: (
                    "That is the number of steps, or padding on one side only. How wide is the padded picture, and how "
                    "many places are there, the first one included?"
                ),
                first_layer + 1: beyond,
                large: every,
                large - 1: "That would be the places of stride 1, less one.",
            },
            f"With padding the picture is {large + 6} wide. The left edge can stand at 0, 2, 4 ...: up to where?",
        ),
        "spread": Asked(
            f"the same: picture {side} x {side}, kernel 3 x 3, dilation {dilation}",
            size(side, 3, dilation=dilation),
            {
                side - 2: f"That is dilation 1. With dilation {dilation} neighbouring weights meet pixels that are "
                f"{dilation} apart.",
                side - 3 * dilation: (
                    "Three weights have two gaps between them, not three: how many pixels does the window span?"
                ),
                side - 3 * dilation + 1: (
                    f"Three weights that are {dilation} apart: first pixel 0, last pixel {span - 1}. How many pixels "
                    "does the window span?"
                ),
                side - span: f"The window spans {span} pixels. At how many places can its left edge stand?",
                side - span + 2: f"The window spans pixels 0 to {span - 1}: those are {span}, not {span - 1}.",
                side - span + 3: (
                    f"Three weights have two gaps. How wide is a window with weights at 0, {dilation} and "
                    f"{2 * dilation}?"
                ),
                side: "That needs padding.",
            },
            "Draw the three weights of a row with their distance. From the first to the last, how many pixels is that?",
        ),
    }


def cost(ins, outs, side, groups):
    pixels, nine = side * side, 9 * ins * outs
    dense, depth, point = nine * pixels, 9 * ins * pixels, ins * outs * pixels
    moved = 4 * ((ins + outs) * pixels + nine)
    first_layer, second_layer = 4 * (2 * ins * pixels + 9 * ins), 4 * ((ins + outs) * pixels + ins * outs)
    kept = "What the first layer stores, the second one loads: both move."
    channels = f"The depthwise layer has as many channels as come in, {ins}"
    return {
        "dense": Asked(
            f"multiplications of a 3 x 3 layer, {ins} to {outs} channels, {side} x {side}",
            dense,
            {
                9 * outs * pixels: f"That is one input channel. Each output channel looks at all {ins}.",
                9 * ins * pixels: f"That is one output channel. There are {outs}.",
                point: "That is a kernel of 1 x 1.",
                2 * dense: "That counts the additions, too. Multiplications are asked for.",
                nine: "That is the number of weights. Each of them is used at every pixel of the result.",
            },
            "One element of the result: how many products has its sum? Then all elements.",
        ),
        "grouped": Asked(
            f"the same layer in {groups} groups",
            dense // groups,
            {
                dense: f"In {groups} groups an output channel sees only the input channels of its own group.",
                dense // groups**2: (
                    f"The groups are {groups}. Each has 1/{groups} of the inputs and of the outputs: 1/{groups**2} of "
                    f"the work, {groups} times."
                ),
                groups * dense: "Groups make fewer pairs of channels, not more.",
                dense // (2 * groups): f"How many input channels does an output channel see, in {groups} groups?",
                dense // ins: f"That is as many groups as channels. Here there are {groups}.",
            },
            f"In {groups} groups, how many input channels does one output channel see?",
        ),
        "separable": Asked(
            f"depthwise 3 x 3, then 1 x 1 to {outs} channels: multiplications of both",
            depth + point,
            {
                depth: "That is the depthwise part alone. A 1 x 1 layer follows.",
                point: "That is the 1 x 1 part alone. The depthwise layer comes before it.",
                9 * outs * pixels + outs * outs * pixels: f"{channels}.",
                9 * outs * pixels + point: f"{channels}, not as go out.",
            },
            "Depthwise: each channel has its own 3 x 3 weights and no sum over channels. The 1 x 1 layer: a product "
            "for each pair of channels.",
        ),
        "dense_bytes": Asked(
            "bytes of the ordinary layer if x, weights and result move once, float32",
            moved,
            {
                moved // 4: "That is the number of elements. A float32 has 4 bytes.",
                4 * (ins + outs) * pixels: "The weights move, too.",
                4 * (ins * pixels + nine): "The result must be stored, too.",
                4 * (outs * pixels + nine): "The picture must be loaded, too.",
                4 * ((ins + outs) * pixels + 9 * outs): (
                    f"Each output channel has 9 weights for each of the {ins} input channels."
                ),
            },
            "Three arrays: the pixels that come in, the weights, the pixels that go out. Write down the elements of "
            "each.",
        ),
        "separable_bytes": Asked(
            "the same of the depthwise and the 1 x 1 layer together, one after the other",
            first_layer + second_layer,
            {
                (first_layer + second_layer) // 4: "That is the number of elements. A float32 has 4 bytes.",
                first_layer + second_layer - 8 * ins * pixels: kept,
                first_layer + second_layer - 4 * ins * pixels: kept,
                first_layer: "That is the depthwise layer alone.",
                second_layer: "That is the 1 x 1 layer alone.",
                4 * (3 * ins + outs) * pixels: "The weights move, too.",
            },
            "Two layers, three arrays each. The result of the first is the picture of the second, and counts twice.",
        ),
    }


VARIANTS = {
    "09-sizes": Variants(
        {"picture": 28, "kernel": 5, "large": 224, "side": 32, "dilation": 4},
        {
            "picture": (24, 28, 32, 36, 40),
            "kernel": (5, 7, 9),
            "large": (160, 192, 224, 256),
            "side": (28, 32, 40, 48),
            "dilation": (3, 4, 5),
        },
        "`plain` and `halved` have a picture of {picture} x {picture}, `plain` a kernel of {kernel} x {kernel}; "
        "`first_layer` has a picture of {large} x {large}; `spread` one of {side} x {side}, and dilation {dilation}.",
        sizes,
    ),
    "09-cost": Variants(
        {"ins": 32, "outs": 64, "side": 28, "groups": 4},
        {"ins": (16, 32, 48), "outs": (64, 80, 96, 128), "side": (20, 24, 28, 32), "groups": (4, 8)},
        "the layer turns {ins} channels of {side} x {side} pixels into {outs}; the grouped one has {groups} groups.",
        cost,
    ),
}
