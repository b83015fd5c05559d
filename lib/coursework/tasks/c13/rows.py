"""13-rows: A warp for each row of a sparse matrix."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)


def times_vector(crow, col, values, x, out):
    """The product of a matrix in CSR and a vector."""
    found = np.zeros(len(crow) - 1)
    for row in range(len(found)):
        entries = slice(crow[row], crow[row + 1])
        found[row] = np.dot(values[entries].astype(np.float64), x[col[entries]].astype(np.float64))
    return found


def _told(formula):
    def guess(*arguments):
        found = formula(*arguments)
        return _NOTHING if np.allclose(found, times_vector(*arguments), rtol=1e-3, atol=1e-5) else found

    return guess


def _of_rows(terms):
    """Sums of terms(values of the row, their columns, x, the row)."""

    def formula(crow, col, values, x, out):
        found = np.zeros(len(crow) - 1)
        for row in range(len(found)):
            entries = slice(crow[row], crow[row + 1])
            found[row] = terms(values[entries].astype(np.float64), col[entries], x.astype(np.float64), row)
        return found

    return formula


def _first_round(v, c, x, row):
    return np.dot(v[:32], x[c[:32]])


def _lane_0(v, c, x, row):
    return np.dot(v[::32], x[c[::32]])


def _in_order(v, c, x, row):
    return np.dot(v, x[np.arange(len(v)) % len(x)])


def _of_lanes(lanes):
    """lanes(sums of the 32 lanes, the row's products) -> what lane 0 has in the end."""

    def terms(v, c, x, row):
        products = np.zeros(-(-len(v) // 32) * 32)
        products[: len(v)] = v * x[c]
        rounds = products.reshape(-1, 32)
        return lanes(rounds.sum(axis=0), rounds)

    return _of_rows(terms)


def _shuffled_each_round(sums, rounds):
    total = np.zeros(32)
    for products in rounds:
        total += products
        for d in (16, 8, 4, 2, 1):
            total += np.concatenate([total[d:], total[32 - d :]])  # beyond the last lane one gets its own
    return total[0]


def _rows_of_32(crow, col, values, x, out):
    found = np.zeros(len(crow) - 1)
    for row in range(len(found)):
        entries = slice(32 * row, 32 * row + 32)
        found[row] = np.dot(values[entries].astype(np.float64), x[col[entries]].astype(np.float64))
    return found


def rows_case(name, lengths, columns=None):
    """A matrix in CSR with rows of these lengths, (rows + 1,), (entries,), (entries,); x (columns,); out (rows,)."""

    def make(rng):
        wide = columns or max(8, max(lengths))
        crow = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        col = np.concatenate([np.zeros(0, np.int64), *(np.sort(rng.permutation(wide)[:n]) for n in lengths)])
        entries = int(crow[-1])
        return (
            crow,
            col.astype(np.int64),
            random_values(rng, entries),
            random_values(rng, wide),
            unwritten(len(lengths)),
        )

    shown = ", ".join(map(str, lengths[:4])) + (", ..." if len(lengths) > 4 else "")
    return Case(f"{name}: rows of {shown} entries", make, grid=len(lengths), block=32)


ROWS = KernelTask(
    id="13-rows",
    section=Section("13.3", "13_sparse", "Lanes that wait"),
    title="A warp for each row",
    objective="Write a sparse product in which the lanes of a warp share a row, so that loads are of neighbours",
    points=3,
    minutes=25,
    spec=times_vector,
    rtol=1e-4,
    atol=1e-5,
    tell_first=("inactive-lane-read", "divergent-warp-operation"),
    writer=lambda index, case: (index[0], 0),
    cases=(
        rows_case("one block, exact", [32]),
        rows_case("rows of a warp", [32, 64, 32]),
        rows_case("ragged", [5, 33, 1, 70], 90),
        rows_case("empty rows", [0, 3, 0, 40, 0], 50),
    ),
    suspects=(
        Suspect(
            _told(_of_rows(_first_round)),
            "Each row ends after 32 entries. A lane takes every 32nd: go on with k + 32 until the row's end.",
        ),
        Suspect(
            _told(_of_rows(_lane_0)),
            "This is the sum of lane 0 alone. The 32 partial sums have to come together before one lane stores.",
        ),
        Suspect(
            _told(_of_rows(lambda v, c, x, row: v.sum())),
            "These are the sums of the values. Each is multiplied by the element of x in its column.",
        ),
        Suspect(
            _told(_of_rows(_in_order)),
            "x was read in the order of the entries. Entry number k stands in column col[k].",
        ),
        Suspect(
            _told(_of_rows(lambda v, c, x, row: np.dot(v[1:], x[c[1:]]))),
            "The first entry of each row is missing: it is number crow[row].",
        ),
        Suspect(
            _told(_of_rows(lambda v, c, x, row: np.dot(v[:-1], x[c[:-1]]))),
            "The last entry of each row is missing. The row ends before crow[row + 1].",
        ),
        Suspect(
            _told(_of_rows(lambda v, c, x, row: 32 * np.dot(v, x[c]))),
            "Each sum is 32 times too large: do all lanes go through all entries?",
        ),
        Suspect(
            _told(_of_lanes(lambda sums, rounds: sums[:16].sum())),
            "These are the sums of lanes 0 to 15. The first step brings those of lanes 16 to 31: 16 lanes further.",
        ),
        Suspect(
            _told(_of_lanes(lambda sums, rounds: sums[::2].sum())),
            "The sums of every other lane are missing: the last step is 1 lane further.",
        ),
        Suspect(
            _told(_of_lanes(lambda sums, rounds: 2 * sums.sum())),
            "Each sum is twice too large. 32 lanes further there is none, and a lane gets its own value: begin with "
            "16.",
        ),
        Suspect(
            _told(_of_lanes(lambda sums, rounds: sums[31])),
            "This is the sum of lane 31 alone: what comes from the other lane is to be added, not put in the place of "
            "one's own.",
        ),
        Suspect(
            _told(_of_lanes(_shuffled_each_round)),
            "The lanes are summed in each turn of the loop, so earlier turns count many times. Sum them once, behind "
            "the loop.",
        ),
        Suspect(
            _told(_rows_of_32),
            "Row r was taken to begin at entry 32 * r. It begins at crow[r], and ends before crow[r + 1].",
        ),
    ),
    advice={
        "some-unwritten": "An empty row has a result, too: 0. Its sum begins with 0 and is stored in any case.",
        "not-finite": "Does the sum begin with 0? And do all 32 lanes come to each shuffle? What a lane that has "
        "returned would give is undefined: a lane without entries has the sum 0, and stays.",
        "adds-to-old": "The sum begins with what stood in out. Begin it with 0.",
        "out-of-bounds": "A row ends before crow[row + 1], and a lane whose next entry is behind that has none. Entry "
        "k is multiplied by x[col[k]].",
        "two-writers": "Only lane 0 has the sum of all lanes: let it store, and no other.",
        "negative-index": "A row ends before crow[row + 1], and a lane whose next entry is behind that has none.",
        "inactive-lane-read": "A lane reads from one that does not come to the shuffle. All 32 lanes have to come to "
        "it: one without entries has the sum 0, and stays.",
        "lane-not-in-mask": "A lane shuffles that the mask does not name. All 32 take part: 0xFFFFFFFF.",
        "race": "Several lanes store one element of out. Bring the partial sums together, and let lane 0 store.",
        "divergent-warp-operation": "All 32 lanes have to come to the shuffle: none may have returned, or be in a loop "
        "that others have left.",
    },
    budget=Budget(
        points=1,
        text="each entry is loaded once, by neighbouring lanes, no atomics, no shared memory: for 4 rows of 128 "
        "entries at most 56 load and 4 store requests",
        require={"global_load_requests": 56, "global_store_requests": 4, "atomics": 0, "shared_bytes": 0},
        over="The result is right, but loads are not shared: lane l takes the entries begin + l, begin + l + 32, ..., "
        "so that 32 lanes make one request, and where a row begins and ends is read once, before the loop.",
        causes=(
            (
                lambda over: any(o.name == "shared_bytes" for o in over),
                "The result is right, but the sums of the lanes came together in shared memory. Shuffles bring them "
                "together without it.",
            ),
            (
                lambda over: any(o.name == "global_load_requests" and o.counted > 300 for o in over),
                "The result is right, but one lane does what 32 could do together: entries begin + lane, begin + lane "
                "+ 32, ... A load by 32 lanes is one request.",
            ),
        ),
        case=rows_case("exact", [128, 128, 128, 128], 128),
    ),
    hints=(
        "Which lane takes which entries, so that the lanes of one load read neighbours?",
        "Lane `l` takes the entries begin + l, begin + l + 32, ... Then 32 partial sums become one: five shuffles.",
        "Five shuffles behind the loop, by 16, 8, 4, 2 and 1 lanes: each lane adds what the lane so far behind it "
        "holds. All 32 lanes come to them; lane 0 stores.",
    ),
)
