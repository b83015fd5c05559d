"""What was found is kept, with all that it depends on."""

import contextlib
import json

import numba
import numpy as np

from dlkernels.simd.kept import Kept

_FILE = Kept("cpulab", "tuned")


def key(question, arrays=(), **more):
    """The name under which an answer is kept: what was asked, dtypes and shapes, threads, versions, `more`.

    The processor, its features and the library's source are in the name of the file (dlkernels/simd/kept.py).
    """
    parts = {
        "question": question,
        "arrays": [f"{array.dtype}{list(array.shape)}" for array in arrays],
        "threads": numba.get_num_threads(),
        "versions": {"numba": numba.__version__, "numpy": np.__version__},
        **more,
    }
    return json.dumps(parts, sort_keys=True)


def tuned(space, find, question, arrays=(), again=False, **more):
    """The configuration that is kept for a `key`, if it is in the space; else ``find()``, kept for the next process.

    find: function without arguments that returns a configuration or `Found`. again: search anyway.
    """
    name = key(question, arrays, **more)
    kept = None if again else _FILE.read().get(name)
    if isinstance(kept, dict):
        with contextlib.suppress(KeyError, ValueError):  # a value or a constraint has changed since
            return space[space.number({p: _of_text(values, kept[p]) for p, values in space.parameters.items()})]
    best = find()
    best = getattr(best, "best", best)
    best = space[space.number(best)]
    _FILE.update({name: {parameter: repr(value) for parameter, value in best.items()}})
    return best


def _of_text(values, text):
    """The value with that text: a file has no tuples and no numbers of NumPy. ValueError where there is none."""
    return values[[repr(value) for value in values].index(text)]
