"""Answers to 01-protocols."""

from answers import data

RIGHT = {"first": "compiles", "second": "dead", "third": "honest", "fourth": "once", "fifth": "warm"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
first_is_honest = data(
    "wrong verdict: 9 repeats, 30 s to compile, nothing disturbed: it goes wrong here", RIGHT | {"first": "honest"}
)
fourth_is_honest = data("wrong verdict: calls 4 and 10 disturbed", RIGHT | {"fourth": "honest"})
fourth_is_noisy = data('wrong verdict: fourth: "noisy"', RIGHT | {"fourth": "noisy"})
fifth_is_honest = data("wrong verdict: who looks at its result", RIGHT | {"fifth": "honest"})
two_exchanged = data("wrong verdict: it goes wrong here", RIGHT | {"second": "warm", "fifth": "dead"})
all_honest = data("wrong verdict: it goes wrong here", dict.fromkeys(RIGHT, "honest"))
misspelt = data('wrong not-allowed: did you mean "compiles"?', RIGHT | {"first": "compile"})
a_flag = data("wrong not-allowed: True or False", RIGHT | {"third": True})
upper_case = data('wrong not-allowed: a dict with "first"', {name.upper(): verdict for name, verdict in RIGHT.items()})
