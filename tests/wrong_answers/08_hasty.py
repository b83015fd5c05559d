"""Answers to 08-hasty."""

from answers import data

a_list = data("right", list("BABABBBBAAAABBBBAAAA"))
with_spaces = data("right", "abab bbbb aaaa bbbb aaaa")
every_step = data("right", "ABABBBBBAAAABBBBAAAAAABB")
nothing_interrupted = data("wrong not-reached: Who must go first then", "A")
b_begins = data("wrong not-reached: Once A read a number that was too new", "B")
in_turns = data("wrong not-reached: how far may B go while A rests", "AB" * 12)
tile_by_tile = data(
    "wrong not-reached: Which number of a tile does B overwrite", "ABAB" + "AABB" + "ABAB" + "AABB" + "ABAB" + "AABB"
)
b_is_late = data("wrong not-reached: A read each tile before its numbers were overwritten", "ABABAAAABBBBAAAABBBBAABB")
late_once = data("wrong not-reached: so that A is late once more", "ABABBBBBAAAA")
each_late_once = data("wrong not-reached: Who must go first then", "ABABAAAABBBBBBBBAAAAAABB")
past_the_barrier = data("wrong impossible: step 3 is A, but A waits at the barrier", "AAA")
a_number = data("wrong type: one letter for each step", 3)
numbers_of_threads = data("wrong type: step 1 is 0", [0, 1, 0, 1])
code = data("wrong type: one letter for each step", print)
a_thread_too_many = data("wrong unknown-thread: step 3 is 'C'", "ABCA")
endless = data("wrong too-many-steps: 1000000 steps", "AB" * 500_000)


def a_huge_list():
    """wrong too-many-steps: 1000000 steps"""
    return ["A"] * 1_000_000
