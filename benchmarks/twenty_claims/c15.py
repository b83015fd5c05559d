"""Which first, pruning or quantising: five networks, from the record of chapter 13."""

from . import Part

CLAIM = "Quantise-then-prune and prune-then-quantise differ."
PARTS = (
    Part(
        "few",
        "with few weights and few bits",
        "difference in accuracy on the validation digits, a fifth of the weights in 3 bits, mean of five networks",
        "true if few weights and few bits are left",
        "13_frontier",
        0.01,
        exact=True,
    ),
    Part(
        "many",
        "with half of the weights",
        "the same, half of the weights in 3 bits",
        "true if few weights and few bits are left",
        "13_frontier",
        0.01,
        exact=True,
    ),
)


def measure(quick):
    from cpulab.measure import recorded

    apart = {
        (row["keep"], row["bits"], row["tuned"]): row["apart"]["mean"] for row in recorded("smaller").data["orders"]
    }
    return {"few": abs(apart[0.2, 3, False]), "many": abs(apart[0.5, 3, False])}
