"""The executor: a kernel thread by thread, in an order that is the same every time. Its files, in reading order:

lowering      lowering.py (the source rewritten), expressions.py, calls.py, device_names.py, operations.py (what lowered
              code calls), program.py (a kernel with its device functions), gates.py (order behind an atomic)
a launch      launch.py, arguments.py, threads.py, residents.py (blocks on the device together)
memory        memory.py, traced_memory.py, ownarrays.py (shared, local, constant), addresses.py, atomics.py, standins.py
who waits     meetings.py (barriers), warp.py (warp operations), sleeping.py (threads that look and find nothing new)
"""
