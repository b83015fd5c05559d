"""One folder a chapter: c09/. It lists its tasks, in the order of the notebook, in `TASKS`.

A task has a file of its own, with all that only it uses: c09/halo.py holds 09-halo. What several tasks of a chapter use stands in its
shared.py. The names that hidden cases and other numbers use (hidden/c09.py, variants/c09.py) begin without an underscore.
"""
