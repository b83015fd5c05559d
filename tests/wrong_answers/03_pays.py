"""Wrong numbers for 03-pays, with what must be said of them."""

WRONG = [
    ({"two": 6000}, "as long as the start alone"),
    ({"two": 100}, "Write both times with n elements"),
    ({"four": 6000}, "still need their quarter"),
    ({"four": 24_000}, "fewer elements are enough"),
    ({"four": 12_000}, "three quarters"),
    ({"running": 8}, "it knows nothing of the others"),
    ({"running": 4}, "How many does a pool have"),
    ({"running": 12}, "as many threads as there are cores"),
    ({"each": 8}, "too much"),
    ({"each": 4}, "on eight cores"),
    ({"each": 1}, "half of the cores"),
]
