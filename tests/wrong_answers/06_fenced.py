"""Answers to 06-fenced."""

from answers import data

small_letters_and_spaces = data("right", "rwwr rwwr rwwr")
a_list = data("right", list("RWWR" * 3))
the_writer_first = data("wrong not-reached: it has the number in hand before it looks at the flag", "WWWWWWRRRRRR")
the_reader_first = data("wrong not-reached: What may happen between these two loads", "RRRRRRWWWWWW")
twice = data("wrong not-reached: both between R's two loads", "RWWRRWWWWR")
a_step_too_many = data("wrong impossible: The writer has six steps", "W" * 7)
the_reader_has_ended = data("wrong impossible: The writer has six steps", "R" * 7)
a_number = data("wrong type: one letter for each step", 6)
nothing_but_numbers = data("wrong type: one letter for each step", [1, 0, 0, 1])
