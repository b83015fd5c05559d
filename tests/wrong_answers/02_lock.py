"""Answers to 02-lock."""

from answers import data

the_other_way_round = data("right", "B" + 8 * "A" + "BBBA" + 8 * "B" + "AAA")
left_open = data("wrong not-reached: The order of readings and writings", "ABAB")
a_thread_that_waits = data("wrong impossible: step 5 is B, but B waits for lock, which A holds since line 8", "AABBB")
a_number = data("wrong type: one letter for each step", 3)
not_a_number = data("wrong type: one letter for each step", float("nan"))
bytes_ = data("wrong type: one letter for each step", b"ABAB")
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
a_dictionary = data("wrong type: one letter for each step", {"A": 1})
code = data("wrong type: one letter for each step", print)
small_letters = data("right", ("B" + 8 * "A" + "BBBA" + 8 * "B" + "AAA").lower())
a_thread_too_many = data("wrong unknown-thread: step 3 is 'D'", "ABDA")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)
a_huge_list = data("wrong too-many-steps: 1000000 steps", ["A"] * 1_000_000)
