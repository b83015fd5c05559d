"""Answers to 05-flip."""

from answers import edit, replace

from dlkernels import cuda


@cuda.jit
def by_hand(picture, out):
    """right"""
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    out[i, j] = picture[i, out.shape[1] - j - 1]


@cuda.jit
def each_thread_owns_what_it_reads(picture, out):
    """right"""
    x, y = cuda.grid(2)
    if x < picture.shape[1] and y < picture.shape[0]:
        out[y, picture.shape[1] - 1 - x] = picture[y, x]


@cuda.jit
def x_counts_rows(picture, out):
    """over budget over-budget: what should x count"""
    row, column = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = picture[row, out.shape[1] - 1 - column]


@cuda.jit
def no_guard(picture, out):
    """wrong negative-index: is it kept out"""
    column, row = cuda.grid(2)
    out[row, column] = picture[row, picture.shape[1] - 1 - column]


@cuda.jit
def a_guard_of_columns_alone(picture, out):
    """wrong out-of-bounds: each by itself"""
    column, row = cuda.grid(2)
    if column < out.shape[1]:
        out[row, column] = picture[row, picture.shape[1] - 1 - column]


@cuda.jit
def one_guard_for_both(picture, out):
    """wrong negative-index: each by itself"""
    column, row = cuda.grid(2)
    if row * out.shape[1] + column < out.size:
        out[row, column] = picture[row, picture.shape[1] - 1 - column]


@cuda.jit
def counted_from_one(picture, out):
    """wrong out-of-bounds: The mirror of column 0 is the last column"""
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = picture[row, out.shape[1] - column]


pythons_negative_index = edit(
    counted_from_one, "wrong negative-index: as far from the right edge", replace("row, out.shape[1]", "row, -1")
)


@cuda.jit
def on_its_head(picture, out):
    """wrong suspect: stands on its head"""
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = picture[out.shape[0] - 1 - row, column]


not_mirrored = edit(on_its_head, "wrong suspect: nothing was mirrored", replace("out.shape[0] - 1 - row", "row"))


@cuda.jit
def both(picture, out):
    """wrong suspect: The rows stay where they are"""
    column, row = cuda.grid(2)
    rows, columns = out.shape
    if row < rows and column < columns:
        out[row, column] = picture[rows - 1 - row, columns - 1 - column]


@cuda.jit
def guards_exchanged(picture, out):
    """wrong negative-index: The row must be below picture.shape[0]"""
    column, row = cuda.grid(2)
    if row < out.shape[1] and column < out.shape[0]:
        out[row, column] = picture[row, out.shape[1] - 1 - column]


@cuda.jit
def the_first_block_alone(picture, out):
    """wrong some-unwritten: the number of the block in both directions"""
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = picture[row, out.shape[1] - 1 - column]


@cuda.jit
def a_loop_over_the_row(picture, out):
    """wrong race: each thread mirrors only its own"""
    row = cuda.grid(2)[1]
    if row < out.shape[0]:
        for j in range(out.shape[1]):
            out[row, j] = picture[row, out.shape[1] - 1 - j]


@cuda.jit
def in_one_dimension(picture, out):
    """wrong raised-TypeError: cuda.grid(2) gives two numbers"""
    i = cuda.grid(2)
    if i < out.size:
        out[i] = picture[i]
