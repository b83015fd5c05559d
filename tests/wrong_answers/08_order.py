"""Answers to 08-order: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"by_rows": 64}, "Count each once"),
    ({"by_rows": 128}, "That is two for each block"),
    ({"by_rows": 32}, "strips of a, too"),
    ({"by_rows": 2}, "strips of b, too"),
    ({"by_rows": 33}, "How many rows of tiles do the blocks fill"),
    ({"in_groups": 4}, "How many columns of tiles do 64 blocks reach"),
    ({"in_groups": 16}, "These are the strips of b"),
    ({"in_groups": 64}, "do not multiply them"),
    ({"in_groups": 34}, "How many columns"),
    ({"rows": 32}, "column by column"),
    ({"rows": 2}, "that is row by row"),
    ({"rows": 4}, "Is the sum smaller still"),
    ({"rows": 16}, "16 rows and 4 columns"),
    ({"rows": 6}, "When is their sum least"),
    ({"mib": 16}, "How many MiB has one"),
    ({"mib": 8}, "One has 4 bytes"),
    ({"mib": 68}, "That is row by row"),
    ({"mib": 64}, "A strip has 128 rows"),
)
