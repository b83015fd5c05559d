"""What an instructor may want beside points. Who grades a class of their own, without due dates, needs none of it.

late.py         due dates, free days, penalties, the release of feedback
                                                    for a course with deadlines: policy.toml
overrides.py    points and comments by hand         for who corrects the grader: overrides.csv
regrade.py      requests for a second look           for who lets students ask: requests.csv
flags.py        answers that look alike, as flags and side by side; similarity.py finds them
                                                    for a class whose points count
cluster.py      the same grading on a Dask cluster  for thousands of submissions: --grade-dask

All of it is asked for through ../offered.py; a result says what an answer is worth, whatever is added here.
"""
