"""A clock that lies: with CPULAB_HOSTILE=seed, each time that a program measures is multiplied by a factor of 1/5 to 5,
drawn anew after some looks at the clock: up to a hundred, so that neither medians nor the least of many calls escape
it.

On PYTHONPATH for the processes of pages, see under.py. `time.monotonic` stays true, for waits have limits by it, and so
does `perf_counter_ns`, whose times compiled loops write down without Python.
"""

import os
import random
import threading
import time


def hostile(clock, generator, memory):
    def now():
        true = clock()
        if not hasattr(memory, "true"):
            memory.true, memory.told, memory.looks = true, true, 0
        if memory.looks == 0:
            memory.factor, memory.looks = 5 ** generator.uniform(-1, 1), generator.randint(1, 100)
        memory.looks -= 1
        memory.told += (true - memory.true) * memory.factor
        memory.true = true
        return memory.told

    return now


if os.environ.get("CPULAB_HOSTILE"):
    for _name in ("perf_counter", "process_time", "thread_time"):
        _generator = random.Random(f"{os.environ['CPULAB_HOSTILE']} {_name}")
        setattr(time, _name, hostile(getattr(time, _name), _generator, threading.local()))
