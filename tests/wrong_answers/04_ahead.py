"""Answers to 04-ahead."""

from answers import data

RIGHT = {"A": "prefetch", "B": "nobody", "C": "prefetch", "D": "hardware", "E": "prefetch", "F": "hardware"}

in_another_order = data("right", dict(reversed(RIGHT.items())))
chance_for_nobody = data('wrong verdict: A: "nobody"', RIGHT | {"A": "nobody"})
a_list_can_be_followed = data('wrong verdict: B: "prefetch"', RIGHT | {"B": "prefetch"})
lists_are_alike = data('wrong verdict: F: "nobody"', RIGHT | {"F": "nobody"})
a_list_needs_a_prefetch = data(
    "wrong verdict: the first lines asked for are 0, 1, 2, 3, 4, 5", RIGHT | {"F": "prefetch"}
)
a_regular_step_is_followed = data("wrong verdict: their pages are 0, 2, 4, 6, 8, 10", RIGHT | {"C": "hardware"})
a_random_beginning_is_chance = data('wrong verdict: D: "prefetch"', RIGHT | {"D": "prefetch"})
each_needs_the_one_before = data('wrong verdict: E: "nobody"', RIGHT | {"E": "nobody"})
a_formula_is_followed = data("wrong verdict: the hardware sees no more than that", RIGHT | {"E": "hardware"})
all_by_hardware = data("wrong verdict: lines asked for are", dict.fromkeys("ABCDEF", "hardware"))
misspelt = data('wrong not-allowed: did you mean "nobody"?', RIGHT | {"B": "nobdy"})
a_list = data("wrong not-allowed: a list", list(RIGHT.values()))
a_program_too_many = data("wrong not-allowed: a dict with", RIGHT | {"G": "nobody"})
