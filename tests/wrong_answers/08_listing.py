"""Answers to 08-listing: (answers, words that the message must hold). The right ones are read from the listings."""

WRONG = (
    ({"wide": "A"}, "loads one word of 4 bytes"),
    ({"wide": "C"}, "one from local memory"),
    ({"wide": "D"}, "How is a load of 128 bits written"),
    ({"wide": "E"}, 'Answer with "A", "B", "C" or "D"'),
    ({"local": "D"}, "R16 and R17 are sums in registers"),
    ({"local": "A"}, "goes to global memory"),
    ({"local": "B"}, "go to global memory"),
    ({"local": 3}, "Answer with a letter in quotation marks"),
    ({"a_loads": 128}, "one of each operand"),
    ({"a_loads": 8192}, "for the 32 lanes of a warp at once"),
    ({"b_loads": 256}, "As many as A"),
    ({"b_loads": 16}, "128 is a number of bits"),
    ({"b_loads": 32}, "Each four pairs take two loads"),
)
