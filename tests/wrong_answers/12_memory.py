"""Answers to 12-memory: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"parameters": 64 * 256 + 256 * 10}, "Each layer has a bias"),
    ({"parameters": 266}, "A weight stands between"),
    ({"parameters": 330}, "a weight for each pair"),
    ({"state": 4 * 19210}, "How many arrays as large"),
    ({"state": 8 * 19210}, "Adam keeps two"),
    ({"state": 12 * 19210}, "Count again"),
    ({"state": 19210}, "Four bytes for each number"),
    ({"kept": 4 * 128 * 320}, "One array is missing"),
    ({"kept": 4 * 128 * 586}, "kept by the loss"),
    ({"kept": 4 * 128 * 512}, "The first layer keeps the pictures"),
    ({"kept": 4 * 576}, "The batch has 128"),
    ({"kept": 128 * 576}, "A float32 has four bytes"),
    ({"peak": 16}, "without checkpoints"),
    ({"peak": 8}, "counted already"),
    ({"peak": 4}, "Both are there at once"),
    ({"peak": 2}, "Try d = 1, 2, 4, 8"),
    ({"peak": 9}, "Try d = 1, 2, 4, 8"),
    ({"peak": "7"}, "without quotation marks"),
)
