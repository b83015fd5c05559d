"""A Program as source text: a loop for the CPU's threads, or a kernel for a GPU.

Both have one statement for each step. What differs is around them: how elements are shared out, where the sums of rows
and columns are kept, and how the random words of dropout are made.
"""

from .graph import FORMS, LEAVES

#: operation -> its expression; {0}, {1}, ... are its inputs. Functions are those of dlkernels/vector.
EXPRESSIONS = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}"}
ACTIVATIONS = ("relu", "leaky_relu", "elu", "sigmoid", "tanh", "silu", "gelu")
CHUNK = 2048  # elements of a line that are taken at once: their random words fit the smallest cache
TASK = 1 << 14  # elements of a task, about
WARP, WARPS = 32, 8
RUN = 64  # most blocks along the rows: each thread takes several rows, and reads a bias once


def expression(step, values):
    """The right side of a step's statement."""
    if step.op in EXPRESSIONS:
        return EXPRESSIONS[step.op].format(*values)
    if step.op == "cast":
        return f"{step.dtype}({values[0]})"
    if step.op == "dropout":
        x, scale, below = values[:3]
        return f"{x} * {scale} if word >= {below} else {step.dtype}(0)"
    return f"{step.op}_{step.dtype}({', '.join(values)})"


def names(program):
    """(the leaves' arguments, the outputs' arguments) of both kinds of function."""
    leaves = [f"{'n' if s.op == 'number' else 'x'}{k}" for k, s in enumerate(program.steps) if s.op in LEAVES]
    return leaves, [f"out{n}" for n in range(len(program.outputs))]


def _statements(program, load, word):
    """One for each step. load: {form: the index of an input}; word(step): what makes dropout's random word."""
    lines = []
    for k, step in enumerate(program.steps):
        if step.op == "input":
            if index := load[step.form]:
                lines.append(f"v{k} = x{k}{index}")
        elif step.op != "number":
            if step.op == "dropout":
                lines += word(k, step)
            lines.append(f"v{k} = {expression(step, [_value(program, i) for i in step.inputs])}")
    return lines


def _value(program, k):
    return f"n{k}" if program.steps[k].op == "number" else f"v{k}"


def _indented(lines, depth):
    return [" " * 4 * depth + line for line in lines]


# ---- CPU -------------------------------------------------------------------------------------------------------------


def loop(program):
    """Source of `part(arguments, task, who)`, a task of a team of threads (dlkernels/team.py): some rows.

    arguments: the leaves, the outputs (of sums to a row: one row for each task), rows, columns, elements, rows of a
    task; arrays are lines of memory. Where nothing is broadcast, `columns` is CHUNK, and the last row may be short.
    """
    leaves, outs = names(program)
    steps = program.steps
    inputs = [k for k, s in enumerate(steps) if s.op == "input"]
    drops = [k for k, s in enumerate(steps) if s.op == "dropout"]
    head = [f"{', '.join([*leaves, *outs])}, rows, columns, size, step = arguments"]
    start, chunk, body, after, end = [], [], [], [], []  # of a row, of a chunk, of an element, and after both
    head += [f"words{k} = np.empty({CHUNK} + 4, np.uint32)" for k in drops]
    for k in inputs:
        if steps[k].form == "full":
            chunk.append(f"line{k} = x{k}[first:last]")
        elif steps[k].form == "row":
            chunk.append(f"line{k} = x{k}[begin : begin + last - first]")
        else:
            start.append(f"v{k} = x{k}[row]")
    for k in drops:
        _, _, _, k0, k1, block, skip = (_value(program, i) for i in steps[k].inputs)
        chunk += [
            f"at{k} = {skip} + first",
            f"skip{k} = at{k} % 4",
            f"fill_words(words{k}, (skip{k} + last - first + 3) // 4, ({k0}, {k1}), {block} + u64(at{k} // 4))",
        ]
    for n, (k, form) in enumerate(program.outputs):
        dtype, value = steps[k].dtype, _value(program, k)
        if form == "full":
            chunk.append(f"result{n} = out{n}[first:last]")
            body.append(f"result{n}[c] = {value}")
        elif form == "row":
            head.append(f"out{n}[task * columns : (task + 1) * columns] = 0")
            chunk.append(f"result{n} = out{n}[task * columns + begin : task * columns + begin + last - first]")
            body.append(f"result{n}[c] += {value}")
        else:
            head.append(f"kept{n} = np.empty({CHUNK}, np.{dtype})")
            start.append(f"total{n} = {dtype}(0)")
            body.append(f"kept{n}[c] = {value}")
            after.append(f"total{n} += line_sum(kept{n}[: last - first])")
            end.append(f"out{n}[row] = total{n}")
    element = [f"v{k} = line{k}[c]" for k in inputs if steps[k].form != "column"]
    element += _statements(program, dict.fromkeys(FORMS, ""), lambda k, step: [f"word = words{k}[skip{k} + c]"])
    return "\n".join(
        [
            "def part(arguments, task, who):",
            *_indented(head, 1),
            "    for row in range(task * step, min((task + 1) * step, rows)):",
            *_indented(start, 2),
            f"        for begin in range(0, columns, {CHUNK}):",
            "            first = row * columns + begin",
            f"            last = min(first + {CHUNK}, (row + 1) * columns, size)",
            *_indented(chunk, 3),
            "            for c in range(last - first):",
            *_indented(element + body, 4),
            *_indented(after, 3),
            *_indented(end, 2),
            "",
        ]
    )


# ---- GPU -------------------------------------------------------------------------------------------------------------


def _word(program):
    """Statements that make the random word of element i: a block of four words, of which one is taken."""

    def word(k, step):
        _, _, _, k0, k1, block, skip = (_value(program, i) for i in step.inputs)
        return [f"word = word_of(i + {skip}, {block}, {k0}, {k1})"]

    return word


def kernel(program):
    """Source of a kernel: full outputs, and sums to a row, as partial sums (one row of `out` for each row of threads).

    Where nothing is broadcast, threads walk over the elements; else columns lie along x, and a thread walks over rows,
    so that it reads what belongs to its column once.
    """
    leaves, outs = names(program)
    full = [n for n, (_, form) in enumerate(program.outputs) if form == "full"]
    load = {"full": "[i]", "row": "", "column": "[row]"}
    statements = _statements(program, load, _word(program))
    store = [f"out{n}[i] = {_value(program, program.outputs[n][0])}" for n in full]
    if not program.broadcasts:
        return "\n".join(
            [
                f"def kernel({', '.join([*leaves, *outs])}):",
                f"    for i in range(cuda.grid(1), out{full[0]}.size, cuda.gridsize(1)):",
                *_indented(statements + store, 2),
                "",
            ]
        )
    sums = [(n, k) for n, (k, form) in enumerate(program.outputs) if form == "row"]
    rows = [k for k, s in enumerate(program.steps) if s.op == "input" and s.form == "row"]
    return "\n".join(
        [
            f"def kernel({', '.join([*leaves, *outs])}, rows, columns):",
            "    column, first = cuda.grid(2)",
            "    if column < columns:",
            *_indented([f"v{k} = x{k}[column]" for k in rows], 2),
            *_indented([f"total{n} = {program.steps[k].dtype}(0)" for n, k in sums], 2),
            "        for row in range(first, rows, cuda.gridsize(2)[1]):",
            "            i = row * columns + column",
            *_indented(statements + store + [f"total{n} += {_value(program, k)}" for n, k in sums], 3),
            *_indented([f"out{n}[first * columns + column] = total{n}" for n, _ in sums], 2),
            "",
        ]
    )


def row_kernel(program):
    """Source of a kernel for sums to a column: a warp for each row, its lanes along the columns."""
    leaves, outs = names(program)
    load = {"full": "[i]", "row": "[column]", "column": ""}
    columns = [k for k, s in enumerate(program.steps) if s.op == "input" and s.form == "column"]
    sums = [(n, k) for n, (k, _) in enumerate(program.outputs)]
    adds = [f"total{n} += {_value(program, k)}" for n, k in sums]
    return "\n".join(
        [
            f"def kernel({', '.join([*leaves, *outs])}, rows, columns):",
            "    lane = cuda.threadIdx.x",
            f"    for row in range(cuda.blockIdx.x * {WARPS} + cuda.threadIdx.y, rows, cuda.gridDim.x * {WARPS}):",
            *_indented([f"v{k} = x{k}[row]" for k in columns], 2),
            *_indented([f"total{n} = {program.steps[k].dtype}(0)" for n, k in sums], 2),
            f"        for column in range(lane, columns, {WARP}):",
            "            i = row * columns + column",
            *_indented(_statements(program, load, _word(program)) + adds, 3),
            *_indented(
                [
                    f"total{n} += cuda.shfl_down_sync(0xFFFFFFFF, total{n}, {step})"
                    for step in (16, 8, 4, 2, 1)
                    for n, _ in sums
                ],
                2,
            ),
            "        if lane == 0:",
            *_indented([f"out{n}[row] = total{n}" for n, _ in sums], 3),
            "",
        ]
    )
