"""What a result may be: compared with what a task's `spec` gives, or looked at by its `judge`."""

import numpy as np

from .definition import Slip
from .plain import plain


def judged(task, arguments, result):
    """None, or the Slip of a result."""
    if task.judge is not None:
        return task.judge(arguments, result)
    expected = plain(task.spec(*arguments))
    if same(result, expected):
        return None
    return Slip("wrong-result", short(expected), task.advice.get("wrong-result", ""))


def same(a, b):
    """Equality of plain data; numbers of floating point may differ in the last digits."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    if isinstance(a, float) or isinstance(b, float):
        return isinstance(a, int | float) and isinstance(b, int | float) and abs(a - b) <= 1e-9 * max(1, abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in b)
    return type(a) is type(b) and a == b


def short(value):
    """A value in a few words."""
    text = f"array {np.array2string(value, threshold=8)}" if isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
