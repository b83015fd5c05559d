"""Grade a class: `pytest --grade=submissions/ --grade-out=grades/`.

plugin.py       options, one pytest item per student and exercise, the end of the run
submissions.py  which notebook is whose: the layouts of LMS downloads, the roster
merge.py        canonical notebook + the student's answers, and what was tampered with
grade.py        grades one submission
sandbox.py      bubblewrap and rlimits          jupyter_kernel.py   a Jupyter kernel in the sandbox
session.py      the two processes of a student  remote.py   the student's functions, seen from here
servant.py      what runs inside the sandbox    exchange.py JSON and .npy, read with suspicion
results.py      result files, keys, resuming    flags.py    look-alike answers
gather.py       the rows of a class: results, and what the instructor adds (overrides.py, late.py, people.py)
similarity.py   winnowing over trees            reports.py  CSV, JSON, overview; for_students.py their feedback
exports.py      Canvas, Moodle, Gradescope (gradescope.py), Classroom 50 (classroom50.py); tables.py what may be filled
handback.py     feedback as a zip for Moodle and Canvas
cluster.py      the same on a Dask cluster      confine.py  first program inside the sandbox
"""
