"""The listings of the page "Which tool when": run where a CPU can run them, compiled for GPUs where not.

    TOOLS_PYTHON=/path/to/python python benchmarks/run.py listings

TOOLS_PYTHON is an interpreter with ``torch triton "pyopencl[pocl]" "cuda-tile[tileiras]" mojo max-core max-mojo-libs``;
they are far from what the course needs. CUDA C is compiled here, by NVRTC (``make gpu``).
"""

import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "chapters" / "listings"
FILES = {
    "CUDA C": "cuda_c.cu",
    "OpenCL C": "opencl.cl",
    "Triton": "triton_kernels.py",
    "cuTile": "cutile_kernels.py",
    "Mojo": "mojo_kernels.mojo",
}
GPUS = ("sm_80", "sm_90", "sm_120")
NAMES = ("add", "softmax", "matmul")


def benchmark(quick):
    """{"rows": a tool, its version, how, and for each kernel its largest error or its bytes; "files": their hashes}

    cuTile's row has "tensor", too: instructions for tensor cores in its matmul on GPUS[0], by type and tile.
    """
    python = os.environ.get("TOOLS_PYTHON")
    if not python:
        from simt.xray import Unavailable

        raise Unavailable("TOOLS_PYTHON names no Python with the tools; benchmarks/listings.py says which they are.")
    rows = [cuda_c()]
    for tool in ("OpenCL C", "Triton", "cuTile", "Mojo"):
        done = subprocess.run([python, __file__, tool], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{tool}:\n{done.stderr[-3000:]}")
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    for row in rows:
        print(f"{row['tool']:10} {row['version']:12} {row['how']}: {row['kernels']}")
    return {"rows": rows, "files": {name: digest(name) for name in FILES.values()}}


def digest(name):
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()


def row(tool, version, how, kernels):
    return {"tool": tool, "version": version, "how": how, "kernels": kernels}


def problems():
    """{kernel: (arguments, expected)}: sizes that no tile divides"""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1000), dtype=np.float32)
    x = rng.standard_normal((7, 100), dtype=np.float32)
    left, right = rng.standard_normal((33, 41), dtype=np.float32), rng.standard_normal((41, 50), dtype=np.float32)
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return {
        "add": ((a, b), a + b),
        "softmax": ((x,), weights / weights.sum(axis=1, keepdims=True)),
        "matmul": ((left, right), left.astype(np.float64) @ right),
    }


def errors(run):
    """The largest difference of each kernel; run(name, arguments, out) fills out."""
    found = {}
    for name, (arguments, expected) in problems().items():
        out = np.full(expected.shape, np.nan, np.float32)
        run(name, arguments, out)
        found[name] = float(np.abs(out - expected).max())
        assert found[name] < 2e-5, (name, found[name])
    return found


def cuda_c():
    """Compiled by NVRTC for three GPUs: bytes of the three cubins of the file."""
    from cuda.bindings import nvrtc

    source = (FOLDER / FILES["CUDA C"]).read_bytes()
    sizes = {}
    for gpu in GPUS:
        _, program = nvrtc.nvrtcCreateProgram(source, b"cuda_c.cu", 0, [], [])
        (result,) = nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture={gpu}".encode()])
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            log = b" " * nvrtc.nvrtcGetProgramLogSize(program)[1]
            nvrtc.nvrtcGetProgramLog(program, log)
            raise RuntimeError(f"{gpu}: {log.decode()}")
        sizes[gpu] = nvrtc.nvrtcGetCUBINSize(program)[1]
    major, minor = nvrtc.nvrtcVersion()[1:]
    return row("CUDA C", f"NVRTC {major}.{minor}", f"compiled for {', '.join(GPUS)}", sizes)


def opencl():
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, (FOLDER / FILES["OpenCL C"]).read_text()).build()
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR

    def run(name, arguments, out):
        buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (*arguments, out)]
        rows, columns = out.shape if out.ndim == 2 else (1, out.size)
        items, group, sizes = {
            "add": ((-(-columns // 256) * 256,), (256,), (columns,)),
            "softmax": ((rows * 32,), (32,), (columns,)),
            "matmul": (
                (-(-columns // 16) * 16, -(-rows // 16) * 16),
                (16, 16),
                (rows, columns, arguments[0].shape[-1]),
            ),
        }[name]
        cl.Kernel(program, name)(queue, items, group, *buffers, *map(np.int32, sizes))
        cl.enqueue_copy(queue, out, buffers[-1])

    version = context.devices[0].platform.version.split("PoCL ")[-1].split()[0]
    return row("OpenCL C", f"PoCL {version}", "run on the CPU", errors(run))


def triton():
    os.environ["TRITON_INTERPRET"] = "1"
    sys.path.insert(0, str(FOLDER))
    import torch
    import triton_kernels

    def run(name, arguments, out):
        rows, columns = out.shape if out.ndim == 2 else (1, out.size)
        grid, sizes = {
            "add": ((-(-columns // 256),), (columns, 256)),
            "softmax": ((rows,), (columns, 128)),
            "matmul": ((-(-rows // 16), -(-columns // 16)), (rows, columns, arguments[0].shape[-1], 16)),
        }[name]
        getattr(triton_kernels, name)[grid](*map(torch.from_numpy, (*arguments, out)), *sizes)

    return row("Triton", importlib.metadata.version("triton"), "run on the CPU, interpreted", errors(run))


def cutile():
    sys.path.insert(0, str(FOLDER))
    import cuda.tile as ct
    import cutile_kernels
    from cuda.tile import compilation

    def array(dimensions, dtype=ct.float32):
        return compilation.ArrayConstraint(
            dtype,
            dimensions,
            index_dtype=ct.int32,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=False,
        )

    def cubin(name, parameters, gpu):
        signature = compilation.KernelSignature(parameters, compilation.CallingConvention.cutile_python_v1())
        file = io.BytesIO()
        compilation.export_kernel(getattr(cutile_kernels, name), [signature], file, gpu_code=gpu, output_format="cubin")
        return file.getvalue()

    parameters = {"add": [array(1)] * 3 + [256], "softmax": [array(2)] * 2 + [128], "matmul": [array(2)] * 3 + [16]}
    sizes = {gpu: sum(len(cubin(name, parameters[name], gpu)) for name in NAMES) for gpu in GPUS}
    tensor = {
        f"{dtype}, {tile}": instructions(cubin("matmul", [array(2, dtype)] * 2 + [array(2), tile], GPUS[0]), "HMMA")
        for dtype in (ct.float32, ct.float16)
        for tile in (16, 64)
    }
    found = row("cuTile", importlib.metadata.version("cuda-tile"), f"compiled for {', '.join(GPUS)}", sizes)
    return found | {"tensor": tensor}


def instructions(cubin, name):
    """How many instructions of that name the machine code of a kernel has."""
    tool = Path(importlib.util.find_spec("triton").origin).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        listing = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=True).stdout
    return sum(name in line for line in listing.splitlines())


def mojo():
    """A file of assembly for each kernel, for two GPUs of NVIDIA's and one of AMD's."""
    gpus, sizes = ("sm_80", "sm_90", "gfx942"), {}
    compiler = Path(sys.executable).with_name("mojo")
    for gpu in gpus:
        with tempfile.TemporaryDirectory() as folder:
            command = [compiler, "build", "--target-accelerator", gpu, "--emit", "asm", "-o", f"{folder}/host.s"]
            done = subprocess.run([*command, str(FOLDER / FILES["Mojo"])], capture_output=True, text=True)
            kernels = [file for file in Path(folder).iterdir() if file.suffix in (".ptx", ".amdgcn")]
            assert len(kernels) == len(NAMES), done.stderr
            sizes[gpu] = sum(file.stat().st_size for file in kernels)
    return row("Mojo", importlib.metadata.version("mojo"), f"compiled for {', '.join(gpus)}", sizes)


if __name__ == "__main__":
    print(json.dumps({"OpenCL C": opencl, "Triton": triton, "cuTile": cutile, "Mojo": mojo}[sys.argv[1]]()))
