"""A laboratory for code on the CPU: see what threads do, what loops touch, and how fast things are.

explore   ordinary `threading` code under many schedules, and the one that breaks it
watch     a `prange` loop with each load and store recorded: races, false sharing, cache lines
measure   timing, measured peaks, the roofline, cache lines, the machine code of a loop, the machine card
tune      search for the configuration that is fastest on this machine, and keep it
predictions  questions that wait for the reader's guess
systolic  an array of cells that multiplies matrices, clock by clock
figures   one style for all figures, an alternative text for each

Beside the folders: files.py (files that others read and write at the same time), gallery.py (the library's GPU kernels,
as recorded), predictions.py, systolic.py.
"""
