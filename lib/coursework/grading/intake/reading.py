"""The code cells of a submission: read with suspicion, without outputs, no longer than a person writes."""

import json
import re

from .. import exchange
from . import slim

MAX_NOTEBOOK = 10 << 20  # without outputs
MAX_CELL = 100_000  # characters of one cell
MAX_SOURCE = 400_000  # characters of all code cells together
MAX_CELLS = 2_000
_COMMENT = re.compile(r"^\s*#\s*grade_id:\s*([\w-]+)")


class Unreadable(ValueError):
    """The submission is no notebook. The message says in what way, in a few words."""


def load(path):
    """([(grade_id or "", cell id, source) of each code cell], flags of what was cut off); Unreadable with a reason
    otherwise."""
    try:
        data = slim.read(path, MAX_NOTEBOOK)
    except exchange.BadData as error:
        raise Unreadable(str(error)) from None
    if not data.strip():
        raise Unreadable("the file is empty")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
        cells = notebook["cells"] if "cells" in notebook else notebook["worksheets"][0]["cells"]
        cells = [_cell(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    except UnicodeDecodeError:
        raise Unreadable("the text is not in UTF-8") from None
    except (ValueError, RecursionError):
        raise Unreadable("it is not JSON: damaged, or not a notebook") from None
    except (KeyError, TypeError, IndexError, AttributeError):
        raise Unreadable("it is JSON, but not a notebook") from None
    return _cut(cells)


def _cut(cells):
    """Cells that can be graded: of a longer source nothing is kept, so that no half of it means something else."""
    flags, left, fits = [], MAX_SOURCE, set()
    for i, (grade_id, cell_id, source) in sorted(enumerate(cells[:MAX_CELLS]), key=lambda item: not item[1][0]):
        if len(source) > MAX_CELL:
            name = (grade_id or cell_id)[:40]
            flags.append(f"cut off: cell {name} has {len(source)} characters; at most {MAX_CELL} are read")
        elif len(source) <= left:  # the course's cells, which have a grade_id, come first
            left -= len(source)
            fits.add(i)
    if left < MAX_CELL and len(fits) + len(flags) < len(cells[:MAX_CELLS]):
        flags.append(f"cut off: more than {MAX_SOURCE} characters of source; some cells are left out")
    if len(cells) > MAX_CELLS:
        flags.append(f"cut off: {len(cells)} code cells; the first {MAX_CELLS} are read")
    return [cell for i, cell in enumerate(cells) if i in fits], flags[-5:]


def named(source):
    """The id in a first line `# grade_id: NAME`, or None."""
    comment = _COMMENT.match(source)
    return comment.group(1) if comment else None


def ids(path):
    """All ids that the cells of a notebook have; empty for what is no notebook."""
    try:
        cells, _ = load(path)
    except Unreadable:
        return set()
    return {name for grade_id, cell_id, source in cells for name in (grade_id, cell_id, named(source)) if name}


def _cell(cell):
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    source = re.sub(r"\r\n?", "\n", source.replace("\0", "")) if isinstance(source, str) else ""
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = mark.get("grade_id") if isinstance(mark, dict) else None
    cell_id = cell.get("id")
    return (
        grade_id if isinstance(grade_id, str) else "",
        cell_id if isinstance(cell_id, str) else named(source) or "",
        source.encode("utf-8", "replace").decode("utf-8"),
    )
