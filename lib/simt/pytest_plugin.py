"""``pytest --simt``: a project's tests of its ``numba.cuda`` kernels, without a GPU.

pytest --simt tests/                      on the executor and the compiled engine, as each launch is small or large
pytest -p simt.pytest_plugin --simt ...   where the plugin is not installed as one
"""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--simt", action="store_true", help="run numba.cuda kernels on the CPU (simt), as `from numba import cuda` too"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before a conftest or a test module imports numba.cuda."""
    if early_config.known_args_namespace.simt:
        from .activation import activate

        activate()


def pytest_report_header(config):
    return "numba.cuda: simt, on the CPU" if config.getoption("simt") else None
