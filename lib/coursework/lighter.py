"""nbformat in a tenth of its time: jsonschema, which it brings, makes a grammar of web addresses where rfc3987_syntax is
installed, one or two seconds long. No notebook's format asks for one."""

import sys

NAME = "rfc3987_syntax"
_unknown = NAME not in sys.modules
if _unknown:
    sys.modules[NAME] = None  # an import of it fails, and jsonschema does without

import nbformat  # noqa: E402, F401

if _unknown:
    del sys.modules[NAME]
