"""Answers to 06-sectors: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"shifted": 33}, "Those are elements"),
    ({"shifted": 32}, "it has room for 8 float32"),
    ({"shifted": 4.125}, "What happens to the rest"),
    ({"shifted": 3}, "how many are touched"),
    ({"thirds": 4}, "Lane 31 reads element 93"),
    ({"thirds": 96}, "elements from the first to the last"),
    ({"doubles": 2}, "Wider elements need more"),
    ({"doubles": "eight"}, "Write a number, without quotation marks"),
)
