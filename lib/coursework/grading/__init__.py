"""Grade a class: `pytest --grade=submissions/ --grade-out=grades/`.

plugin.py       options, one pytest item per student and exercise, the end of the run
submissions.py  which notebook is whose: the layouts of LMS downloads, the roster
merge.py        canonical notebook + the student's answers, and what was tampered with
grade.py        grades one submission
sandbox.py      bubblewrap and rlimits          jupyter_kernel.py   a Jupyter kernel in the sandbox
session.py      the two processes of a student  remote.py   the student's functions, seen from here
servant.py      what runs inside the sandbox    exchange.py JSON and .npy, read with suspicion
results.py      result files, keys, resuming    flags.py    look-alike answers
reports.py      CSV, JSON, feedback, overview   exports.py  Canvas, Moodle, GitHub Classroom
cluster.py      the same on a Dask cluster      confine.py  first program inside the sandbox
"""
