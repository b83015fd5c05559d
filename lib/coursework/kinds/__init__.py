"""The kinds of task, one file each: what a task of it states, how an answer is checked, what it may cost, in which
words.

kernel.py      a CUDA kernel; run in the executor, traffic counted by the x-ray
opencl.py      the same for a kernel in OpenCL C, which is a text
mend.py        a kernel that is handed out, broken or not: what is wrong with it, and the kernel mended
compiled.py    a numba function of arrays that writes into its last argument; temporaries counted
parallel.py    a numba function with prange: as compiled.py, and every access of its loop watched
function.py    a plain Python function, checked by a property of its result
scenario.py    plain Python that the course's own scenario calls and observes: fake clocks, counted calls
thread.py      the same for code with threads, under every schedule that matters and with real threads
schedule.py    the steps of threads, chosen one by one, so that a given program loses or hangs; or a round of steps in
               which one starves
measured.py    a numba function whose flops and bytes are counted and claimed, and its point on the roofline
prediction.py  numbers the student predicts; the truth is computed, never typed
counterexample.py  an input on which a shown program fails; another task says what right is
commands.py    commands in a queue: for which events each waits; an order that goes wrong is found
detective.py   a verdict on each of several programs; the truth is found by running them
arrays.py      common to the first three: an output array compared with a specification
data.py        common to the last three: an answer that is a dict of numbers, lists and words

A new kind is a new file with a subclass of `definition.Task`; nothing else has to know it.
"""
