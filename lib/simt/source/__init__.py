"""Reading a kernel, for both engines: its tree, its names, its types, what no GPU runs. Its files, in reading order:

tree.py       finds the source, its syntax tree        texts.py      kernels made from text
syntax.py     helpers to build and read trees          sites.py      places in a source, with their text
function.py   what a function means before it runs     names.py      the names of ``numba.cuda``
operators.py  ``operator.add`` and its like            known.py      what is known before a kernel runs
kinds.py      what can be known of types               refused.py    what cannot be part of a kernel
deciding.py   what decides where threads go            ways.py       which branch leads past a place
waiting.py    loops that wait for other threads        endless.py    why a loop may go on and on
"""
