"""Answers to 08-lane: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"lane_of_sum": 46}, "There are 32 lanes"),
    ({"lane_of_sum": 17}, "Each lane holds two neighbouring columns"),
    ({"lane_of_sum": 91}, "the number of the element in the matrix"),
    ({"lane_of_sum": 5}, "Row 11 is row group or row group + 8"),
    ({"register_of_sum": 0}, "is 5 even"),
    ({"register_of_sum": 1}, "11 is no group"),
    ({"register_of_sum": 2}, "5 is odd"),
    ({"register_of_sum": "c3"}, "Write a number, without quotation marks"),
    ({"lane_of_b": 7}, "the other way round than in the sums"),
    ({"lane_of_b": 28}, "Row 9 is row 2t + 9"),
    ({"lane_of_b": 30}, "Column 6 tells the group"),
    ({"lanes_of_a_row": 8}, "How many of them does one lane hold"),
    ({"lanes_of_a_row": 32}, "but not of this row"),
)
