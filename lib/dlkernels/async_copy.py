"""Copies from global to shared memory that go on while the thread does something else (cp.async, compute capability
8.0).

    copy_async(tile, (row, column), a, index, inside)     16 bytes set out; zeros where `inside` is false
    ...arithmetic...
    wait_copies()                                         all that this thread has sent has arrived
    cuda.syncthreads()                                    and all that the other threads have sent

An ordinary load brings the bytes into registers, and a store takes them on to shared memory; a copy needs no register
and no second instruction. The arrays have elements of 4 bytes and are aligned as in wide.py.

In the executor, a copy arrives when its thread waits. Until then its target reads as poison, so a missing wait shows.
(PTX ISA, "cp.async" and "cp.async.wait_all".)
"""

from llvmlite import ir

from simt import stand_in

from .wide import element_pointer, intrinsic, types

GLOBAL, SHARED = 1, 3  # numbers of address spaces
BYTES = 16


def pointer_in(space, builder, pointer):
    """The address of a pointer within its space, as an integer: 32 bits for shared, 64 for global memory."""
    inside = builder.addrspacecast(pointer, ir.PointerType(pointer.type.pointee, space))
    return builder.ptrtoint(inside, ir.IntType(32 if space == SHARED else 64))


@intrinsic
def copy_async(typing_context, target, target_index, source, source_index, inside):
    """Send four elements of `source`, from `source_index` on, to shared memory; where not `inside`, four zeros."""

    def generate(context, builder, signature, args):
        target_type, target_kind, source_type, source_kind, _ = signature.args
        to = element_pointer(context, builder, target_type, args[0], target_kind, args[1])
        start = element_pointer(context, builder, source_type, args[2], source_kind, args[3])
        word, long = ir.IntType(32), ir.IntType(64)
        count = builder.select(args[4], word(BYTES), word(0))  # bytes to read; the rest is filled with zeros
        function = ir.FunctionType(ir.VoidType(), [word, long, word])
        text = f"cp.async.cg.shared.global [$0], [$1], {BYTES}, $2;"
        code = ir.InlineAsm(function, text, "r,l,r,~{memory}", side_effect=True)
        builder.call(code, [pointer_in(SHARED, builder, to), pointer_in(GLOBAL, builder, start), count])
        return context.get_dummy_value()

    return types.void(target, target_index, source, source_index, types.boolean), generate


@intrinsic
def wait_copies(typing_context):
    """Wait until all copies that this thread has sent have arrived."""

    def generate(context, builder, signature, args):
        function = ir.FunctionType(ir.VoidType(), [])
        builder.call(ir.InlineAsm(function, "cp.async.wait_all;", "~{memory}", side_effect=True), [])
        return context.get_dummy_value()

    return types.void(), generate


def _copy_in_python(context, target, target_index, source, source_index, inside):
    if inside:
        context.send(target, target_index, context.load(source, source_index, 4))
    else:
        context.send(target, target_index, (0, 0, 0, 0))


def _wait_in_python(context):
    context.arrive()


stand_in(copy_async, _copy_in_python)
stand_in(wait_copies, _wait_in_python)
