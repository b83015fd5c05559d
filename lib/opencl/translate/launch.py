"""Run a translated kernel: the launch of CUDA as a range of work-items, host arrays as buffers and back."""

import functools

import numpy as np

from simt.executor.arguments import Arguments
from simt.kernel import kernel_of
from simt.limits import dimensions

from .translated import Refused, translate


@functools.cache
def _device():
    import pyopencl as cl

    devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    gpus = [d for d in devices if d.type & cl.device_type.GPU]
    context = cl.Context([(gpus or devices)[0]])
    return cl, context, cl.CommandQueue(context)


@functools.lru_cache(maxsize=512)
def _built(source, name):
    cl, context, _ = _device()
    return cl.Kernel(cl.Program(context, source).build(), name)


def run(kernel, grid, block, arguments, shared_bytes=0):
    """Translate a kernel and launch it in OpenCL; results come back into the arrays. Returns the `Translated`.

    arguments: as for ``kernel[grid, block](...)``. `Refused` where it cannot be translated.
    """
    cl, context, queue = _device()
    kernel, grid, block = kernel_of(kernel), dimensions(grid, "griddim"), dimensions(block, "blockdim")
    translated = translate(kernel, block, arguments)
    _check(context.devices[0], translated)
    prepared = Arguments(kernel, arguments, None)
    names = kernel.py_func.__code__.co_varnames
    values, buffers = dict(zip(names, prepared.values, strict=False)), {}
    passed = []
    for parameter in translated.parameters:
        passed.append(_passed(cl, context, values, parameter, buffers))
    if translated.dynamic:
        passed.append(cl.LocalMemory(max(shared_bytes, 16)))
    compiled = _built(translated.source.replace("dynamic_bytes", f"{shared_bytes}L"), translated.name)
    compiled.set_args(*passed)
    size = tuple(g * b for g, b in zip(grid, block, strict=True))
    cl.enqueue_nd_range_kernel(queue, compiled, size, block)
    for buffer, memory in buffers.values():
        if memory.flags.writeable:
            cl.enqueue_copy(queue, memory, buffer)
    queue.finish()
    prepared.copy_back()
    return translated


def _check(device, translated):
    """`Refused` where a device cannot run a translation."""
    threads, most = int(np.prod(translated.block)), device.max_work_group_size
    if threads > most:
        words = f"a block of {threads} threads: {device.name} takes {most} work-items in a group. Launch smaller ones"
        raise Refused(words)
    if translated.doubles and not device.double_fp_config:
        raise Refused(
            f"arithmetic in float64, which {device.name} does not have: write float32(0.5) for 0.5, and "
            "give float32 arrays"
        )


def _passed(cl, context, values, parameter, buffers):
    """An argument of the kernel in OpenCL: a buffer, an extent, a number."""
    _, _, path, what, *axis = parameter
    value = values[path[0]]
    for k in path[1:]:
        value = value[k]
    if what == "number":
        return np.asarray(value)[()] if not isinstance(value, bool | np.bool_) else np.uint8(value)
    data = value.data
    if what == "shape":
        return np.int64(data.shape[axis[0]])
    if what == "strides":
        return np.int64(data.strides[axis[0]] // data.itemsize)
    return _buffer(cl, context, data, buffers)


def _buffer(cl, context, data, buffers):
    """The memory of an array on the device; arrays that share memory share a buffer."""
    memory = data
    while isinstance(memory.base, np.ndarray):
        memory = memory.base
    key = memory.__array_interface__["data"][0]
    flat = np.lib.stride_tricks.as_strided(memory, (memory.size,), (memory.itemsize,)) if memory.size else memory
    if key not in buffers:
        host = flat.view(np.uint8) if flat.size else np.zeros(16, np.uint8)
        buffers[key] = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=host), host
    offset = data.__array_interface__["data"][0] - key if data.size else 0
    buffer = buffers[key][0]
    return buffer.get_sub_region(offset, data.nbytes) if offset else buffer
