"""What tests of GPU code import from ``numba.cuda.testing``, where ``simt.activate()`` stands in for a GPU."""

import contextlib
import io
import os
import sys
import unittest
from pathlib import Path

import numpy as np

__all__ = ["CUDATestCase", "ContextResettingTestCase", "captured_stdout", "unittest"]


class CUDATestCase(unittest.TestCase):
    """A test case with the assertion that numba's own have: values, types and signs alike."""

    FLOAT16_RTOL = np.finfo(np.float16).eps

    def assertPreciseEqual(self, first, second, prec="exact", ulps=1, msg=None, **_):
        if prec == "exact":
            np.testing.assert_array_equal(np.asarray(first), np.asarray(second), err_msg=msg or "")
        else:
            digits = np.finfo(np.result_type(np.asarray(first), np.float32)).eps if prec == "double" else 1.2e-7
            np.testing.assert_allclose(first, second, rtol=max(1, ulps) * digits * 8, err_msg=msg or "")


ContextResettingTestCase = CUDATestCase
NO_CODE = "there is no machine code for a GPU here"


_SIMULATORS = ("warp", "structured array attr", "speed", "multiple threads")  # what the reasons of what it lacks name


def skip_on_cudasim(reason):
    """Skip what needs a real GPU or its compiler; not what only numba's own simulator cannot do."""
    return _kept if any(said in reason.lower() for said in _SIMULATORS) else unittest.skip(reason)


def _always_skipped(test):
    return unittest.skip(NO_CODE)(test)


def _kept(test):
    return test


def skip_unless_cudasim(reason):
    return unittest.skip("about numba's own simulator")


def skip_unless_cc_50(test):
    return test


skip_unless_cc_53 = skip_unless_cc_60 = skip_unless_cc_75 = skip_unless_conda_cudatoolkit = skip_unless_cc_50
skip_on_standalone_numba_cuda = skip_on_arm = skip_if_external_memmgr = skip_unless_cc_50
skip_under_cuda_memcheck = skip_if_mvc_enabled = skip_with_cuda_python = lambda reason: _kept
skip_with_nvdisasm = skip_without_nvdisasm = lambda reason: _always_skipped
skip_if_nvjitlink_missing = skip_if_cuda_includes_missing = lambda *_: _always_skipped
skip_if_mvc_libraries_unavailable = skip_if_cudadevrt_missing = skip_if_no_cudadevrt = _always_skipped


skip_on_wsl2 = skip_on_standalone_numba_cuda
skip_on_nvjitlink_13_1_sm_120 = skip_under_cuda_memcheck
skip_if_curand_kernel_missing = _always_skipped  # a file of CUDA C to link
test_data_dir = Path(os.devnull)  # of such files: there are none


def xfail_unless_cudasim(test):
    """Here it passes, as in numba's simulator."""
    return test


class ForeignArray:
    """An array of another library, of which only the interface is known."""

    def __init__(self, array):
        self._array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def cc_X_or_above(major, minor):
    return (major, minor) <= (8, 0)


def skip_unless_cc(*_):
    return _kept


@contextlib.contextmanager
def captured_stdout():
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        yield sys.stdout
    finally:
        sys.stdout = before
