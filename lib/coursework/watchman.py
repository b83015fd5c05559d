"""A process that ends another one when a cell of it does not end: `python watchman.py PID SECONDS PATIENCE`.

Reads the name of the running cell from stdin, an empty line when it has ended. See check.py.
"""

import contextlib
import os
import queue
import signal
import sys
import threading


def main(pid, seconds, patience):
    lines = queue.Queue()
    threading.Thread(
        target=lambda: [lines.put(line.strip()) for line in sys.stdin] and lines.put(None), daemon=True
    ).start()
    name = ""
    while name is not None:
        try:
            name = lines.get(timeout=seconds + patience if name else None)
        except queue.Empty:
            told = (
                f"{name} did not end within {seconds:g} seconds, and cannot be interrupted. Does each of its loops "
                "come to an end? What stands above was checked; the cells below it were not run."
            )
            with contextlib.suppress(OSError):  # whoever would have read it may have gone
                print(told, file=sys.stderr, flush=True)
            os.kill(pid, signal.SIGTERM)
            return


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
