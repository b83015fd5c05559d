"""Files of learning-management systems. Who reads grades.csv needs none of it.

exports.py      `make export`: grades for another system    tables.py    what may be filled in its table
handback.py     `make feedback`: feedback as a zip, for Moodle and Canvas
gradescope.py   results as an autograder of Gradescope      gradescope_intake.py    what Gradescope exports
classroom50.py  results for Classroom 50

Canvas's and Moodle's tables are in exports.py and tables.py; the names that they give to files, in ../intake/owners.py.
"""
