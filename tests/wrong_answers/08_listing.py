"""Answers to 08-listing: (answers, words that the message must hold). The right ones are read from the listings."""

WRONG = (
    ({"wide": "C"}, "one from local memory"),
    ({"wide": "D"}, "How is a load of 128 bits written"),
    ({"wide": "E"}, 'Answer with "A", "B", "C" or "D"'),
    ({"local": "A"}, "goes to global memory"),
    ({"local": "B"}, "go to global memory"),
    ({"local": 3}, "Answer with a letter in quotation marks"),
    ({"b_loads": 256}, "As many as A"),
)
