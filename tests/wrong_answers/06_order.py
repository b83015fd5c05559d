"""Answers to 06-order."""

from answers import data

small_letters_and_spaces = data("right", "frr frr frr")
numbers_late_each_time = data("right", "FRRNFRRNFRRN")
nothing_interrupted = data("wrong not-reached: Which of the two stores has to be late", "NNNFFFRRRRRR")
one_flag_alone = data("wrong not-reached: R looks at the flag three times", "FRRNNNFFRRRR")
two_flags_at_once = data("wrong not-reached: R can see each of them, one after the other", "FRRFFRR")
nothing_arrives = data("wrong not-reached: Which of the two stores has to be late", "RRR")
a_fourth_flag = data("wrong impossible: Three numbers arrive, and three flags", "FFFF")
the_writer = data("wrong unknown-thread: Write N, F or R", "WFRR")
words = data("wrong unknown-thread: a number arrives, a flag arrives", ["flag", "reader"])
a_number = data("wrong type: one letter for each step", 9)
a_dict = data("wrong type: one letter for each step", {"F": 3})
