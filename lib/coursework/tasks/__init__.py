"""One folder a chapter, `c09/`: its `__init__.py` lists the tasks, in the order of the notebook, in `TASKS`.

A task has a file of its own, with all that only it uses: `c09/halo.py` holds 09-halo. What several tasks of a chapter
use stands in `c09/shared.py`. Names that hidden cases (`hidden/c09.py`) or other numbers (`variants/c09.py`) use begin
without an underscore.
"""
