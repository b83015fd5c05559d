"""Answers to 06-sectors: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"shifted": 4}, "if they begin with one"),
    ({"shifted": 33}, "Those are elements"),
    ({"shifted": 32}, "it has room for 8 float32"),
    ({"shifted": 4.125}, "What happens to the rest"),
    ({"shifted": 3}, "how many are touched"),
    ({"thirds": 32}, "is that three sectors"),
    ({"thirds": 4}, "Lane 31 reads element 93"),
    ({"thirds": 11}, "In which sector is that"),
    ({"thirds": 96}, "elements from the first to the last"),
    ({"thirds": 11.625}, "What happens to the rest"),
    ({"doubles": 4}, "That is for float32"),
    ({"doubles": 2}, "Wider elements need more"),
    ({"doubles": 256}, "Those are bytes"),
    ({"doubles": "eight"}, "Write a number, without quotation marks"),
)
