"""Answers to 02-starve."""

from answers import data

a_list_with_more_rounds = data("right", list("BAAA" + 3 * "BBBBBAAA"))
another_beginning = data("right", "bbb bbb, a a a bbbbb aaa bbbbb aaa")
b_first_for_a_while = data("right", "BBBBBB BBAAABB BBBAAA BBBBBAAA")
a_livelock = data("wrong not-reached: What must B find when it looks", "ABABABAB")
nobody_is_asked = data("wrong not-reached: the other thread is not asked at all", "BBBBBBBBBB")
a_alone = data("wrong not-reached: Both must move in it", "BAAAAAAAAA")
only_b_came_back = data("wrong not-reached: the other thread is not asked at all", "BAAABBBBB")
not_closed = data("wrong no-round: the start, but A was at line", "BAAABBBB")
no_round_at_all = data("wrong no-round: the start, but wants_b was False, and is True", "B")
a_gets_in = data("wrong impossible: step 5 is A, but A has ended", "AAAAAB")
a_number = data("wrong type: one letter for each step", 3)
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
code = data("wrong type: one letter for each step", print)
a_thread_too_many = data("wrong unknown-thread: step 3 is 'C'", "ABCA")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)
a_huge_list = data("wrong too-many-steps: 1000000 steps", ["A"] * 1_000_000)
