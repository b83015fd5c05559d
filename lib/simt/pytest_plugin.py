"""``pytest --simt``: a project's tests of its ``numba.cuda`` kernels, without a GPU.

pytest --simt tests/                      on the executor and the compiled engine, as each launch is small or large
pytest -p simt.pytest_plugin --simt ...   where the plugin is not installed as one
"""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--simt", action="store_true", help="run numba.cuda kernels on the CPU (simt), as `from numba import cuda` too"
    )
    parser.addoption("--simt-strict", action="store_true", help="as --simt, and a negative index is an error")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before a conftest or a test module imports numba.cuda."""
    options = early_config.known_args_namespace
    if options.simt or options.simt_strict:
        from .activation import activate

        activate(strict=options.simt_strict)


def pytest_report_header(config):
    asked = config.getoption("simt") or config.getoption("simt_strict")
    return "numba.cuda: simt, on the CPU" if asked else None
