"""Answers to 03-layers: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"blocks": 18}, "half of the work"),
    ({"blocks": 20}, "nobody hands out anything while the loop runs"),
    ({"blocks": 10}, "Who is busier"),
    ({"blocks": 8}, "Which rows does the busier one get"),
    ({"handed_out": 18}, "is taken last"),
    ({"handed_out": 26}, "That is in blocks"),
    ({"handed_out": 22}, "two rows at a time"),
    ({"handed_out": 16}, "one of the two ends later"),
    ({"handed_out": 21}, "Two clocks"),
    ({"all_come": 1600}, "waits for the second thread, too"),
    ({"all_come": 800}, "both began at once"),
    ({"all_come": 4800}, "no piece is left"),
    ({"all_come": 5600}, "One does not wait for the other"),
    ({"all_come": "4 ms"}, "Write a number, without quotation marks"),
    ({"all_done": 4000}, "waits for nothing"),
    ({"all_done": 1500}, "one thread alone"),
    ({"all_done": 800}, "How many pieces are left"),
    ({"all_done": 16}, "That is the number of pieces"),
    ({"all_come": 16}, "That is the number of pieces"),
    ({"all_come": 40}, "in which unit the answer is asked for"),
)
