"""Tasks, checks, feedback, building exercises, grading.

definition.py  what a task is                    tasks/      the tasks of each chapter
answer.py      runs a student's function         hidden/     cases kept back for grading
admission.py   what an answer may contain        build.py    masters -> exercises
checking.py    compares with the specification   check.py    checks a notebook from a shell
diagnosis.py   the likely cause of a failure     progress.py what was solved on this machine
feedback.py    words and pictures of a failure   release.py  a zip for a class
notebook.py    what a notebook imports           grading/    the pytest plugin for instructors
executed.py    what a compiled function multiplies and loads
plain_python.py what thread code may contain     events.py   counting what an answer calls
playing.py     plays a scenario: explored, real  scenes.py   what playing found, in words
parallel.py    what a watched loop did, in words outcome.py  Outcome and Failure
"""
