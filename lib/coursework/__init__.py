"""Tasks, checks, feedback, building exercises, grading.

definition.py  what a task is                    kinds/      the kinds of task, one file each
answer.py      runs a student's function         tasks/      the tasks of each chapter
admission.py   what an answer may contain        hidden/     cases kept back for grading
checking.py    checks an answer, as its kind says  build.py  masters -> exercises
diagnosis.py   the likely cause of a failure     check.py    checks a notebook from a shell
feedback.py    words and pictures of a failure   progress.py what was solved on this machine
notebook.py    what a notebook imports           release.py  a zip for a class
executed.py    what a compiled function multiplies and loads
watched.py     what a parallel loop touches      grading/    the pytest plugin for instructors
playing.py     plays a scenario: explored, real  events.py   counting what an answer calls
judging.py     what a result may be              apart.py    an answer as processes have it
pictures.py    a cache, threads that wait        install_cell.py  the first cell of each notebook
extraction.py  what an answer is made of         plain_extraction.py  the same for plain Python
vocabulary.py  the words of kernels              trees.py    syntax trees, written again
plain_python.py what thread code may contain     outcome.py  Outcome and Failure
catalogue.py   all tasks in a list
own.py         whose numbers a prediction has    variants/   the same questions with other numbers
first.py       what exercises/try.ipynb checks
syllabus.py    weeks, points and due dates of a course
"""
