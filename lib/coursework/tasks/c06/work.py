"""06-work: Two scans, two bills."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


def hillis_steele(n):
    """(rounds, additions) of an inclusive scan in which every place adds what lies d places before it."""
    rounds = additions = 0
    d = 1
    while d < n:
        rounds, additions, d = rounds + 1, additions + n - d, 2 * d
    return rounds, additions


def blelloch(n):
    """(rounds, additions) of an exclusive scan by a tree: up to the sum, and down again."""
    rounds = additions = 0
    d = 1
    while d < n:
        rounds, additions, d = rounds + 2, additions + 2 * (n // (2 * d)), 2 * d
    return rounds, additions


WORK = PredictionTask(
    id="06-work",
    section=Section("6.5", "06_order", "Blelloch"),
    title="Two scans, two bills",
    objective="Predict the rounds and additions of two scans",
    points=1,
    minutes=5,
    questions=(
        Question(
            "additions",
            "additions of Hillis and Steele for 64 numbers",
            lambda: hillis_steele(64)[1],
            {
                6 * 64: "In a round with distance d the first d places have nothing to add.",
                63: "That is a loop of one thread. Here nearly every place adds in every round.",
                6: "Those are the rounds. How many places add something in each?",
                6 * 63: "In the first round 63 places add something; in the last, with d = 32, only 32.",
                126: "That is what a tree needs, up and down.",
                hillis_steele(64)[1] + 1: "One too many.",
                hillis_steele(64)[1] - 1: "One too few.",
                64 * 63 // 2: "That would be each place adding up all before it by itself.",
            },
            "d is 1, 2, 4, 8, 16, 32. In a round 64 - d places add something. What is the sum?",
        ),
        Question(
            "tree",
            "additions of Blelloch for 64 numbers, up and down",
            lambda: blelloch(64)[1],
            {
                63: "That is the way up. On the way down each pair adds once more.",
                64: "How many pairs are added on the way up, over all rounds? And on the way down?",
                128: "Count the way up: 32 + 16 + 8 + 4 + 2 + 1.",
                12: "Those are the rounds. How many pairs are there in each?",
                6: "Those are the rounds of one way.",
                384: "In a tree only a pair for every 2 d places adds: 32 in the first round, then 16.",
                321: "That is what Hillis and Steele need.",
                127: "Count the way up: 32 + 16 + 8 + 4 + 2 + 1. The way down has as many.",
            },
            "On the way up 32 pairs are added, then 16, and so on to one. On the way down it is as many again.",
        ),
        Question(
            "rounds",
            "rounds of Blelloch for 64 numbers, up and down",
            lambda: blelloch(64)[0],
            {
                6: "That is the way up. The way down has as many.",
                64: "In a round all pairs of one size are added at the same time.",
                7: "How many times can 64 be halved, until one is left?",
                126: "Those are the additions. Many of them happen in the same round.",
                11: "The way up ends with one pair, the way down begins with one: both are rounds.",
                13: "64 is halved six times, up and down.",
            },
            "How many times can 64 be halved until one is left? That is one way.",
        ),
    ),
    hints=(
        "Draw both for 8 numbers. How many arrows has each round?",
        "Hillis and Steele: in the round with distance d every place adds what lies d places before it, if there is "
        "such a place. Blelloch: up, pairs are added, then pairs of pairs; down, the same pairs again.",
        "For 8 numbers the first makes 7 + 6 + 4 additions, and the second 4 + 2 + 1 up and as many down. Do the same "
        "for 64.",
    ),
)
