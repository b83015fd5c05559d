"""nbformat in a tenth of its time: jsonschema, which it brings, makes a grammar of web addresses where rfc3987_syntax
is installed, one or two seconds long. No notebook's format asks for one.

For programs of the course, and `-p coursework.lighter` for pytest in its checkout. Where jsonschema was imported
before, all is as it was.
"""

import sys

NAME = "rfc3987_syntax"
_unknown = NAME not in sys.modules
if _unknown:
    sys.modules[NAME] = None  # an import of it fails, and jsonschema does without
try:
    import nbformat  # noqa: F401
finally:
    if _unknown:
        sys.modules.pop(NAME, None)
