"""Wrong numbers for 04-moved, with what must be said of them."""

WRONG = [
    ({"ordinary": 12_000_000}, "before its first element is stored"),
    ({"ordinary": 8_000_000}, "What is written moves, too"),
    ({"ordinary": 3_000_000}, "How many bytes does each have"),
    ({"ordinary": 4_000_000}, "one of the arrays"),
    ({"ordinary": 20_000_000}, "crosses the way to memory twice"),
    ({"past": 16_000_000}, "must they be read first"),
    ({"past": 8_000_000}, "must still come to memory"),
    ({"second": 50}, "Does the memory give so much"),
    ({"second": 100}, "unused"),
    ({"second": 133}, "The time is asked for"),
    ({"micro": 1}, "milliseconds"),
    ({"micro": 750}, "not read first"),
    ({"micro": 1333}, "the time of one thread"),
    ({"micro": 1_000_000}, "nanoseconds"),
    ({"micro": 250}, "one array"),
    ({"micro": 2000}, "a thousand bytes in each microsecond"),
    ({"pages": 244}, "4 bytes"),
    ({"pages": 976}, "The last page is not full"),
    ({"pages": 2931}, "Only out is new"),
]
