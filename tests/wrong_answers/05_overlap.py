"""Answers to 05-overlap."""

from answers import data

small_letters = data("right", "bac bac bac")
a_list = data("right", list("BABACBACC"))
not_all_issued = data("wrong not-reached: Look for gaps in the two lines", "AB")
a_step_too_many = data("wrong impossible: A stream has three pieces of work", "AAAA")
a_stream_that_is_none = data("wrong unknown-thread: The streams are A, B and C", "ABCD")
numbers = data("wrong type: Write a string with one letter for each step", [0, 1, 2])
a_table = data("wrong type: Write a string with one letter for each step", {"A": 3})
words = data("wrong unknown-thread: A step issues the next piece of work", ["A load", "B load"])
