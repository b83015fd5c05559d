"""Serve a folder of built pages on this machine only: ``python -m dlkernels.serve _build/html``."""

import argparse
import functools
import http.server
import pathlib
import sys


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args(arguments)
    if not (options.folder / "index.html").is_file():
        sys.exit(f"{options.folder} holds no index.html; build the book first with `make html`.")
    handler = functools.partial(Quiet, directory=options.folder)
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    except OSError as problem:
        sys.exit(
            f"Port {options.port} cannot be used ({problem.strerror}). Choose another: make read PORT={options.port + 1}"
        )
    with server:
        print(f"The book is open at http://127.0.0.1:{server.server_port}  (Ctrl-C to stop)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    main()
