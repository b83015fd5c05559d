"""Answers to 09-sizes: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"plain": 28}, "That needs padding"),
    ({"plain": 25}, "Where does it stand last"),
    ({"plain": 12}, "the first and the last place"),
    ({"halved": 13}, "the first place counts, too"),
    ({"halved": 14.5}, "A whole number is asked for"),
    ({"first_layer": 109}, "without padding"),
    ({"first_layer": 224}, "That is stride 1"),
    ({"spread": 20}, "two gaps"),
    ({"spread": 23}, "spans 9 pixels"),
    ({"spread": 8}, "Draw the three weights"),
    ({"spread": "24"}, "without quotation marks"),
)
