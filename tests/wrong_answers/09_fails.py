"""Answers to 09-fails."""

import numpy as np
from answers import data

RIGHT = {
    "first": {"n": 9, "taps": 1, "padding": 0, "dilation": 1, "stride": 2},
    "second": {"n": 5, "taps": 2, "padding": 8, "dilation": 3, "stride": 3},
    "third": {"n": 1, "taps": 3, "padding": 2, "dilation": 2, "stride": 1},
    "fourth": {"n": 64, "taps": 6, "padding": 8, "dilation": 4},
}

numpy_numbers = data(
    "right", RIGHT | {"first": {"n": np.int64(64), "taps": 3, "padding": np.int32(4), "dilation": 1, "stride": 1}}
)
the_usual_layer = data(
    "wrong agrees: When is out as long as x",
    RIGHT | {"first": {"n": 30, "taps": 3, "padding": 1, "dilation": 1, "stride": 1}},
)
the_usual_layer_dilated = data(
    "wrong agrees: an element of x that counts and is left out",
    RIGHT | {"first": {"n": 30, "taps": 3, "padding": 2, "dilation": 2, "stride": 1}},
)
no_dilation = data(
    "wrong agrees: What is it multiplied by",
    RIGHT | {"second": {"n": 30, "taps": 5, "padding": 4, "dilation": 1, "stride": 2}},
)
no_padding = data(
    "wrong agrees: makes that no difference",
    RIGHT | {"second": {"n": 30, "taps": 5, "padding": 0, "dilation": 3, "stride": 2}},
)
neighbours = data(
    "wrong agrees: what does rounding leave out",
    RIGHT | {"third": {"n": 30, "taps": 5, "padding": 8, "dilation": 1, "stride": 3}},
)
no_window = data(
    "wrong not-allowed: a window fits into the line",
    RIGHT | {"first": {"n": 5, "taps": 9, "padding": 1, "dilation": 1, "stride": 1}},
)
no_step = data(
    "wrong not-allowed: a whole number from 1 to 3",
    RIGHT | {"second": {"n": 5, "taps": 3, "padding": 1, "dilation": 1, "stride": 0}},
)
a_float = data(
    "wrong not-allowed: with a point",
    RIGHT | {"third": {"n": 17.0, "taps": 3, "padding": 1, "dilation": 2, "stride": 1}},
)
a_flag = data(
    "wrong not-allowed: True or False",
    RIGHT | {"third": {"n": 17, "taps": True, "padding": 1, "dilation": 2, "stride": 1}},
)
a_stride_too_many = data(
    'wrong not-allowed: a dict with "n", "taps", "padding", "dilation"',
    RIGHT | {"fourth": {"n": 64, "taps": 9, "padding": 0, "dilation": 3, "stride": 1}},
)
a_tuple = data("wrong not-allowed: which is a list", RIGHT | {"first": (20, 3, 0, 1, 1)})
