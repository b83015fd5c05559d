"""Wrong numbers for 03-pays, with what must be said of them."""

WRONG = [
    ({"two": 100}, "Write both times with n elements"),
    ({"four": 24_000}, "fewer elements are enough"),
    ({"running": 12}, "as many threads as there are cores"),
    ({"each": 4}, "on eight cores"),
    ({"each": 1}, "half of the cores"),
]
