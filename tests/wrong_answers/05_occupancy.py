"""Answers to 05-occupancy: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"blocks": 3}, "The scarcest one decides"),
    ({"warps": 66}, "the eleventh block does not fit"),
    ({"warps": 1920}, "A warp has 32"),
    ({"registers": 64}, "only half of the places are filled"),
    ({"registers": 33}, "in units of 256"),
    ({"registers": 16}, "with more than that"),
)
