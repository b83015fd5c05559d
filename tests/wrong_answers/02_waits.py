"""Answers to 02-waits: (numbers, words that the message must hold). The right ones are computed by the task."""

WRONG = (
    ({"pays": 1500}, "must be woken as well"),
    ({"pays": 3000}, "Both have to be paid"),
    ({"pays": 12_000}, "spinning takes twice"),
    ({"pays": 5000}, "the same for every wait"),
    ({"pays": 6}, "the unit is another one"),
    ({"worst": 10_500}, "going to sleep and being woken"),
    ({"worst": 7500}, "going to sleep and being woken"),
    ({"worst": 18_000}, "what comes on top"),
    ({"order": 1234}, "first come, first served"),
    ({"order": 1432}, "job 4 is not there yet"),
    ({"order": 4321}, "who is there?"),
    ({"order": 2134}, "the rank of each after its wait"),
    ({"inverted": 20}, "what is left of its own work"),
    ({"inverted": 22}, "The high one waits already"),
    ({"inverted": 4}, "does not have the core all the time"),
    ({"inverted": 19}, "When is the fourth L over"),
    ({"inherited": 2}, "came before it"),
    ({"inherited": 23}, "Whom does the low thread go before now"),
    ({"inherited": 20}, "must wait now"),
    ({"inherited": 1}, "what is left of its work then"),
)
