"""A clock that lies: with CPULAB_HOSTILE=seed, each time that a program measures is multiplied by a factor of 1/5 to 5, drawn anew.

On PYTHONPATH for the processes of pages, see under.py. `time.monotonic` stays true, for waits have limits by it, and so does
`perf_counter_ns`, whose times compiled loops write down without Python.
"""

import os
import random
import threading
import time


def hostile(clock, generator, memory):
    def now():
        true = clock()
        if not hasattr(memory, "true"):
            memory.true, memory.told = true, true
        memory.told += (true - memory.true) * 5 ** generator.uniform(-1, 1)
        memory.true = true
        return memory.told

    return now


if os.environ.get("CPULAB_HOSTILE"):
    for _name in ("perf_counter", "process_time", "thread_time"):
        _generator = random.Random(f"{os.environ['CPULAB_HOSTILE']} {_name}")
        setattr(time, _name, hostile(getattr(time, _name), _generator, threading.local()))
