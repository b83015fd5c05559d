"""Answers to 02-lose."""

import numpy as np
from answers import data

the_other_way_round = data("right", "BAAAA BABBBB A")
one_lost = data("wrong not-reached: One update was written over", "ABABAABABB"[:4])
two_lost = data("wrong not-reached: how many writings of the other thread", "AABBABABABAB")
a_thread_that_has_ended = data("wrong impossible: step 7 is A, but A has ended", "AAAAAAA")
a_number = data("wrong type: one letter for each step", 3)
not_a_number = data("wrong type: one letter for each step", float("nan"))
bytes_ = data("wrong type: one letter for each step", b"ABAB")
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
a_dictionary = data("wrong type: one letter for each step", {"A": 1})
code = data("wrong type: one letter for each step", print)
small_letters = data("right", "abbbb, abaaaab")
a_thread_too_many = data("wrong unknown-thread: step 3 is 'D'", "ABDA")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)
a_huge_list = data("wrong too-many-steps: 1000000 steps", ["A"] * 1_000_000)
an_array = data("right", np.array(list("ABBBBABAAAAB")))
another_alphabet = data("wrong unknown-thread: CYRILLIC CAPITAL LETTER A", "\N{CYRILLIC CAPITAL LETTER A}BBBBABAAAAB")
a_very_long_name = data("wrong unknown-thread: step 1 is 'AAAAAAAAAAAA...AAAAAAAAAAAAA'; the threads", ["A" * 10**6])
