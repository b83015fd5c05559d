"""Python stand-ins for compiler intrinsics (``numba.cuda.extending.intrinsic``), which have no Python body.

A 16-byte load, for example::

    @intrinsic
    def load4(typingctx, array, index): ...          # emits <4 x float> load, on a GPU

    def load4_in_python(context, array, index):      # the same, for the executor
        return context.load(array, index, 4)         # recorded as one access of 16 bytes

    simt.stand_in(load4, load4_in_python)

The stand-in takes the intrinsic's arguments after a ``context`` (``executor/standins.py``) with ``context.load(array,
index, count)`` and ``context.store(array, index, values)``.
"""

stand_ins = {}


def stand_in(intrinsic, python_function):
    """Let kernels that call ``intrinsic`` run ``python_function(context, *arguments)`` in the executor. Returns
    intrinsic."""
    if not callable(python_function):
        raise TypeError(f"stand_in takes a Python function, a {type(python_function).__name__} came")
    stand_ins[intrinsic] = python_function
    return intrinsic
