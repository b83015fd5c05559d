"""What numba's type inference says of a kernel before it runs: a kernel that has no types is no kernel for a GPU.

numba-cuda compiles a kernel only where each variable has one type and each operation exists for its operands. Its
inference is numba's own, with types for the names of ``numba.cuda`` and without what only a CPU has. The same is put
together here, of numba's parts:

``device_names.py``   which types each name of cuda takes, and what it gives
``context.py``        those, the functions of ``math``, and device functions, which are inferred for the types of each
                      call
``refusals.py``       whether a kernel has types, and where it has none
``words.py``          what to say then

``refusals.refusal(function, values)`` is asked once for each kernel and types of arguments, by whichever engine comes
first.
"""
