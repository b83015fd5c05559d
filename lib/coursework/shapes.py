"""Let numba say what NumPy says of `y += x` where x has another shape.

Whole arrays are added by one loop over the elements of what is written to. Where that is told (`y += x`, `np.sqrt(x,
y)`), numba 0.68 looks at no other shape: a shorter x is read on behind its end, whatever `boundscheck` says. So a
comparison of shapes is put before that loop, in each process that compiles answers.
"""

from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.np import npyimpl

_numpy_ufunc_kernel = npyimpl.numpy_ufunc_kernel


def checked_njit(**options):
    """`numba.njit` for an answer: an index or a shape that does not fit raises, and no memory of others is touched."""
    npyimpl.numpy_ufunc_kernel = _checked  # from now on, in this process
    return njit(boundscheck=True, **options)


def _checked(context, builder, sig, args, ufunc, kernel_class):
    told = [(arg, ty) for arg, ty in zip(args, sig.args, strict=True) if isinstance(ty, types.Array)]
    if len(args) > ufunc.nin and isinstance(sig.args[-1], types.Array):
        shapes = [_shape(context, builder, *typed_arg) for typed_arg in told]
        for shape in shapes[:-1]:
            _fits(context, builder, shape, shapes[-1])
    return _numpy_ufunc_kernel(context, builder, sig, args, ufunc, kernel_class)


def _shape(context, builder, array, ty):
    return cgutils.unpack_tuple(builder, context.make_array(ty)(context, builder, array).shape, ty.ndim)


def _fits(context, builder, shape, out):
    """Raise ValueError in compiled code unless `shape` can be broadcast to `out`."""
    size_one = ir.Constant(ir.IntType(64), 1)
    for size, wanted in zip(reversed(shape), reversed(out), strict=False):
        differs = builder.and_(builder.icmp_signed("!=", size, wanted), builder.icmp_signed("!=", size, size_one))
        with cgutils.if_unlikely(builder, differs):
            text = "the arrays have other shapes than the one that is written to"
            context.call_conv.return_user_exc(builder, ValueError, (text,))
