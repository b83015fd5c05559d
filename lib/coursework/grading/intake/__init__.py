"""From the folder of submissions to cells that can be graded. Nothing that a student wrote is believed.

submissions.py  a row for every student and exercise: which notebook is whose
entries.py      what lies in the folder             archives.py  zip and tar, unpacked with care
owners.py       whose an entry is, by its name      roster.py    the list of a class
people.py       the same person in the roster, in names of files, in tables of other systems
slim.py         a notebook without its outputs, of any size
reading.py      its code cells
merge.py        canonical notebook + the student's answers, and what was tampered with
insides.py      flags for cells that reach for the course's own insides
"""
