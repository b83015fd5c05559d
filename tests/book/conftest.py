"""The built book and the browser that looks at it."""

import functools
import http.server
import threading

import pytest
from browser import Browser
from built import BOOK


@pytest.fixture(scope="session")
def book():
    """The folder of the built book."""
    if not (BOOK / "index.html").exists():
        pytest.fail(f"There is no built book in {BOOK}: run `make html` first.", pytrace=False)
    return BOOK


@pytest.fixture(scope="session")
def browser():
    try:
        started = Browser().__enter__()
    except FileNotFoundError as missing:
        raise pytest.fail.Exception(str(missing), pytrace=False) from None
    yield started
    started.__exit__(None, None, None)


@pytest.fixture
def served(book):
    """The address of the book over HTTP, as `make read` serves it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=book))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
