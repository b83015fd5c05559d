"""Sentences of the chapters with a number that nothing on the page vouches for.

A number in prose is fine when it is a name (float32, sm_80, chapter 7, 2-D, 1024 x 1024, a year, a version), when its
paragraph cites a source or says "recorded", or when the page's own code has it: then it was put in, or an assertion
holds it. What reads like a result ("8 times", "82 %", "3 GB/s") must stand in an assertion or a claim. All other
sentences are listed in numbers.toml with the reason why they may stand: what follows from a definition, or what the
sentence itself computes.
"""

import json
import re
import tomllib
from pathlib import Path

LIST = Path(__file__).with_name("numbers.toml")

FENCE = re.compile(r"^ *(`{3,}|:{3,})(.*)$")
PLAIN = ("admonition", "note", "tip", "warning", "important", "dropdown", "predict", "figure", "list-table", "seealso")
GONE = [  # what is no prose, or no number
    r"\{(?:cite[^}]*|eq|ref|numref|doc|math)\}`[^`]*`",
    r"`+[^`]+`+",
    r"\$\$.*?\$\$",
    r"\$[^$]+\$",
    r"(?<=\])\([^)]*\)",  # where a link leads
    r"<[^>]+>",
    r"\bhttps?://\S+",
]
NAMED = [  # a digit that is part of a name, a size that is chosen, a place in the book
    r"\b[A-Za-z_]+[-_]?\d(?:[\w.-]*\w)?",  # float32, L2, A100, sm_80, AVX-512, m16n8k16
    r"\b(?i:chapters?|pages?|parts?|rungs?|pieces?|exercises?|tasks?|figures?|tables?|steps?|levels?|threads?|lanes?|warps?|blocks?|banks?|rows?"
    r"|columns?|lines?|runs?|case|rule|mistakes?|Classroom|CUDA|Python|NumPy|numba|Ubuntu|OpenBLAS|version|section|sections) "
    r"\d+(?:\.\d+)*"
    r"(?:(?:,| and| to|-|–) \d+(?:\.\d+)*)*",
    r"\b\d+-?D\b",
    r"\b\d+[ -]?(?:bits?|bytes?|byte|KiB|MiB|GiB|B)\b",
    r"\b\d+(?:,\d{3})*(?: ?[x×·] ?\d+(?:,\d{3})*)+\b",
    r"\b(?:19|20)\d\d\b",
    r"\*\*Time:\*\*.*",
    r"(?<=\[)\d+(?:\.\d+)?(?: [^\]]+)?(?=\])",  # [7 Vector add](...), [8.2](...)
    r"\b(?:CC BY|BSD|PEP|issue|issues|version|since) \d+(?:\.\d+)+|\b(?:BSD|PEP|issue) \d+(?:-Clause)?",
    r"^\d+\.(?= )",
]
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?")
RESULT = re.compile(
    r"\s*(?:times\b|%|x\b|per ?cent\b|GB/s|TB/s|GFLOP|TFLOP|FLOP/s|ns\b|us\b|µs\b|ms\b|seconds?\b|s\b|cycles?\b)"
)
VOUCHED = re.compile(r"\{cite|\brecord(?:ed|s)?\b", re.IGNORECASE)


def prose_and_code(text):
    """(paragraphs of prose, code of the executed cells) of a MyST page."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    paragraphs, code, paragraph, open_fences = [], [], [], []

    def end():
        if paragraph:
            paragraphs.append(" ".join(paragraph))
            paragraph.clear()

    for line in text.splitlines():
        fence = FENCE.match(line)
        if fence and open_fences and not fence[2].strip() and fence[1] == open_fences[-1][0]:
            open_fences.pop()
            end()
        elif fence and not (open_fences and open_fences[-1][1] != "prose"):
            name = re.match(r"\{([\w-]+)\}", fence[2].strip())
            kind = "code" if name and name[1] == "code-cell" else "prose"
            if not name or (name[1] not in PLAIN and not name[1].startswith("grid") and kind == "prose"):
                kind = "other"
            open_fences.append((fence[1], kind))
            end()
            title = fence[2].strip()[len(name[0]) :].strip() if name else ""
            if kind == "prose" and title and not name[1].startswith("grid"):
                paragraphs.append(title)
        elif open_fences and open_fences[-1][1] == "code":
            code.append(line)
        elif open_fences and open_fences[-1][1] == "other":
            continue
        elif not line.strip() or re.match(r"^#+ |^:[\w-]+:|^\([\w-]+\)=$|^\|[-:| ]+\|$", line):
            end()
        else:
            if re.match(r"^\s*([-*+]|\d+\.) |^\|", line):
                end()
            paragraph.append(re.sub(r"^\s*([-*+]|\d+\.) ", "", line).strip())
    end()
    return paragraphs, "\n".join(code)


def sentences(paragraph):
    return [
        part.strip() for part in re.split(r"(?<=[.?!:])(?:\*{1,2}|\))? +(?=[A-Z`*\"$(])", paragraph) if part.strip()
    ]


def bare(text):
    """The sentences of a page in which a number stands that nothing vouches for."""
    paragraphs, code = prose_and_code(text)
    statements = "\n".join(line for line in _joined(code) if "assert" in line or "measure.claim(" in line)
    put_in, asserted = (set(map(_value, NUMBER.findall(part.replace("_", "")))) for part in (code, statements))
    found = []
    for paragraph in paragraphs:
        if VOUCHED.search(paragraph):
            continue
        for sentence in sentences(paragraph):
            left = sentence
            for pattern in (*GONE, *NAMED):
                left = re.sub(pattern, " ", left)
            for number in NUMBER.finditer(left):
                known = asserted if RESULT.match(left, number.end()) else put_in
                if _value(number[0]) not in known:
                    found.append(sentence)
                    break
    return found


def _joined(code):
    """The lines of code, each with what its open brackets hold below it."""
    line = ""
    for part in code.splitlines():
        line += " " + part
        if sum(map(line.count, "([{")) <= sum(map(line.count, ")]}")):
            yield line
            line = ""
    yield line


def _value(number):
    return float(number.replace(",", ""))


def allowed():
    """{(page, sentence): the reason why it may stand}"""
    entries = tomllib.loads(LIST.read_text(encoding="utf-8")).get("sentence", []) if LIST.exists() else []
    return {(entry["page"], entry["text"]): entry["why"].strip() for entry in entries}


def entry(page, sentence):
    """What to paste into numbers.toml."""
    return f'[[sentence]]\npage = "{page}"\ntext = {json.dumps(sentence, ensure_ascii=False)}\nwhy = ""\n'
