"""Other numbers for the predictions of chapter 08."""

from . import Asked, Variants


def count(m, k, n, edge, depth, fast, moves):
    flops, moved = 2 * m * k * n, 4 * (m * k + k * n + m * n)
    return {
        "flops": Asked(
            f"flops of ({m} x {k}) @ ({k} x {n}), a multiply and an add counted as one each",
            flops,
            {
                m * k * n: "That is the number of multiplies. Each comes with an add.",
                2 * m * n: "That is a multiply and an add for each element of the result. How many terms has its sum?",
                moved: "That is the number of bytes. Count multiplies and adds.",
            },
            "Take one element of the result: how many multiplies and adds? Then take all elements.",
        ),
        "least_bytes": Asked(
            f"bytes of ({m} x {k}) @ ({k} x {n}) in float32 if each element of a, b and out moves once",
            moved,
            {
                moved // 4: "That is the number of elements. A float32 has 4 bytes.",
                4 * (m * k + k * n): "The result must be stored, too.",
                4 * m * n: "That is the result alone. The two operands must be read.",
            },
            "Write down the number of elements of a, of b and of out, and add.",
        ),
        "intensity": Asked(
            f"arithmetic intensity of a {edge} x {edge} matmul in flops per byte, each element moved once, float32",
            2 * edge**3 / (4 * 3 * edge**2),
            {
                edge / 2: "That counts the bytes of one matrix; there are three.",
                edge / 4: "That counts the bytes of two matrices; there are three.",
                edge / 12: "A multiply-add is two flops: a multiply and an add.",
                edge / 1.5: "That is flops per element. An element of float32 has 4 bytes.",
            },
            "Write flops and bytes with n for all three lengths, and divide.",
        ),
        "naive_requests": Asked(
            f"load requests of one warp, one thread per element, k = {depth}",
            2 * depth,
            {
                depth: "One load in each round of the loop? A term of the sum has two factors.",
                64 * depth: "That is the number of loads of single threads. The 32 lanes of a warp load together.",
                2: "That is one round of the loop. How many rounds are there?",
            },
            "Follow one thread of the warp, and count its loads: the other lanes load at the same moments.",
        ),
        "tiled_requests": Asked(
            f"load requests of one warp to global memory with 16 x 16 tiles, k = {depth}",
            2 * depth // 16,
            {
                2
                * depth: "That is as many as without tiles. In a tile step, how many elements of a does a thread load?",
                depth // 16: "In each tile step a thread loads an element of a and one of b.",
                2: f"That is one tile step. How many tiles of 16 cover k = {depth}?",
            },
            "Follow one thread of the warp through one tile, and count its loads from a and from b. How many tiles are "
            "there?",
        ),
        "strassen": Asked(
            f"the n from which Strassen's method can pay, {fast} GFLOP/s and {moves} GB/s",
            180 * fast // moves,
            {
                360 * fast // moves: "A multiply that is saved saves an add as well: an eighth of 2 n^3.",
                45 * fast // moves: "An eighth of the flops is saved, a quarter of n^3.",
                180: "That would be so if a flop took as long as a byte.",
            },
            "Write down two times with n in them, that of the flops that are saved and that of the bytes that are "
            "added. When are they equal?",
        ),
    }


def lanes(row, column, b_row, b_column):
    group, t = row % 8, column // 2
    return {
        "lane_of_sum": Asked(
            f"the lane that holds element [{row}, {column}] of the sums",
            4 * group + t,
            {
                4 * row + t: "There are 32 lanes. Row group + 8 is of the lower half: group has 8 values.",
                4 * group + column: "Each lane holds two neighbouring columns: t is the column divided by 2.",
                8 * row + column: "That is the number of the element in the matrix.",
            },
            f"Row {row} is row group or row group + 8. Column {column} is 2t or 2t + 1. The lane is 4 * group + t.",
        ),
        "register_of_sum": Asked(
            "which of c0, c1, c2, c3 it is, as a number",
            2 * (row // 8) + column % 2,
            {
                0: f"c0 is in row group and column 2t. Is {row} below 8?",
                1: f"c1 is in row group, and {row} is no group.",
            },
            "There are four: 0, 1, 2 and 3.",
        ),
        "lane_of_b": Asked(
            f"the lane that holds element [{b_row}, {b_column}] of b",
            4 * b_column + b_row % 8 // 2,
            {
                4 * (b_row % 8)
                + b_column
                // 2: "In b the rows go with t, the columns with group: the other way round than in the sums."
            },
            f"Column {b_column} tells the group. Row {b_row} is 2t, 2t + 1, 2t + 8 or 2t + 9: which t?",
        ),
        "lanes_of_a_row": Asked(
            "lanes that hold elements of one row of the sums",
            4,
            {
                8: "The row has 8 elements. How many of them does one lane hold?",
                32: "All lanes of a warp hold something, but not of this row.",
                1: "One lane holds two elements of a row. The row has 8.",
            },
            "A row belongs to one group. How many lanes have the same lane // 4?",
        ),
    }


def waves(m, n, registers, shared, multiprocessors):
    """Tiles of 128 x 128 by blocks of 256 threads, on a GPU whose multiprocessors have 65,536 registers and 164 KiB."""
    down, along = -(-m // 128), -(-n // 128)
    launched, threads, by_shared = down * along, 256, 164 // (shared + 1)
    by_registers = 65536 / (threads * registers)
    resident = min(int(by_registers), by_shared, 2048 // threads)
    filled = launched / (resident * multiprocessors)
    rounds = -(-launched // (resident * multiprocessors))
    edges = "The tiles at the edges are blocks, too: round each direction up before you multiply."
    return {
        "launched": Asked(
            f"blocks of a {m} x {n} product with tiles of 128 x 128",
            launched,
            {
                (m // 128) * (n // 128): ("Both numbers of tiles were rounded down: the edges would have no block."),
                m * n // 128**2: edges,
                m * n // 128**2 + 1: edges,
                down + along: "Tiles along one direction times tiles along the other.",
            },
            f"How many tiles lie along {m} rows, how many along {n} columns?",
        ),
        "resident": Asked(
            f"blocks on one multiprocessor, {threads} threads of {registers} registers and {shared} KiB each",
            resident,
            {
                resident - 1: "The last one fits: divide 65,536 by what one block's threads need.",
                by_shared: f"Shared memory has room for {by_shared}. Do the registers?",
                8: "By the number of threads eight would fit. What else does a block need?",
                round(by_registers, 2): "There is no part of a block.",
            },
            "Three things run out: threads, registers, shared memory. Compute for each how many blocks it allows.",
        ),
        "rounds": Asked(
            f"waves on {multiprocessors} multiprocessors",
            rounds,
            {
                -(-launched // (2 * multiprocessors)): (
                    "That is with two blocks on each multiprocessor. How many fit?"
                ),
                -(-launched // multiprocessors): "That is with one block on each multiprocessor at a time.",
                1: "In one wave run all blocks that fit at once. Are all blocks of the launch among them?",
            },
            "How many blocks run at once on the whole GPU? How often must it be filled?",
        ),
        "share": Asked(
            "the share of the places that are used in all waves together, as a number from 0 to 1",
            round(filled / rounds, 3),
            {
                round(filled - (rounds - 1), 3): "That is the last wave alone. Take all waves together.",
                round(1 / filled, 3): "That is the inverse of the number of waves before it was rounded up.",
                round(filled, 3): (
                    "That is the number of waves before it is rounded up. Divide it by what it is rounded up to."
                ),
            },
            "Blocks that are launched, divided by the places of all waves.",
        ),
    }


def _fills_in_part(m, n, registers, shared, multiprocessors):
    """Registers run out first; the last of two or three waves is neither nearly empty nor nearly full; no slip is near
    the share."""
    launched = -(-m // 128) * -(-n // 128)
    resident = 65536 // (256 * registers)
    filled = launched / (resident * multiprocessors)
    full_waves, last_wave = divmod(filled, 1)
    in_part = full_waves in (1, 2) and 0.2 < last_wave < 0.7 and abs(1 / filled - filled / (full_waves + 1)) > 0.03
    return in_part and resident < 164 // (shared + 1)


VARIANTS = {
    "08-lane": Variants(
        {"row": 11, "column": 5, "b_row": 9, "b_column": 6},
        {
            "row": (9, 10, 11, 12, 13, 14, 15),
            "column": (1, 3, 5, 7),
            "b_row": (9, 10, 11, 13, 14),
            "b_column": (1, 2, 3, 5, 6),
        },
        "`lane_of_sum` and `register_of_sum` are about element [{row}, {column}] of the sums, `lane_of_b` about "
        "element [{b_row}, {b_column}] of `b`.",
        lanes,
        lambda row, column, b_row, b_column: (row % 8, column // 2) != (b_column, b_row % 8 // 2),
    ),
    "08-count": Variants(
        {"m": 64, "k": 48, "n": 96, "edge": 768, "depth": 64, "fast": 100, "moves": 20},
        {
            "m": (32, 64, 96),
            "k": (48, 80),
            "n": (64, 96, 128),
            "edge": (384, 576, 768, 960),
            "depth": (32, 64, 96, 128),
            "fast": (60, 100, 120),
            "moves": (20, 30),
        },
        "the shapes are ({m} x {k})({k} x {n}); `intensity` is of a {edge} x {edge} matmul; the two kernels have k = "
        "{depth}; for `strassen` the core does {fast} GFLOP/s, and its memory {moves} GB/s.",
        count,
        lambda m, k, n, depth, **others: len({m, k, n}) == 3 and m != depth,
    ),
    "08-waves": Variants(
        {"m": 3000, "n": 2500, "registers": 80, "shared": 40, "multiprocessors": 108},
        {
            "m": (2500, 3000, 3500, 4000),
            "n": (2000, 2500, 3000, 3300),
            "registers": (72, 80, 96, 104),
            "shared": (24, 32, 40),
            "multiprocessors": (84, 108, 132),
        },
        "the product has {m} rows and {n} columns. A thread needs {registers} registers, a block {shared} KiB of "
        "shared memory, and the GPU has {multiprocessors} multiprocessors.",
        waves,
        _fills_in_part,
    ),
}
