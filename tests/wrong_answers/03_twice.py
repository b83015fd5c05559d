"""Answers to 03-twice."""

from answers import data

a_list = data("right", list("ABAAAAABABAAABABAAABBB"))
the_other_way_round = data("right", "BABBB BBABA BBBAB ABBBAAA")
without_the_end = data("right", "ABAAAAABABAAABABAAA")
nothing_interrupted = data("wrong not-reached: computed once each", "AAA")
one_after_the_other = data("wrong not-reached: What can B do between", "A" * 8 + "B")
one_row_too_many = data("wrong not-reached: may wait much longer", "ABABB")
set_back_once = data("wrong not-reached: can wait with it again", "BAAAAAAB")
set_back_too_late = data("wrong not-reached: while the other one computes on", "BAAAAAAAAB")
a_thread_that_has_ended = data("wrong impossible: step 9 is A, but A has ended", "A" * 9)
a_number = data("wrong type: one letter for each step", 6)
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
small_letters = data("wrong unknown-thread: step 3 is 'x'", "aaxb")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)
