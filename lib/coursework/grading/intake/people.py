"""Who is who: the same person in the roster, in the names of files, and in the tables of other systems.

What identifies is compared first: an id, an e-mail, a login. Only where none of them says anything, the name does, and
only if nobody else has it. Two lines that fit one person, or two persons that fit one line, are left alone and
reported.
"""

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field

# What a column of a roster may be called: kind -> headers, in small letters without blanks and signs.
HEADERS = {
    "email": ("emailaddress", "emailadresse", "mailaddress"),  # and all that ends in "mail"
    "login": ("login", "loginid", "loginname", "sisloginid", "username", "user", "account", "accountname", "github",
              "githubusername", "owner"),
    "id": ("id", "studentid", "sisuserid", "sisid", "userid", "idnumber", "idnummer", "number", "matriculation",
           "matriculationnumber", "matrikelnummer", "studentnumber"),
    "canvas": ("canvasid", "canvasuserid"),
    "moodle": ("participant", "participantid", "identifier"),
    "name": ("name", "fullname", "studentname", "called"),
    "system": ("system",),  # canvas, moodle, gradescope or classroom50: where somebody's grade goes
}  # fmt: skip
IDENTIFYING = ("email", "login", "id", "canvas", "moodle")
NUMBERED = ("canvas", "moodle")  # the numbers that those put into the names of files
_SIS = ("sisuserid", "sisloginid")  # where these stand, "ID" is Canvas's own number
_PARTICIPANT = re.compile(r"_(\d+)_assign(?:submission|feedback)_")
_CANVAS_FILE = re.compile(r"^[^_]+?(?:_LATE)?_(?P<user>\d+)_(?P<file>\d+)_")


@dataclass(frozen=True)
class Person:
    """`known`: (kind, value) pairs that identify; `names`: keys of all names that this person goes by."""

    label: str
    known: frozenset
    names: frozenset = field(default=frozenset())


def words(text):
    """The words of a name without accents, signs and case."""
    text = unicodedata.normalize("NFKD", str(text)).casefold()
    return re.findall(r"[^\W_]+", "".join(c for c in text if not unicodedata.combining(c)))


def key(text):
    """A name in one word, as Canvas writes it into file names."""
    return "".join(words(text))


def plain(text):
    """A name in which the order of its words does not matter: "Ant, Änna" as "anna ant"."""
    return " ".join(sorted(words(text)))


def names(text):
    """The keys of a name: as it is written, and "Ant, Anna" also as Anna Ant."""
    last_name, comma, first_name = str(text).partition(",")
    return {k for k in (key(text), key(first_name + last_name) if comma else "") if k}


def value(text):
    """What identifies, as it is compared."""
    return unicodedata.normalize("NFKC", str(text)).strip().casefold()


def known(**said):
    """The pairs that identify, of what a row says. A login that is an e-mail address counts as one, too."""
    if said.get("moodle"):
        said["moodle"] = re.sub(r"\D", "", str(said["moodle"]))  # "Participant 123", in any language
    pairs = {(kind, value(text)) for kind, text in said.items() if text and value(text)}
    return pairs | {("email", text) for kind, text in pairs if kind in ("login", "id") and "@" in text}


def known_of(who):
    """The pairs that identify, of what is known of a student (`described`)."""
    return set().union(*(known(**{kind: text}) for kind in IDENTIFYING for text in who.get(kind, ())))


def columns(header):
    """kind -> the places of the columns of that kind in a header."""
    found, keys = defaultdict(list), [key(cell) for cell in header]
    for column, title in enumerate(keys):
        for kind, titles in HEADERS.items():
            if title in titles or (kind == "email" and title.endswith("mail")):
                found[kind].append(column)
        if title == "id" and set(_SIS) & set(keys):
            found["canvas"].append(column)
    return found


def described(student, roster_row=None, path=None):
    """What is known of a student, as plain data: kind -> list of values. `path`: of a file that they handed in."""
    row, who = roster_row or {}, defaultdict(list)
    titles = list(row)
    for kind, places in columns(titles).items():
        who[kind] += [row[titles[column]] for column in places if row[titles[column]]]
    first_name = next((v for k, v in row.items() if key(k) in ("firstname", "givenname")), "")
    last_name = next((v for k, v in row.items() if key(k) in ("lastname", "surname", "familyname")), "")
    who["name"] += [f"{first_name} {last_name}"] if first_name and last_name else []
    for part in path.parts if path else ():
        participant, canvas = _PARTICIPANT.search(part), _CANVAS_FILE.match(part)
        who["moodle"] += [participant[1]] if participant else []
        if canvas and not participant:
            who["canvas"].append(canvas["user"])
            who["canvas_file"] = [part]  # under this name, Canvas takes feedback back
    return {kind: list(dict.fromkeys(values)) for kind, values in who.items() if values}


def person(student, who):
    """A Person from the name that the grader uses, and what is known of it (`described`)."""
    pairs = known_of(who) | known(email=student if "@" in student else "", login=student, id=student)
    called = names(student).union(*(names(n) for n in who.get("name", ())))
    return Person(student, frozenset(pairs), frozenset(called))


def line_of(cells):
    """The Person whom a line of a table is about: {header: cell}."""
    titles, pairs, called = list(cells), set(), set()
    for kind, places in columns(titles).items():
        for text in (cells[titles[column]] or "" for column in places):
            if kind == "name":
                called |= names(text)
            elif kind in IDENTIFYING:
                pairs |= known(**{kind: text})
    student = cells.get("student") or cells.get("Student") or ""
    if student:
        pairs |= known(email=student if "@" in student else "", login=student, id=student)
        called |= names(student)
    shown = (
        student
        or next((cells[t] for t in titles if key(t) in HEADERS["name"] and cells[t]), "")
        or next((text for _, text in sorted(pairs)), "a line without a name")
    )
    return Person(shown, frozenset(pairs), frozenset(called))


def match(ours, theirs):
    """(place in `theirs` -> label of ours, doubts): who of our Persons stands in which of their lines.

    `doubts`: sentences about lines and persons that fit more than once, and so not at all.
    """
    by_pair, by_name = defaultdict(set), defaultdict(set)
    for student in ours:
        for pair in student.known:
            by_pair[pair].add(student.label)
        for name in student.names:
            by_name[name].add(student.label)
    found, doubts = {}, []
    for column, line in enumerate(theirs):
        fits = set().union(*(by_pair.get(pair, ()) for pair in line.known)) or set().union(
            *(by_name.get(name, ()) for name in line.names)
        )
        if len(fits) == 1:
            found[column] = fits.pop()
        elif fits:
            doubts.append(f"{line.label} could be {' or '.join(sorted(fits))}: left alone")
    lines = defaultdict(list)
    for column, label in found.items():
        lines[label].append(column)
    for label, places in lines.items():
        # Whoever is identified takes the line from whoever only has the same name.
        sure = [p for p in places if theirs[p].known & next(o.known for o in ours if o.label == label)]
        keep = sure if len(sure) == 1 else places if len(places) == 1 else []
        for column in set(places) - set(keep):
            del found[column]
        if not keep:
            doubts.append(f"{label} fits {len(places)} lines: left alone")
    return found, doubts
