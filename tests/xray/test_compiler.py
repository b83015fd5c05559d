"""The compiled view: occupancy by hand, reading machine code, and compiling where the compiler is installed."""

import json

import numpy as np
import pytest
from numba import float32

from dlkernels import cuda
from simt.xray import Unavailable, available, compiled, compiler, occupancy, sass

needs_compiler = pytest.mark.skipif(not available(), reason="the gpu extra is not installed")


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limit"),
    [
        # 256 threads are 8 warps. sm_75 holds 32 warps: 4 blocks. 32 registers: 64 warps would fit.
        ("sm_75", 256, 32, 0, 4, "warps"),
        # sm_90 holds 64 warps: 8 blocks. 32 x 32 = 1024 registers a warp; 16384 / 1024 = 16 in a quarter, 64 in all.
        ("sm_90", 256, 32, 0, 8, "warps"),
        # 128 registers: 4096 a warp, 4 in a quarter, 16 warps in all: 2 blocks.
        ("sm_80", 256, 128, 0, 2, "registers"),
        # 65 registers: 2080 a warp, rounded up to 2304; 7 in a quarter, 28 warps: 3 blocks.
        ("sm_80", 256, 65, 0, 3, "registers"),
        # 48 KiB + 1 KiB reserved = 49 KiB; 164 / 49 = 3 blocks, and 228 / 49 = 4.
        ("sm_80", 128, 32, 48 * 1024, 3, "shared memory"),
        ("sm_90", 128, 32, 48 * 1024, 4, "shared memory"),
        # 16 KiB + 1 KiB = 17 KiB; 164 / 17 = 9, where 164 / 16 would be 10.
        ("sm_80", 128, 32, 16 * 1024, 9, "shared memory"),
        # sm_75 reserves nothing: 64 / 32 = 2.
        ("sm_75", 128, 32, 32 * 1024, 2, "shared memory"),
        # Blocks of one warp: at most 32 blocks on sm_80, 16 on sm_75.
        ("sm_80", 32, 16, 0, 32, "blocks"),
        ("sm_75", 32, 16, 0, 16, "blocks"),
    ],
)
def test_occupancy(arch, threads, registers, shared, blocks, limit):
    found = occupancy(arch, threads, registers, shared)
    assert found.blocks_per_sm == blocks
    assert limit in found.limited_by
    warps = {"sm_75": 32, "sm_80": 64, "sm_90": 64}[arch]
    assert found.occupancy == blocks * -(-threads // 32) / warps
    assert json.loads(json.dumps(found.to_dict()))["blocks_per_sm"] == blocks


def test_what_a_block_does_not_use_does_not_limit_it():
    assert occupancy("sm_75", 32, 16).limited_by == ("blocks",)
    assert occupancy("sm_75", 64, 16).limited_by == ("warps", "blocks")


def test_occupancy_of_what_does_not_fit():
    # 1024 threads x 128 registers = 131072, twice the register file.
    assert occupancy("sm_90", 1024, 128).blocks_per_sm == 0
    assert "registers" in str(occupancy("sm_90", 1024, 128))
    assert occupancy("sm_75", 128, 32, 100 * 1024).blocks_per_sm == 0
    with pytest.raises(ValueError, match=r"known are sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120\."):
        occupancy("sm_61", 128, 32)
    with pytest.raises(ValueError, match="1 to 1024"):
        occupancy("sm_90", 2048, 32)
    with pytest.raises(ValueError, match="expected a compute capability"):
        occupancy("hopper", 128, 32)


LISTING = """
	.section	.text.kernel,"ax",@progbits
.text.kernel:
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_1:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
        /*0020*/              @!P1 LDS.U.64 R8, [R1] ;
.L_x_2:
        /*0030*/                   FFMA R4, R5, R6, R4 ;
        /*0040*/                   FFMA R4, R5, R7, R4 ;
        /*0050*/               @P0 BRA `(.L_x_2) ;
        /*0060*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0070*/              @!P0 BRA `(.L_x_1) ;
        /*0080*/                   STG.E desc[UR4][R2.64], R4 ;
        /*0090*/                   EXIT ;
.L_x_3:
        /*00a0*/                   BRA `(.L_x_3);
        /*00b0*/                   NOP;
"""


def test_reading_machine_code():
    functions = sass.parse(LISTING)
    whole = sass.mix([i for instructions, _ in functions for i in instructions])
    assert whole.total == 11  # the NOP is padding
    assert (whole["FFMA"], whole["LDG.128"], whole["LDG"], whole["LDS.64"], whole["STG.32"], whole["BAR"]) == (
        2, 1, 1, 1, 1, 1,
    )  # fmt: skip
    # The inner loop holds both FFMA: FFMA FFMA BRA. The jump to itself at the end is no loop.
    loop = sass.mix(sass.main_loop(functions))
    assert (loop.total, loop["FFMA"]) == (3, 2)
    assert loop.ffma_share == pytest.approx(2 / 3)


def test_the_loop_inside_is_the_main_one_though_more_is_multiplied_around_it():
    around = "        /*0020*/                   FFMA R8, R5, R6, R8 ;\n"
    functions = sass.parse(LISTING.replace("        /*0020*/              @!P1 LDS.U.64 R8, [R1] ;\n", 5 * around))
    loop = sass.mix(sass.main_loop(functions))
    assert (loop.total, loop["FFMA"]) == (3, 2)
    tensor = LISTING.replace("FFMA R4, R5, R6, R4", "MOV R4, R5").replace("FFMA R4, R5, R7, R4", "MOV R4, R6")
    tensor = tensor.replace("@!P1 LDS.U.64 R8, [R1]", "HMMA.16816.F32 R4, R8, R6, R4")
    assert sass.mix(sass.main_loop(sass.parse(tensor)))["TENSOR"] == 1  # nothing is multiplied inside


def test_code_without_a_loop():
    functions = sass.parse(LISTING.split(".L_x_1:")[0])
    assert sass.mix(sass.main_loop(functions)).total == 0
    assert sass.mix([]).ffma_share == 0


@cuda.jit(device=True)
def double(v):
    return v + v


@cuda.jit
def scale(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] = double(x[i])


@cuda.jit
def dot_rows(A, B, C):
    tile = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for k in range(0, A.shape[1], 16):
        tile[ty, tx] = A[ty, k + tx]
        cuda.syncthreads()
        for j in range(16):
            acc += tile[ty, j] * B[k + j, tx]
        cuda.syncthreads()
    C[ty, tx] = acc


@needs_compiler
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90"])
def test_compiled(arch):
    view = compiled(dot_rows, "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])", arch)
    assert view.arch == arch
    assert view.shared_bytes == 16 * 16 * 4
    assert not view.spills
    assert view.stack_bytes == 0
    assert 16 <= view.registers <= 255
    # The loop over j has 16 turns, known when compiling: unrolled into 16 FFMA in the loop over k.
    assert view.main_loop["FFMA"] == 16
    assert view.main_loop["BAR"] == 2
    assert view.main_loop["LDS"] >= 1
    assert view.mix["STG.32"] == 1
    assert view.occupancy(256).blocks_per_sm >= 1
    assert json.loads(json.dumps(view.to_dict()))["main_loop"]["counts"]["FFMA"] == 16
    assert "registers per thread" in str(view)


@needs_compiler
def test_device_functions_and_example_arguments():
    x = np.zeros(64, np.float32)
    view = compiled(scale, (x, x), (9, 0))
    assert view.mix["LDG.32"] == 1
    assert view.mix["CALL"] == 0  # the device function is inlined
    assert view.kernel == "scale"


def test_without_the_compiler(monkeypatch):
    """A plain sentence that says what to install, not an ImportError."""

    def missing(name):
        raise ImportError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(compiler.importlib, "import_module", missing)
    with pytest.raises(Unavailable, match=r"pip install 'dlkernels\[gpu\]'"):
        compiled(scale, "void(float32[::1], float32[::1])")
    assert not available()


def test_without_one_library(monkeypatch):
    pathfinder = pytest.importorskip("cuda.pathfinder")

    def missing(name):
        raise pathfinder.DynamicLibNotFoundError(name)

    monkeypatch.setattr(pathfinder, "load_nvidia_dynamic_lib", missing)
    with pytest.raises(Unavailable, match="missing here: the library nvvm"):
        compiled(scale, "void(float32[::1], float32[::1])")


def test_a_view_comes_back_from_its_dict():
    view = compiler.Compiled("scale", "void()", "sm_80", 40, 0, 0, 0, 1024, sass.Code(lambda: LISTING))
    assert view.mix.total > view.main_loop.total > 0
    back = compiler.Compiled.from_dict(json.loads(json.dumps(view.to_dict())), "recorded on 1 May 2030")
    assert back.to_dict() == view.to_dict()
    assert "scale compiled for sm_80 (recorded on 1 May 2030)" in str(back)
    assert back.occupancy(256) == view.occupancy(256)
