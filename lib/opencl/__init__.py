"""The book's kernels in OpenCL.

read.py         OpenCL C without an OpenCL: a reader that makes kernels for simt of it (its docstring lists its files)
"""
