"""Answers to 02-hang."""

from answers import data

with_all_letters = data("right", "CABCABABABC")
c_holds_red = data("right", "ABCABCCB")
no_harm = data("wrong not-reached: Which lock must A hold", "AB")
a_waits = data("wrong impossible: but B waits for blue, which A holds since line", "ABABAABBB")
a_has_ended = data("wrong impossible: step 8 is A, but A has ended: it has 7 steps", "A" * 8)
a_number = data("wrong type: one letter for each step", 3)
not_a_number = data("wrong type: one letter for each step", float("nan"))
bytes_ = data("wrong type: one letter for each step", b"ABAB")
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
a_dictionary = data("wrong type: one letter for each step", {"A": 1})
code = data("wrong type: one letter for each step", print)
small_letters = data("right", "cabcababABC")
a_thread_too_many = data("wrong unknown-thread: step 3 is 'D'", "ABDA")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)
a_huge_list = data("wrong too-many-steps: 1000000 steps", ["A"] * 1_000_000)
