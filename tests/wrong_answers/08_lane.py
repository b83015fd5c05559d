"""Answers to 08-lane: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"lane_of_sum": 91}, "the number of the element in the matrix"),
    ({"lane_of_sum": 5}, "Row 11 is row group or row group + 8"),
    ({"register_of_sum": 0}, "is 5 even"),
    ({"register_of_sum": 2}, "5 is odd"),
    ({"register_of_sum": "c3"}, "Write a number, without quotation marks"),
    ({"lane_of_b": 30}, "Column 6 tells the group"),
    ({"lanes_of_a_row": 32}, "but not of this row"),
)
