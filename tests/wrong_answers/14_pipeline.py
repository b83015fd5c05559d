"""Answers to 14-pipeline."""

from answers import data

as_a_list = data("right", list("ABCABAAAADCBBBBDCCCCDDDD"))
forward_in_blocks = data("wrong not-reached: each stage keeps four activations", "AAABBBCCCDDD" * 2)
too_few = data("wrong not-reached: What could stage 0 do", "A")
too_often = data("wrong impossible: A microbatch has six passes", "AAAAAAABBBBB")
a_fifth = data("wrong unknown-thread: The microbatches are A, B, C and D", "ABCDE")
a_number = data("wrong type: one letter for each step", 18)
passes_in_place_of_letters = data("wrong unknown-thread: A step issues the next pass", ["Af0", "Af1"])
far_too_many = data("wrong too-many-steps: has 24 when", "ABCD" * 300)
