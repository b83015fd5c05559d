"""Answers to 06-work: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"additions": 63}, "That is a loop of one thread"),
    ({"additions": 6}, "Those are the rounds"),
    ({"additions": 2016}, "each place adding up all before it"),
    ({"additions": 300}, "64 - d places add something"),
    ({"tree": 384}, "only a pair for every 2 d places"),
    ({"tree": 321}, "what Hillis and Steele need"),
    ({"rounds": 7}, "How many times can 64 be halved"),
    ({"rounds": 126}, "Those are the additions"),
)
