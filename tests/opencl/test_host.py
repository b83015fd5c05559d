"""The host: choosing a device, programs whose errors show their line, checked launches, events, images, queues."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import opencl_here as here
import pytest

import opencl

DEVICE = here.needed()

from opencl import host  # noqa: E402

SOURCE = """
__kernel void scaled(__global const float *x, __global float *out, float by, int n) {
    int i = get_global_id(0);
    if (i < n) out[i] = by * x[i];
}
__kernel void turned(__global float *out, __local float *shared) {
    int t = get_local_id(0), last = get_local_size(0) - 1;
    shared[t] = out[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = shared[last - t];
}
"""
PICTURE = """
__kernel void between(read_only image2d_t picture, sampler_t how, __global float *out) {
    int i = get_global_id(0);
    out[i] = read_imagef(picture, how, (float2)(i * 0.5f, 0.5f)).x;
}
"""


@pytest.fixture(scope="module")
def program():
    return DEVICE.program(SOURCE)


@pytest.mark.quick
def test_a_kernel_runs(program):
    x = np.arange(100, dtype=np.float32)
    out = DEVICE.empty(100)
    event = program.scaled(128, 64, DEVICE.array(x), out, 3, 100)
    np.testing.assert_array_equal(out.get(), 3 * x)
    assert host.milliseconds(event) >= 0
    assert DEVICE.program(SOURCE) is program


@pytest.mark.quick
def test_importing_the_package_loads_no_driver():
    code = "import sys, opencl, opencl.host; print('pyopencl' in sys.modules, 'numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_local_memory_and_barriers(program):
    x = DEVICE.array(np.arange(32, dtype=np.float32))
    program.turned(32, 8, x, DEVICE.local(8))
    np.testing.assert_array_equal(x.get(), np.arange(32).reshape(4, 8)[:, ::-1].ravel())


ARRAY = DEVICE.array(np.zeros(8, np.float32))
WRONG = [
    ((128, 64, ARRAY, ARRAY, 1.0), TypeError, r"scaled got 3 arguments; expected 4: float\* x, float\* out, float by, int n"),
    ((100, 64, ARRAY, ARRAY, 1.0, 8), ValueError, r"\(100,\), is not divided by its work-group, \(64,\)\. Round it up to \(128,\)"),
    ((0, 64, ARRAY, ARRAY, 1.0, 8), ValueError, "each at least 1"),
    (((8, 8), 8, ARRAY, ARRAY, 1.0, 8), ValueError, "as many extents of both"),
    ((8, 8, np.zeros(8, np.float32), ARRAY, 1.0, 8), TypeError, r"Argument x of scaled is a NumPy array of shape \(8,\); .*device\.array"),
    ((8, 8, DEVICE.array(np.zeros(8)), ARRAY, 1.0, 8), TypeError, r"dtype float64; expected float32, for float\*"),
    ((8, 8, ARRAY, ARRAY[::2], 1.0, 8), ValueError, r"has strides \(8,\).*contiguous"),
    ((4, 4, ARRAY, ARRAY[4:], 1.0, 4), ValueError, "begins 16 bytes after its memory"),
    ((8, 8, ARRAY, ARRAY, "1", 8), TypeError, "str '1'; expected a number, for float"),
    ((8, 8, ARRAY, ARRAY, 1.0, 2.5), TypeError, "float 2.5; expected a number, for int"),
    ((8, 8, ARRAY, ARRAY, 1.0, 1 << 40), ValueError, "expected from -2147483648 to 2147483647, for int"),
    ((1 << 20, 1 << 20, ARRAY, ARRAY, 1.0, 8), ValueError, "runs at most"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "words"), WRONG, ids=[str(k) for k in range(len(WRONG))])
def test_wrong_launches_are_told(program, arguments, error, words):
    with pytest.raises(error, match=words):
        program.scaled(*arguments)


def test_local_memory_is_no_number_and_a_kernel_has_a_name(program):
    with pytest.raises(TypeError, match=r"expected local memory: device\.local"):
        program.turned(8, 8, ARRAY, 8)
    with pytest.raises(AttributeError, match="no kernel 'scale'; it has scaled, turned"):
        program.scale  # noqa: B018
    with pytest.raises(FileNotFoundError, match=r"add\.cl"):
        DEVICE.program("ad.cl")


@pytest.mark.quick
def test_a_build_error_shows_its_line(capfd):
    wrong = SOURCE.replace("by * x[i]", "by * y[i]")
    with pytest.raises(host.BuildError) as caught:
        DEVICE.program(wrong)
    told = str(caught.value).splitlines()
    assert told[0] == "program.cl does not compile."
    assert told[1].startswith("program.cl, line 4: use of undeclared identifier 'y'")
    assert told[2] == "        if (i < n) out[i] = by * y[i];"
    assert told[3].index("^") == told[2].index("y[i]")
    assert capfd.readouterr().err == ""  # a page would show it


def test_a_build_error_names_its_file():
    with pytest.raises(host.BuildError, match=r"(?s)program\.cl, line 1: .*nothing.*\^"):
        DEVICE.program("activations.cl", "__kernel void f(__global float *x) { x[0] = nothing; }", real="float")


@pytest.mark.parametrize("line", [
    "input.cl:3:5: error: no such thing", "error: /tmp/kcache/tempfile_x.cl:3:5: no such thing",
    "<kernel>:3:5: error: no such thing", "3:5:3:9: error: no such thing", "1:3:5: error: no such thing",
])  # fmt: skip
def test_logs_of_other_compilers(line):
    told = host.explained(f"Build on a device:\n{line}\n1 error generated.", (("a.cl", "one\ntwo\n    three"),))
    assert told == "a.cl does not compile.\na.cl, line 3: no such thing\n        three\n        ^"


def test_a_log_without_places_is_shown_whole():
    assert host.explained("out of memory", (("a.cl", ""),)) == "a.cl does not compile.\nout of memory"


def test_an_event_graph_on_a_queue_out_of_order(program):
    """Two chains that meet: each command waits for what it reads, and nothing else orders them."""
    queue = DEVICE.queue(out_of_order=True)
    x, n = np.arange(1000, dtype=np.float32), 1000
    first, second, sums = DEVICE.empty(n), DEVICE.empty(n), DEVICE.empty(n)
    source = DEVICE.array(x)
    DEVICE.default.finish()
    one = program.scaled(1024, 64, source, first, 2, n, queue=queue)
    two = program.scaled(1024, 64, source, second, 3, n, queue=queue)
    add = DEVICE.program("add.cl", real="float").add
    last = add(1024, 64, first, second, sums, n, queue=queue, after=[one, two])
    last.wait()
    np.testing.assert_array_equal(sums.get(), 5 * x)
    assert max(one.profile.end, two.profile.end) <= last.profile.start


def test_an_image_is_read_between_pixels():
    if not DEVICE.device.image_support:
        pytest.skip(f"{DEVICE.name} has no images")
    x, kernel = np.array([[0, 10, 30]], np.float32), DEVICE.program(PICTURE).between
    for linear, expected in ((True, [0, 0, 5, 10, 20]), (False, [0, 0, 10, 10, 30])):
        out = DEVICE.empty(5)
        kernel(5, 1, DEVICE.image(x), DEVICE.sampler(linear=linear), out)
        np.testing.assert_allclose(out.get(), expected)
    with pytest.raises(TypeError, match=r"expected a image2d_t: device\.image"):
        kernel(5, 1, ARRAY, DEVICE.sampler(), ARRAY)
    with pytest.raises(ValueError, match=r"expected float32 of shape \(height, width\)"):
        DEVICE.image(x[0])
    with pytest.raises(ValueError, match="expected 'clamp' or 'zero'"):
        DEVICE.sampler(edge="wrap")


# ---- choosing --------------------------------------------------------------------------------------------------------


class Driver:
    """A driver with the platforms that a test says: (version, kind, name), ..."""

    device_type = SimpleNamespace(GPU=4, ACCELERATOR=8, CPU=2)
    Error = type("Error", (Exception,), {})

    def __init__(self, *devices):
        self.there = devices

    def get_platforms(self):
        if not self.there:
            raise self.Error("PLATFORM_NOT_FOUND_KHR")
        return [SimpleNamespace(get_devices=lambda one=one: [self.made(*one)]) for one in self.there]

    def made(self, version, kind, name):
        return SimpleNamespace(name=name, type=kind, platform=SimpleNamespace(version=version))


@pytest.fixture
def choose(monkeypatch):
    """choose(devices, works, kind) -> the device that is taken, where those named in `works` compile and run."""

    def chosen(devices, works, kind=None):
        driver = Driver(*devices)

        def tried(cl, one):
            if one.name not in works:
                raise driver.Error(f"{one.name} cannot")
            return one.name

        monkeypatch.setattr(host, "_driver", lambda: driver)
        monkeypatch.setattr(host, "_tried", tried)
        return host.device.__wrapped__(kind)

    monkeypatch.delenv("DLKERNELS_OPENCL", raising=False)
    return chosen


OLD, NEW, GPU = ("OpenCL 2.0 pocl 3.0", 2, "old"), ("OpenCL 3.0 PoCL 3.1", 2, "new"), ("OpenCL 1.2", 4, "gpu")


@pytest.mark.quick
def test_a_gpu_is_taken_first_then_the_newest_that_works(choose, monkeypatch):
    three = OLD, NEW, GPU
    assert choose(three, {"old", "new", "gpu"}) == "gpu"
    assert choose(three, {"old", "new"}) == "new"
    assert choose(three, {"old"}) == "old"
    assert choose(three, {"old", "new", "gpu"}, "cpu") == "new"
    monkeypatch.setenv("DLKERNELS_OPENCL", "cpu")
    assert choose(three, {"old", "new", "gpu"}) == "new"
    with pytest.raises(ValueError, match="expected 'gpu', 'accelerator', 'cpu', or None"):
        choose(three, {"old"}, "fpga")


@pytest.mark.quick
def test_where_nothing_works_a_command_is_named(choose, monkeypatch):
    with pytest.raises(opencl.Unavailable, match=r"(?s)new of OpenCL 3\.0 PoCL 3\.1: new cannot.*make opencl"):
        choose((OLD, NEW), {})
    with pytest.raises(opencl.Unavailable, match=r"(?s)no usable device here\. No device was found\..*make opencl"):
        choose((), {})
    with pytest.raises(opencl.Unavailable, match="no gpu device"):
        choose((OLD,), {"old"}, "gpu")
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(opencl.Unavailable, match=r"pyopencl is not installed .*make opencl"):
        host.device.__wrapped__()


def test_a_device_that_computes_wrongly_is_not_taken(monkeypatch):
    monkeypatch.setattr(host, "TRIAL", host.TRIAL.replace("+=", "-="))
    with pytest.raises(opencl.Unavailable, match=r"gave \[-1\.0, 0\.0, 1\.0\]"):
        host.device.__wrapped__()
