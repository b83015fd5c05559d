"""Answers to 10-steps: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"products": 3 * 512 * (256 + 512)}, "as a GRU has them"),
    ({"products": 4 * 512 * 512}, "The features of the input"),
    ({"products": 4 * 512 * 256}, "The state has one"),
    ({"products": 4 * 512 * 512 * 256}, "whose results are added"),
    ({"products": 1234}, "256 products with the input"),
    ({"weights": 4 * 512 * (256 + 512)}, "number of weights"),
    ({"weights": 4 * 4 * 512 * (256 + 512) + 4 * 8 * 512}, "two biases"),
    ({"weights": 6}, "unit is another one"),
    ({"chain": 1024}, "the one below it"),
    ({"chain": 1025}, "arrows between the cells"),
    ({"chain": 12}, "squashes its state"),
    ({"chain": 5}, "2 layers of 3 steps"),
    ({"rounds": 1024}, "one step after the other"),
    ({"rounds": 9}, "512 steps"),
    ({"rounds": 7}, "after the second of four"),
    ({"rounds": "10"}, "without quotation marks"),
)
