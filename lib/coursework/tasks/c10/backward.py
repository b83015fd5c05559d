"""10-backward: A step, backwards."""

import itertools

import numpy as np

from ...definition import Case, Section, Slip, random_values
from ...kinds.function import FunctionTask
from .shared import all_close, float64_arrays, sigmoid, types_of

GATES = ("i", "f", "g", "o")


def backward_arguments(batch, hidden, scale=1.0):
    """make(rng) -> z (batch, 4 * hidden), c, of_h, of_c (batch, hidden), float64."""

    def make(rng):
        z, *rest = (random_values(rng, batch, width * hidden, dtype=np.float64) for width in (4, 1, 1, 1))
        return 2 * scale * z, *rest

    return make


def _forward(z, c):
    """(new h, new c, gates after their functions)."""
    i, f, g, o = np.split(z, 4, axis=1)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    new = f * c + i * g
    return o * np.tanh(new), new, (i, f, g, o)


def _loss(z, c, of_h, of_c):
    """What is differentiated: a loss whose gradients at the new h and c are of_h and of_c."""
    h, new, _ = _forward(z, c)
    return float((of_h * h).sum() + (of_c * new).sum())


def step_backward(
    z,
    c,
    of_h,
    of_c,
    through=lambda of_h, of_c, o, t: of_c + of_h * o * (1 - t * t),
    slopes=(lambda y: y * (1 - y), lambda y: y * (1 - y), lambda y: 1 - y * y, lambda y: y * (1 - y)),
    factors=lambda i, g, c, new: (g, c, i),
    of_o=lambda of_h, t, new: of_h * t,
    before=lambda total, f, of_c: total * f,
    order=(0, 1, 2, 3),
    put=lambda parts: np.concatenate(parts, axis=1),
):
    """(gradient of z, gradient of the old c); the options are mistakes."""
    _, new, (i, f, g, o) = _forward(z, c)
    t = np.tanh(new)
    total = through(of_h, of_c, o, t)
    parts = [total * factor for factor in factors(i, g, c, new)] + [of_o(of_h, t, new)]
    parts = [part * slope(y) for part, slope, y in zip(parts, slopes, (i, f, g, o), strict=True)]
    return put([parts[k] for k in order]), before(total, f, of_c)


def _slopes(**changed):
    right = {"i": lambda y: y * (1 - y), "g": lambda y: 1 - y * y}
    right |= {"f": right["i"], "o": right["i"]} | changed
    return tuple(right[name] for name in GATES)


_THROUGH_C = (
    "What arrives at the new c comes two ways: of_c from the next step, and of_h through h = o * tanh(c), times o and "
    "the slope of tanh, 1 - tanh(c)**2."
)
BACKWARDS = (
    ({"through": lambda of_h, of_c, o, t: of_c}, f"of_h does not reach c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_h * o * (1 - t * t)}, f"of_c is missing. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o}, "The slope of tanh is missing on the way from h to c. "
                                                            f"{_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * (1 - t * t)}, "The gate o is missing on the way from h to c. "
                                                                      f"{_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h}, "Neither o nor the slope of tanh stands on the way from h to "
                                                        f"c. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o * t}, f"tanh(c) stands where its slope must. {_THROUGH_C}"),
    ({"through": lambda of_h, of_c, o, t: of_c + of_h * o * (1 - t)}, "1 - tanh(c) stands where the slope of tanh "
                                                                      f"belongs. {_THROUGH_C}"),
    *(
        (
            {"slopes": _slopes(**dict.fromkeys(names, lambda y: 1.0))},
            f"{' and '.join(names)}: the slope of the function behind z is missing. That of a sigmoid y is y * (1 - "
            "y), that of tanh 1 - y**2.",
        )
        for count in (1, 2, 3, 4)
        for names in itertools.combinations(GATES, count)
    ),
    ({"slopes": _slopes(g=lambda y: y * (1 - y))}, "g has the slope of a sigmoid. It went through tanh: 1 - g**2."),
    (
        {"slopes": _slopes(**dict.fromkeys("ifo", lambda y: 1 - y * y))},
        "i, f and o have the slope of tanh. They went through a sigmoid: y * (1 - y).",
    ),
    (
        {"factors": lambda i, g, c, new: (g, new, i)},
        "f was multiplied by the new c. The step was c' = f * c + i * g with the old c: that is what stands with f.",
    ),
    (
        {"factors": lambda i, g, c, new: (i, c, g)},
        "i and g are exchanged: in i * g the slope of i is g, and the slope of g is i.",
    ),
    ({"of_o": lambda of_h, t, new: of_h * new}, "o: h = o * tanh(c), so that tanh(c) stands with o, not c."),
    ({"of_o": lambda of_h, t, new: of_h}, "o: h = o * tanh(c), so that the gradient of o is of_h times tanh(c)."),
    ({"before": lambda total, f, of_c: total}, "The old c: it went into the new one times f. The gradient gets that "
                                               "factor, too."),
    ({"before": lambda total, f, of_c: of_c * f}, "The old c gets f times all that arrives at the new c, not of_c "
                                                  f"alone. {_THROUGH_C}"),
    ({"before": lambda total, f, of_c: of_c}, "of_c came back as it was. The old c gets f times all that arrives at "
                                              f"the new c. {_THROUGH_C}"),
    (
        {"put": lambda parts: np.stack(parts, axis=2).reshape(len(parts[0]), -1)},
        "The gradient has the four gates of a unit side by side. As in z, all columns of i come first, then those of "
        "f, g and o.",
    ),
    *(
        ({"order": order}, f"The four parts stand in the order {', '.join(GATES[k] for k in order)}. As in z it shall "
                           "be i, f, g, o.")
        for order in itertools.permutations(range(4))
        if order != (0, 1, 2, 3)
    ),
)  # fmt: skip


def slope_by_trying(arguments, number, index, little=1e-5):
    """How much the loss grows for each unit by which one number of argument `number` grows: two steps forward, no
    rule."""
    ends = []
    for change in (little, -little):
        tried = [x.copy() for x in arguments]
        tried[number][index] += change
        ends.append(_loss(*tried))
    return (ends[0] - ends[1]) / (2 * little)


def judge_backward(arguments, result):
    """A Slip, or None for the right gradients; what is expected is measured, too."""
    right = step_backward(*arguments)
    said = float64_arrays(result, [part.shape for part in right])
    if said is None:
        shapes = " and ".join(str(part.shape) for part in right)
        cause = (
            "Two arrays are returned, in this order: the gradient of z, as wide as z, and the gradient of the old c."
        )
        return Slip("type", f"two arrays of shape {shapes}, float64", cause, types_of(result))
    wrong = [k for k in (0, 1) if not all_close(said[k], right[k])]
    if not wrong:
        return None
    number = wrong[0]
    bad = ~np.isclose(said[number], right[number], rtol=1e-9, atol=1e-12)
    row, column = (int(k) for k in np.unravel_index(np.argmax(bad), bad.shape))
    hidden = arguments[1].shape[1]
    name = f"{GATES[column // hidden]} of unit {column % hidden}" if number == 0 else f"the old c of unit {column}"
    slope = slope_by_trying(arguments, number, (row, column))
    expected = f"{right[number][row, column]:.6g} for {name} in row {row}; tried out, forward: {slope:.5g}"
    got = f"{said[number][row, column]:.6g}"
    for mistake, cause in BACKWARDS:
        guess = step_backward(*arguments, **mistake)
        if all(all_close(*pair) for pair in zip(said, guess, strict=True)):
            return Slip("gradient", expected, cause, got)
    if all(np.allclose(*pair, rtol=1e-4, atol=1e-5) for pair in zip(said, right, strict=True)):
        cause = (
            "Nearly right, but not to the last digits. Is something float32 on the way, or a slope taken from "
            "differences? The rules give it exactly."
        )
        return Slip("nearly", expected, cause, got)
    if all(all_close(-part, other) for part, other in zip(said, right, strict=True)):
        return Slip("gradient", expected, "All signs are turned round. A gradient says which way the loss grows.", got)
    gates = [GATES[k] for k in range(4) if bad.shape[1] == 4 * hidden and bad[:, k * hidden : (k + 1) * hidden].any()]
    if number == 1:
        return Slip(
            "old-c",
            expected,
            "The gradient of z is right, that of the old c is not: f times all that arrives at the new c.",
            got,
        )
    if gates == ["o"]:
        return Slip(
            "o",
            expected,
            "Only o is wrong. h = o * tanh(c'): its gradient is of_h times what o is multiplied by, times the slope of "
            "a sigmoid.",
            got,
        )
    if len(gates) == 1:
        rules = {"i": "g", "f": "the old c", "g": "i"}
        cause = (
            f"Only {gates[0]} is wrong: what arrives at the new c, times {rules[gates[0]]}, times the slope of the "
            "function that made it."
        )
        return Slip("one-gate", expected, cause, got)
    cause = f"Wrong: {', '.join(gates)}. Begin with what arrives at the new c. {_THROUGH_C}"
    return Slip("value", expected, cause, got)


BACKWARD = FunctionTask(
    id="10-backward",
    section=Section("10", "10_recurrent", "Backward through time"),
    title="A step, backwards",
    objective="Write the gradient of one step of an LSTM, and say where the two ways into the cell meet",
    points=3,
    minutes=21,
    judge=judge_backward,
    cases=(
        Case("2 rows, 3 units", backward_arguments(2, 3)),
        Case("one number each", backward_arguments(1, 1)),
        Case("5 rows, 4 units, gates nearly shut or open", backward_arguments(5, 4, 4.0)),
    ),
    advice={
        "raised-ValueError": "Two shapes do not fit. z has (batch, 4 * hidden): cut it along axis 1, and put the four "
        "parts together along axis 1.",
        "raised-TypeError": "math.exp and math.tanh take one number. np.exp and np.tanh take an array.",
    },
    hints=(
        "Which way does a small change of the old c take to the loss? There are two ways from the new c on: draw them.",
        "Go forward once, as in task 2, and keep i, f, g, o and the new c. Then collect what arrives at the new c; "
        "from there each gate and the old c get it, times what they are multiplied by in the step.",
        "At the new c arrives what comes from outside, and what comes through h: by what was tanh(c') multiplied "
        "there, and what is the slope of tanh? A factor of a product gets what arrives, times its partner; each gate "
        "then times its own slope. o hangs on h alone. What is left for the old c is one product.",
    ),
)
