"""Where the built book is, and what its table of contents lists."""

import os
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
BOOK = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))  # BOOK_HTML: another built copy
OTHERS = ["search", "lib/dlkernels/matrix/gpu"]  # pages of a kind that is not in the table of contents


def pages():
    """The names of all pages of the table of contents, in its order."""

    def files(entry):
        for key, value in entry.items():
            if key in ("root", "file"):
                yield value
            elif isinstance(value, list):
                for child in value:
                    yield from files(child)

    return list(files(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
