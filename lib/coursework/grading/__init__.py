"""Grade a class: `pytest --grade=submissions/ --grade-out=grades/`.

plugin.py       options, one pytest item per student and exercise, the end of the run
submissions.py  a row for every student and exercise: which notebook is whose
intake.py       what lies in the folder         archives.py zip and tar, unpacked with care
owners.py       whose an entry is, by its name  roster.py   the list of a class, and what else each is called
reading.py      the code cells of a notebook    slim.py     notebooks without their outputs, of any size
merge.py        canonical notebook + the student's answers, and what was tampered with
grade.py        grades one submission
sandbox.py      bubblewrap and rlimits          walls.py    bubblewrap's command line
forked.py       processes that begin with the course imported: forks of forkserver.py, which enter walls by enter.py
watch.py        limits of a submission as a whole, looked at    groups.py   the same by a control group
waiting.py      a clock for what waits for a core
jupyter_kernel.py   a Jupyter kernel in the sandbox
session.py      the two processes of a student  remote.py   the student's functions, seen from here
servant.py      what runs inside the sandbox    exchange.py JSON and bytes of arrays, read with suspicion
results.py      result files, keys, resuming    flags.py    look-alike answers
gather.py       the rows of a class: results, and what the instructor adds (overrides.py, late.py, people.py)
similarity.py   winnowing over trees            reports.py  CSV, JSON, overview; for_students.py their feedback
exports.py      Canvas, Moodle, Gradescope (gradescope.py), Classroom 50 (classroom50.py); tables.py what may be filled
handback.py     feedback as a zip for Moodle and Canvas
cluster.py      the same on a Dask cluster      confine.py  first program inside the sandbox
"""
