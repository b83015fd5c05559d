"""What several tasks of chapter 10 use: how results of several arrays are read and named."""

import numpy as np

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def sigmoid(x):
    """1 / (1 + exp(-x)), for any x."""
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def float64_arrays(result, shapes):
    """What was returned, as float64 arrays of these shapes; None for anything else."""
    if type(result) not in (tuple, list) or len(result) != len(shapes):
        return None
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in result):
        return None
    return [part.astype(np.float64) for part in result] if [part.shape for part in result] == list(shapes) else None


def types_of(result):
    """What came, in words."""
    parts = result if type(result) in (tuple, list) else (result,)
    return ", ".join(
        f"{p.dtype} of shape {p.shape}" if isinstance(p, np.ndarray) else f"a {type(p).__name__}" for p in parts
    )


def all_close(a, b):
    return np.allclose(a, b, rtol=1e-9, atol=1e-12)
