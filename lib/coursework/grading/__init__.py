"""Grade a class: `pytest --grade=submissions/ --grade-out=grades/`. How a submission travels, in the order to read:

plugin.py           the command line: one pytest item for each student and exercise; options.py
intake/             from the folder of submissions to cells that can be graded
grade.py            one submission: run in walls, checked from outside
  session.py        its two processes: the student's notebook, and one that only admitted answers ever reach
  jupyter_kernel.py     the first: a Jupyter kernel in the sandbox
  servant.py            the second, and what answers in the first; guard.py ends what does what no answer may
  remote.py         a stand-in for the student's function, on which the course's own checks run
  exchange.py       what crosses over: JSON and bytes of arrays, read with suspicion
  sandbox.py        the walls around a process, and what ends with it
    walls.py            bubblewrap's command line: what can be seen and written
    confine.py          the first program within: limits, rights, refused system calls
    watch.py            limits of a submission as a whole, looked at; groups.py: the same by a control group
    waiting.py          a clock that stands still while others have the cores
results.py          the result, a file; its key, by which it is found again
gather.py           the rows of a class: results, and what an instructor adds
reports.py          CSV, JSON, overview; for_students.py: feedback; pages/: their templates
offered.py          the one place through which all this knows of the two folders below
extras/             what an instructor may want beside points: late days, points by hand, regrade requests, look-alikes
lms/                tables and files of learning-management systems
"""
