"""The text of an OpenCL C program as a syntax tree of pycparser: comments, directives, qualifiers and places.

pycparser reads C99. What OpenCL C adds to it is made C99 on the way: address spaces arrive as type qualifiers,
``kernel`` as a function specifier, the vector types as names of types. Macros are not pasted as text: the name of one
stays where it stands, and is read as the expression that was defined, so that every place is a place of the text.
"""

import re
from dataclasses import dataclass

from pycparser import c_lexer, c_parser

SPACES = ("global", "local", "constant", "private")
SCALARS = ("bool", "uchar", "ushort", "uint", "ulong", "size_t", "ptrdiff_t", "half")
_BASES = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double")
LENGTHS = (2, 3, 4, 8, 16)
VECTORS = tuple(f"{base}{n}" for base in _BASES for n in LENGTHS)
_QUALIFIERS = {name: space for space in SPACES for name in (space, f"__{space}")}
_KERNEL = ("kernel", "__kernel")
_TYPES = {*SCALARS, *VECTORS, "char", "short", "int", "long", "float", "double"}
_ACCESS = ("read_only", "write_only", "read_write")


class ReadError(Exception):
    """OpenCL C that is wrong, or that this reader does not take. line: from 1, or 0; text: that line's."""

    def __init__(self, what, cure="", line=0, text=""):
        where = f"line {line}, `{text.strip()}`: " if line else ""
        super().__init__(f"{where}{what}{'. ' + cure if cure else ''}")
        self.what, self.cure, self.line, self.text = what, cure, line, text


class _Lexer(c_lexer.CLexer):
    names = {}  # noqa: RUF012 - macros that stand for a type: name -> the type's

    def token(self):
        token = super().token()
        if token is None or token.type not in ("ID", "INLINE"):
            return token
        if token.value in self.names:
            token.value = self.names[token.value]
            token.type = self._keyword_map.get(token.value, "ID")
        if token.value in _QUALIFIERS:
            token.type, token.value = "VOLATILE", _QUALIFIERS[token.value]
        elif token.value in _KERNEL:
            token.type, token.value = "INLINE", "kernel"
        elif token.value.strip("_") in ("restrict", "const", "volatile"):
            token.type = token.value.strip("_").upper()
        elif token.value.strip("_") in _ACCESS:
            self.error_func("images are not read here", token.lineno, token.column)
        return token


class _Parser(c_parser.CParser):
    """C99, with OpenCL's names of types."""

    def _is_type_in_scope(self, name):
        return name in SCALARS or name in VECTORS or super()._is_type_in_scope(name)


@dataclass(frozen=True)
class Macro:
    """``#define name body`` or ``#define name(parameters) body``: the body as an expression, or None if it is none."""

    name: str
    parameters: tuple | None
    body: object
    text: str
    line: int


class Text:
    """One program. tree: pycparser's. macros: name -> `Macro`. Lines count from 1, columns from 0."""

    def __init__(self, source, defines=None):
        if not isinstance(source, str):
            raise TypeError(f"the source is a {type(source).__name__}; text in OpenCL C was expected")
        self.source, self.lines = source, source.splitlines()
        self.clean = _without_comments(source)
        self.macros = {}
        for name, value in (defines or {}).items():
            self._define(f"{name} {value}", 0)
        bare = self._directives()
        self.bare, self.starts = _without_attributes(bare), _starts(bare)
        self.tree = self._parse(self.bare)

    def error(self, what, cure="", line=0):
        """A `ReadError` with the text of the line."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return ReadError(what, cure, line, text)

    def _lexer(self):
        """A lexer that knows the macros that stand for a type, ``#define real float``, those defined so far."""
        types = {m.name: m.text for m in self.macros.values() if m.text in _TYPES}
        return type("_LexerWithTypes", (_Lexer,), {"names": types})

    def _parse(self, text, first_line=0):
        try:
            return _Parser(lexer=self._lexer()).parse(text)
        except c_parser.ParseError as error:
            found = re.match(r":(\d+)(?::(\d+))?: (.*)", str(error), re.DOTALL)
            line, what = (int(found[1]), found[3]) if found else (len(self.lines), str(error))
            what = re.sub(r"^before: (.*)", r"the compiler stumbles at `\1`", what, flags=re.DOTALL)
            cure = "Is a `;`, a bracket or a type missing there, or on the line before it?"
            raise self.error(what, cure, first_line or line) from None

    def _directives(self):
        """The text with its directives blanked; what they define is kept."""
        lines, out, number = self.clean.split("\n"), [], 0
        while number < len(lines):
            line, first_line = lines[number], number + 1
            if not line.lstrip().startswith("#"):
                out.append(line)
                number += 1
                continue
            directive = line
            while directive.endswith("\\") and number + 1 < len(lines):
                number += 1
                directive = directive[:-1] + " " + lines[number]
                out.append("")
            out.append("")
            number += 1
            word, _, rest = directive.strip()[1:].strip().partition(" ")
            if word == "define":
                self._define(rest.strip(), first_line)
            elif word not in ("pragma", ""):
                raise self.error(f"#{word} is not read here", "Leave out what it leaves out", first_line)
        return "\n".join(out)

    def _define(self, text, line):
        found = re.match(r"([A-Za-z_]\w*)(\(([^)]*)\))?\s*(.*)", text, re.DOTALL)
        if not found:
            raise self.error("this #define has no name", "", line)
        name, _, parameters, body = found.groups()
        names = None if parameters is None else tuple(p.strip() for p in parameters.split(",") if p.strip())
        self.macros[name] = Macro(name, names, self._expression(body), body, line)

    def _expression(self, text):
        if not text.strip():
            return None
        try:
            tree = _Parser(lexer=self._lexer()).parse(f"void f() {{ return {text}; }}")
        except c_parser.ParseError:
            return None
        items = tree.ext[0].body.block_items
        return items[0].expr if len(items) == 1 else None

    # -- places ----------------------------------------------------------------------------------------------------

    def begin(self, node):
        """(line, column) at which a node begins; of ``*p`` and ``&a[i]``, at the sign."""
        line, column = node.coord.line, (node.coord.column or 1) - 1
        sign = getattr(node, "op", "")
        if type(node).__name__ == "UnaryOp" and sign in ("*", "&"):
            before = self.bare[self.starts[line - 1] : self.starts[line - 1] + column]
            if before.rstrip("( ").endswith(sign):
                column = len(before.rstrip("( ")) - 1
        return line, column

    def past(self, begin, brackets=0):
        """(line, column) past a name and so many brackets behind it: ``a[i]`` with one. None: all that follow."""
        text, offset = self.bare, self.starts[begin[0] - 1] + begin[1]
        while offset < len(text) and text[offset] in "*& ":
            offset += 1
        found = re.compile(r"[\w.]+").match(text, offset)
        offset = found.end() if found else _closing(text, offset) if text[offset : offset + 1] == "(" else offset + 1
        left = 100 if brackets is None else brackets
        while left:
            opening = re.compile(r"[\s)]*(?=[\[(])").match(text, offset)
            if not opening:
                break
            offset = _closing(text, opening.end())
            left -= 1
        return self._at(offset)

    def header_end(self, begin):
        """(line, column) past the ``(...)`` of a loop or an ``if`` that begins there."""
        offset = self.bare.find("(", self.starts[begin[0] - 1] + begin[1])
        return self._at(_closing(self.bare, offset)) if offset >= 0 else begin

    def bytes_before(self, position):
        """(line, column in bytes of UTF-8), as Python's trees have it."""
        line, column = position
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return line, len(text[:column].encode())

    def _at(self, offset):
        line = next((i for i in range(len(self.starts) - 1, -1, -1) if self.starts[i] <= offset), 0)
        return line + 1, offset - self.starts[line]


def _starts(text):
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _closing(text, opening):
    """The offset past the bracket that closes the one at ``opening``."""
    depth = 0
    for offset in range(opening, len(text)):
        depth += (text[offset] in "([") - (text[offset] in ")]")
        if depth == 0:
            return offset + 1
    return len(text)


def _without_comments(text):
    def blank(found):
        return re.sub(r"[^\n]", " ", found[0])

    return re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.DOTALL)


def _without_attributes(text):
    """``__attribute__((...))`` blanked: what it promises a compiler changes no result."""
    while found := re.search(r"__attribute__\s*(?=\()", text):
        end = _closing(text, found.end())
        text = text[: found.start()] + re.sub(r"[^\n]", " ", text[found.start() : end]) + text[end:]
    return text
