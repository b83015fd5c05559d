"""Files that others may read while they are written."""

import secrets
from pathlib import Path


def write_text(path, text):
    """Write a text file so that a reader sees the old one or the new one, never half of it; folders are made.

    The new file has a name of its own that nobody can guess until it takes the old one's place: two writers do not
    disturb each other, and no link that lies in wait is followed.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.part")
    try:
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
