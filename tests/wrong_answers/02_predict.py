"""Answers to 02-predict: (numbers, words of the message)."""

WRONG = (
    ({"orders": 6}, "the number of steps in all"),
    ({"orders": 720}, "keeps its own order"),
    ({"orders": 64}, "more than 3 steps"),
    ({"orders": 12}, "as ABBAAB"),
    ({"least": 6}, "nothing lost"),
    ({"least": 3}, "may write late"),
    ({"least": 1}, "had begun its last addition"),
    ({"least": 0}, "some value plus 1"),
    ({"in_memory": 3}, "Who else holds a batch"),
    ({"in_memory": 4}, "Or with both"),
    ({"in_memory": 9}, "Stop the film"),
)
