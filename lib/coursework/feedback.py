"""An Outcome in words and pictures: `as_text` for a shell, `as_html` for a notebook. Both say the same."""

from html import escape

from simt.show import Column, sentence, table

from . import golf
from .outcome import RIGHT, UNSOLVED

_MARKS = ".x_"  # right, wrong, not written: three shapes, so that no colour is needed
_LEGEND = ". right   x wrong   _ not written"
_LONGEST = 64  # cells in a row of the picture
_ROWS = 10
_STEPS = 20  # rows of an interleaving that are not folded away
_WORDS = 420  # pixels that the words under a picture may need
_FACTS = (
    Column(style="text-align:left;opacity:.75;padding-right:1em;white-space:nowrap;vertical-align:top"),
    Column(render=sentence, style="text-align:left"),
)


def headline(outcome):
    """One line: what was checked and how it ended."""
    part = {"results": "result", "budget": "budget", "prediction": "prediction"}[outcome.part]
    if outcome.status == RIGHT:
        points = {0: "", 1: " (1 point)"}.get(outcome.points, f" ({outcome.points} points)")
        return f"{outcome.task}: {part} right{points}"
    if outcome.status == UNSOLVED:
        said = outcome.failure.headline
        return f"{outcome.task}: {said[:1].lower()}{said[1:]}"
    return f"{outcome.task}: {outcome.failure.headline}"


def advice(outcome):
    """What to do next."""
    if outcome.status == RIGHT:
        return ""
    if outcome.status == UNSOLVED and outcome.failure.kind == "closed":
        return ""
    if outcome.failure.kind == "stale":
        return "Mend the cell above, run it until it ends without an error, then run this one again."
    if outcome.status == UNSOLVED and (outcome.part == "prediction" or outcome.failure.kind == "unanswered"):
        return "Put your answers in the place of ... in the cell above, run it, then run this cell again."
    if outcome.status == UNSOLVED and outcome.failure.kind == "blank":
        return (
            "Write your lines into the text, in the place of YOUR CODE HERE, run that cell, then run this one again. "
            f'hint("{outcome.task}") helps to begin.'
        )
    if outcome.status == UNSOLVED:
        return (
            "Write your lines where it says YOUR CODE HERE, delete the line `raise NotImplementedError`, run that "
            f'cell, then run this one again. hint("{outcome.task}") helps to begin.'
        )
    if outcome.failure.kind == "checker-error":
        return (
            "Restart the kernel (menu Kernel), run the cells from the top, then this one. If it comes again, tell your "
            "instructor."
        )
    return f'Mend the cell above, run it, then run this one again. hint("{outcome.task}") gives a hint.'


def as_text(outcome, advise=True, read=None):
    """The whole message as plain text; `advise=False` leaves out what to do next. `read`: a Section to be sent to."""
    lines = [headline(outcome)]
    if outcome.status == RIGHT:
        lines += [f"  Checked. {line}" if i == 0 else f"  {line}" for i, line in enumerate(outcome.checked)]
        lines += [f"  Not checked. {outcome.not_checked}"] if outcome.not_checked else []
        lines += [f"  {line}" for line in (golf.said(outcome.golf) if outcome.golf else ())]
        if "table" in outcome.picture:
            lines += ["", *("  " + row for row in _interleaving(outcome.picture).splitlines())]
        elif outcome.picture:
            lines.append(f"  The picture. {outcome.picture['alt']}")
        return "\n".join(lines)
    failure = outcome.failure
    lines += [f"  {label:<13} {text}" for label, text in _once(failure.facts)]
    lines += [f"  {'likely cause':<13} {failure.cause}"] if failure.cause else []
    if "svg" in failure.picture:
        lines.append(f"  {'the picture':<13} {failure.picture['alt']}")
        drawn = failure.picture.get("text", "")
        lines += ["", *("  " + row for row in drawn.splitlines()), ""] if drawn else []
    if "table" in failure.picture:
        lines += [
            *([""] if lines[-1] else []),
            *("  " + row for row in _interleaving(failure.picture).splitlines()),
            "",
        ]
    elif failure.picture and "svg" not in failure.picture:
        lines += ["", *("  " + row for row in picture_rows(failure.picture)), "  " + _LEGEND, ""]
    lines += [f"  {'read first':<13} {read.place}"] if read else []
    lines += ["  " + advice(outcome)] if advise and advice(outcome) else []
    return "\n".join(lines)


def as_html(outcome, read=None, advise=True):
    """The same as a card. Everything that came from the answer is escaped."""
    right = outcome.status == RIGHT
    mark, colour = ("\N{CHECK MARK}", "#2e8b57") if right else ("\N{MULTIPLICATION X}", "#c0392b")
    if outcome.status == UNSOLVED:
        mark, colour = "\N{PENCIL}", "#8a6d00"
    body = [f"<b>{mark} {escape(headline(outcome))}</b>"]
    if right:
        lines = [("checked", " ".join(outcome.checked[:1])), *(("", line) for line in outcome.checked[1:])]
        lines += [("not checked", outcome.not_checked)] if outcome.not_checked else []
        lines += [
            ("golf" if i == 0 else "", line) for i, line in enumerate(golf.said(outcome.golf) if outcome.golf else ())
        ]
        body.append(_facts(lines))
        body += [_svg(outcome.picture)] if outcome.picture else []
    else:
        failure = outcome.failure
        rows = [*_once(failure.facts), *([("likely cause", failure.cause)] if failure.cause else [])]
        body += [_facts(rows)] if rows else []
        body += [_svg(failure.picture)] if failure.picture else []
        if read:
            body.append(f"<div>Read first: {escape(read.place)}</div>")
        body += [f"<div>{sentence(advice(outcome))}</div>"] if advise else []
    return card("".join(body), colour)


def card(body, colour="#888"):
    """A block with a coloured edge, as all messages of the course have in a notebook."""
    style = f"border-left:4px solid {colour};padding:.3em 1em;margin:.3em 0;max-width:60em"
    return f"<div style='{style}'>{body}</div>"


def hint_html(task_id, level, levels, text):
    """A hint as a card."""
    return card(f"<b>Hint {level} of {levels} for {escape(task_id)}</b><div>{sentence(text)}</div>")


def _once(facts):
    """The facts without a place that the sentence before them has named."""
    said = dict(facts).get("it said", "")
    return [fact for fact in facts if fact[0] not in ("at", "at the line", "happened in") or fact[1] not in said]


def _facts(rows):
    return table(_FACTS, rows, style="margin:.4em 0;border:0")


def _grid(picture):
    """The states as rows of cells, with a label for each row, cut down to what fits around the first failure."""
    state, threads = picture["state"], picture["threads"]
    if state and isinstance(state[0], list):
        rows, labels = state, [f"row {i}" for i in range(len(state))]
    elif threads:
        rows = [state[i : i + threads] for i in range(0, len(state), threads)]
        labels = [_label(i, picture["blocks"], len(rows)) for i in range(len(rows))]
    else:
        rows, labels = [state], ["element 0"]
    first_row = next(i for i, row in enumerate(rows) if any(row))
    begin = max(0, min(first_row - _ROWS // 2, len(rows) - _ROWS))
    rows, labels = rows[begin : begin + _ROWS], labels[begin : begin + _ROWS]
    per_cell = -(-max(len(row) for row in rows) // _LONGEST)
    rows = [[max(row[i : i + per_cell]) for i in range(0, len(row), per_cell)] for row in rows]
    return rows, labels, per_cell


def _label(row, blocks, rows):
    """Whose elements stand in a row. With fewer blocks than rows each thread has several, in rounds."""
    turn, block = divmod(row, blocks)
    return f"round {turn + 1}, block {block}" if rows > blocks else f"block {block}"


def picture_rows(picture):
    """The picture as lines of text: one line for each block (or row), one mark for each element."""
    rows, labels, per_cell = _grid(picture)
    width = max(map(len, labels))
    lines = [f"{label:<{width}} {''.join(_MARKS[s] for s in row)}" for label, row in zip(labels, rows, strict=True)]
    return lines + ([f"(one mark stands for {per_cell} elements, and shows the worst of them)"] if per_cell > 1 else [])


def _interleaving(picture, html=False):
    from cpulab.explore.report import Interleaving

    table = Interleaving([tuple(row) for row in picture["table"]], _STEPS, picture.get("who", "thread"))
    return table._repr_html_() if html else str(table)


def _svg(picture):
    svg = f"<div style='max-width:520px'>{picture['svg']}</div>" if "svg" in picture else ""
    if svg or "table" in picture:
        return svg + (_interleaving(picture, html=True) if "table" in picture else "")
    rows, labels, per_cell = _grid(picture)
    cell, left = 9, max(70, 6 * max(map(len, labels)) + 8)
    width = left + max(cell * max(map(len, rows)), _WORDS)
    height = (cell + 5) * len(rows) + 22
    wrong, missing = (sum(row.count(s) for row in rows) for s in (1, 2))
    alt = f"Map of the output: {len(rows)} rows shown, {wrong} marks wrong, {missing} marks not written."
    shapes = []
    for r, (row, label) in enumerate(zip(rows, labels, strict=True)):
        y = r * (cell + 5)
        shapes.append(f"<text x='0' y='{y + 9}'>{label}</text>")
        for c, state in enumerate(row):
            shapes.append(_mark(state, left + c * cell, y + 1, cell - 2))
    legend = "filled: right; cross: wrong; empty: not written"
    legend += f" (a mark stands for {per_cell} elements)" if per_cell > 1 else ""
    shapes.append(f"<text x='{left}' y='{height - 6}'>{legend}</text>")
    return (
        f"<svg role='img' aria-label='{alt}' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        "style='max-width:100%;font:11px sans-serif;white-space:pre' fill='currentColor' stroke='none'>"
        f"<title>{alt}</title> {' '.join(shapes)}</svg>"
    )


def _mark(state, x, y, s):
    if state == 0:
        return f"<rect x='{x}' y='{y}' width='{s}' height='{s}' opacity='.3'/>"
    if state == 1:
        return f"<path d='M{x} {y}l{s} {s}M{x + s} {y}l{-s} {s}' stroke='#c0392b' stroke-width='2'/>"
    return f"<rect x='{x + 0.5}' y='{y + 0.5}' width='{s - 1}' height='{s - 1}' fill='none' stroke='currentColor'/>"
