"""Other numbers for the predictions of chapter 08."""

from . import Asked, Variants


def count(m, k, n, edge, depth):
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
            "Follow one thread of the warp through one tile, and count its loads from a and from b. How many tiles are there?",
        ),
    }


VARIANTS = {
    "08-count": Variants(
        {"m": 64, "k": 48, "n": 96, "edge": 768, "depth": 64},
        {
            "m": (32, 64, 96),
            "k": (48, 80),
            "n": (64, 96, 128),
            "edge": (384, 576, 768, 960),
            "depth": (32, 64, 96, 128),
        },
        "the shapes are ({m} x {k})({k} x {n}); `intensity` is of a {edge} x {edge} matmul; the two kernels have k = {depth}.",
        count,
        lambda m, k, n, edge, depth: len({m, k, n}) == 3 and m != depth,
    )
}
