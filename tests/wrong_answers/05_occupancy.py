"""Answers to 05-occupancy: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"blocks": 8}, "How many registers do 8 such blocks need"),
    ({"blocks": 1024}, "A block has 256"),
    ({"blocks": 3}, "The scarcest one decides"),
    ({"warps": 64}, "how many whole blocks go into 64"),
    ({"warps": 10}, "Those are the blocks"),
    ({"warps": 66}, "the eleventh block does not fit"),
    ({"warps": 1920}, "A warp has 32"),
    ({"shared": 4}, "the system takes 1 KiB in each block"),
    ({"shared": 16}, "what warps and registers allow"),
    ({"registers": 64}, "only half of the places are filled"),
    ({"registers": 255}, "the most a thread can have at all"),
    ({"registers": 33}, "in units of 256"),
    ({"registers": 16}, "with more than that"),
)
