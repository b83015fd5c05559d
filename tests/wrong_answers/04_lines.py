"""Answers to 04-lines: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"row": 4000}, "the number of bytes"),
    ({"row": 64}, "divide by 64"),
    ({"column": 6300}, "every line of the matrix"),
    ({"every_eighth": 62}, "hold none of these elements"),
    ({"one_field_aos": 376}, "do all the records take"),
    ({"one_field_soa": 62}, "the rest"),
    ({"one_field_soa": 1000}, "a line holds 16 of them"),
    ({"small_cache": 64}, "Follow the line of row 0"),
    ({"larger_cache": 128}, "room for more lines than are needed"),
    ({"room": 601}, "one line less will, too"),
    ({"room": 3000}, "from one read of it to the next"),
    ({"larger_cache": "few"}, "Write a number, without quotation marks"),
)
