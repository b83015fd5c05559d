"""A notebook without its outputs, whatever their size, in a memory that depends on the rest only.

Students hand in hundreds of megabytes of pictures and printed numbers; none of it is graded. The text is read from the
disk through a window: strings and brackets are found, and what stands behind "outputs" or "attachments" is jumped over.
"""

import mmap
import re

from .. import exchange

DROPPED = (b'"outputs"', b'"attachments"', b'"widgets"')
MAX_FILE = 2 << 30
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_COLON = re.compile(rb"\s*:\s*")
_SCALAR = re.compile(rb"[^,\]}\s]*")
_DEPTH = 6  # of a cell's or a notebook's own keys, in every format


def read(path, limit):
    """The bytes of the notebook at `path`, with empty lists in the place of outputs; BadData if more than `limit`
    remain."""
    with exchange.opened(path, MAX_FILE) as file:
        size = file.seek(0, 2)
        if size <= limit:
            file.seek(0)
            return file.read(limit)
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as text:
            kept, total = [], 0
            for begin, end in _parts(text):
                total += end - begin
                if total > limit:
                    raise exchange.BadData(f"{size} bytes, and more than {limit} without the outputs")
                kept.append(text[begin:end])
            return b"[]".join(kept)


def _parts(text):
    """(begin, end) of what is kept, between the values that are dropped."""
    begin = offset = depth = 0
    while match := _TOKEN.search(text, offset):
        token, offset = text[match.start() : min(match.end(), match.start() + 20)], match.end()
        if token[:1] != b'"':
            depth += 1 if token in b"[{" else -1
        elif depth <= _DEPTH and token in DROPPED:
            colon = _COLON.match(text, offset)
            if colon:
                yield begin, colon.end()
                begin = offset = _end_of_value(text, colon.end())
    yield begin, len(text)


def _end_of_value(text, offset):
    """Where the JSON value that begins at `offset` ends."""
    if text[offset : offset + 1] not in (b"[", b"{"):
        string = _TOKEN.match(text, offset) if text[offset : offset + 1] == b'"' else None
        return string.end() if string else _SCALAR.match(text, offset).end()
    depth = 0
    for match in _TOKEN.finditer(text, offset):
        token = text[match.start() : match.start() + 1]
        if token != b'"':
            depth += 1 if token in b"[{" else -1
            if depth == 0:
                return match.end()
    return len(text)
