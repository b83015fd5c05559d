"""What is here of OpenCL; where it is not, tests are skipped, and say what would run them."""

import pytest

import opencl


def needed():
    """Skip the module where there is no device."""
    try:
        return opencl.device()
    except opencl.Unavailable as missing:
        pytest.skip(f"OpenCL: {missing}", allow_module_level=True)


def double():
    """Skip the test where the device has no double precision."""
    if not opencl.device().has_double:
        pytest.skip(f"{opencl.device().name} has no double precision")
