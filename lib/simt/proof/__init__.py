"""Proof where it can be had: whether a kernel is free of races in every launch. z3 asks, the x-ray confirms.

walk.py  loops.py  expressions.py  calls.py        one thread that stands for any, through the kernel's source
values.py  arithmetic.py  any_launch.py  state.py  what variables hold, what is known of the launch, where it stands
query.py                                           two threads out of one, and the question to z3
launches.py  proving.py  verdict.py                a launch out of z3's answer, run by the x-ray; what all of it came to
"""


def prove(kernel, *types, block=None, grid=None, where=None):
    """Whether no two threads of ``kernel`` race, in any launch: a `Verdict`.

        print(prove(kernel, "void(float32[:], float32[:])"))
        print(prove(kernel, x, y, n))                            # arguments, for their types only

    The verdict is one of three. "free": for every block size up to 1024, every grid, every size of arrays and every
    scalar. "fails": with a launch that the x-ray has run, and its finding. "not provable": with the reason, the place
    in the source, and what was run instead. Where threads may take different ways round a barrier, that is looked for,
    too.

    types: numba types, a signature, or arguments such as a launch has; none where the kernel was declared with a
    signature. block: look at launches with this block only (an int or a tuple), as for a kernel that is written for it.
    where: what holds of the launches that are meant, a function of parameters by their names that returns a comparison
    or a list of them: ``where=lambda x, n: n == x.shape[0]``. It becomes an assumption of the verdict. grid: with a
    block and arguments, a launch that the x-ray looks at where nothing is proved; it changes no argument.

    The method is the two-thread reduction of GPUVerify (Betts, Chong, Donaldson, Qadeer, Thomson: GPUVerify, a verifier
    for GPU kernels, OOPSLA 2012) and PUG (Li, Gopalakrishnan: Scalable SMT-based verification of GPU kernel functions,
    FSE 2010): two threads that may be any, with accesses between two barriers compared by z3. What z3 holds possible
    counts only when the x-ray has seen it. What is assumed stands in the verdict.
    """
    try:
        import z3  # noqa: F401
    except ImportError:
        raise ImportError(
            "prove() asks the solver z3, which is not installed here. Install it: pip install z3-solver"
        ) from None
    from .proving import prove as proved

    return proved(kernel, *types, block=block, grid=grid, where=where)


__all__ = ["prove"]
