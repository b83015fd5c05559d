"""`make pdf`: the built book as one PDF, printed page by page in Chromium: _build/book.pdf.

Each page is printed with its own style (@media print in _static/book.css), then all are joined: contents, page numbers,
bookmarks of parts, pages and headings, links from page to page. Folded code (`hide-input`, `hide-cell`) is left out;
all else that folds is open. Files of the library are not printed, so links to them are none.

    python tests/book/print_book.py [--out FILE] [PAGE ...]    # chapters/05_threads: these pages only
"""

import argparse
import base64
import io
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml
from browser import Browser
from built import BOOK, ROOT
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject, NullObject

PAPER = {"paperWidth": 8.27, "paperHeight": 11.69}  # A4, in inches
MARGINS = {"marginTop": 0.65, "marginBottom": 0.75, "marginLeft": 0.7, "marginRight": 0.7}
WIDTH = round((PAPER["paperWidth"] - MARGINS["marginLeft"] - MARGINS["marginRight"]) * 96)  # in CSS's pixels
SIZE, BASELINE = 9, 30  # of a page's number, in points
DIGIT = 0.556  # how wide a digit of Helvetica is
CONTENTS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Contents</title>
<style>body{{font:10pt/1.45 sans-serif}}h1{{margin:0}}h2{{font-size:11pt;margin:1em 0 .2em}}
a{{display:flex;justify-content:space-between;color:inherit;text-decoration:none;break-inside:avoid}}</style>
<h1>{title}</h1><p>{author}</p><p>Folded code is left out of this print: it only draws, or answers what
a reader should try first. The book on a screen has it.</p>{parts}</html>"""


def parts():
    """[(caption of a part or "", names of its pages)], in the book's order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def names(entries):
        for entry in entries:
            yield entry["file"]
            yield from names(entry.get("sections", ()))

    return [("", [toc["root"]]), *((p["caption"], list(names(p["chapters"]))) for p in toc["parts"])]


def address(name):
    return (BOOK / f"{name}.html").as_uri()


def print_page(browser, url):
    """The bytes of one page's PDF."""
    browser.open(url, width=WIDTH + 600)
    how = {"printBackground": True, "generateDocumentOutline": True, **PAPER, **MARGINS}
    return base64.b64decode(browser.call("Page.printToPDF", browser.session, **how)["data"])


def title(name):
    head = re.search(r"<title>(.*?)</title>", (BOOK / f"{name}.html").read_text(encoding="utf-8"), re.S)[1]
    return unescape(head.split(" &#8212; ")[0].split(" — ")[0]).strip()


def contents(browser, chosen, starts, scratch):
    """The PDF that lists the pages, each with its number."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    lines = []
    for caption, names in chosen:
        lines.append(f"<h2>{escape(caption)}</h2>")
        lines += [
            f'<a href="{address(n)}"><span>{escape(title(n))}</span><span>{starts[n] + 1}</span></a>' for n in names
        ]
    page = scratch / "contents.html"
    said = {key: escape(config[key]) for key in ("title", "author")}
    page.write_text(CONTENTS.format(parts="\n".join(lines), **said), encoding="utf-8")
    try:
        return print_page(browser, page.as_uri())
    finally:
        page.unlink()


def join(chosen, front, printed):
    """The whole book as a PdfWriter. `front`: the contents; `printed`: {name: PDF} of all pages."""
    writer, places, readers = PdfWriter(), {}, {}
    writer.append(io.BytesIO(front), import_outline=False)
    before = len(writer.pages)
    for caption, names in chosen:
        part = writer.add_outline_item(title=caption, page_number=len(writer.pages)) if caption else None
        for name in names:
            at = len(writer.pages)
            readers[name] = reader = PdfReader(io.BytesIO(printed[name]))
            writer.append(io.BytesIO(printed[name]), import_outline=False)
            places[urlsplit(address(name)).path] = at, reader
            item = writer.add_outline_item(title=title(name), page_number=at, parent=part)
            for heading in _headings(reader.outline):
                on = at + reader.get_destination_page_number(heading)
                writer.add_outline_item(title=_worded(heading.title, name), page_number=on, parent=item)
    own = None
    for index, page in enumerate(writer.pages):
        own = next((place for place in places.values() if place[0] == index), own)
        _relink(writer, page, own, places)
        if index >= before:
            _number(writer, page, index - before + 1)
    writer.set_page_label(0, before - 1, style="/r")
    writer.set_page_label(before, len(writer.pages) - 1, style="/D", start=1)
    return writer


def _headings(outline):
    """Those directly below a page's title."""
    for below in (entry for entry in outline if isinstance(entry, list)):
        yield from (entry for entry in below if not isinstance(entry, list))


def _worded(words, name):
    """A heading as its page has it: in Chromium's outline a line's end is no space, and what begins a sheet stands
    twice."""
    text = (BOOK / f"{name}.html").read_text(encoding="utf-8")
    for found in re.findall(r"<h2>(.*?)</h2>", text, re.S):
        heading = " ".join(unescape(re.sub(r'<a class="headerlink".*?</a>|<[^>]+>', "", found, flags=re.S)).split())
        if "".join(words.split()) in (heading.replace(" ", ""), 2 * heading.replace(" ", "")):
            return heading
    return words


def _relink(writer, page, own, places):
    """Links lead to pages of the PDF, not to files; one to a file that is not in it is taken away."""
    kept = ArrayObject()
    for reference in page.get("/Annots", ()):
        link = reference.get_object()
        action = link.get("/A", {})
        place, wanted = own, link.get("/Dest", action.get("/D"))
        if "/URI" in action:
            url = urlsplit(str(action["/URI"]))
            if url.scheme != "file":
                kept.append(reference)
                continue
            place, wanted = places.get(url.path), unquote(url.fragment)
        if place is None:
            continue
        first, reader = place
        found = reader.named_destinations.get(str(wanted).removeprefix("/"))
        at = first + (reader.get_destination_page_number(found) if found else 0)
        top = found.top if found and found.top is not None else NullObject()
        goal = [writer.pages[at].indirect_reference, NameObject("/XYZ"), NullObject(), top, NullObject()]
        link.pop("/A", None)
        link[NameObject("/Dest")] = ArrayObject(goal)
        kept.append(reference)
    if "/Annots" in page:
        page[NameObject("/Annots")] = kept


def _number(writer, page, number):
    """Write its number below a page."""
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    fonts = page["/Resources"].get_object().setdefault(NameObject("/Font"), DictionaryObject()).get_object()
    fonts[NameObject("/Number")] = DictionaryObject({NameObject(k): NameObject(v) for k, v in font.items()})
    x = (float(page.mediabox.width) - len(str(number)) * DIGIT * SIZE) / 2
    drawn = DecodedStreamObject()
    drawn.set_data(f"Q BT /Number {SIZE} Tf {FloatObject(x)} {BASELINE} Td ({number}) Tj ET".encode())
    begun = DecodedStreamObject()
    begun.set_data(b"q")
    old = page["/Contents"]
    old = list(old) if isinstance(old.get_object(), ArrayObject) else [page.raw_get("/Contents")]
    page[NameObject("/Contents")] = ArrayObject([writer._add_object(begun), *old, writer._add_object(drawn)])


def make(chosen, browser, say=print):
    """The PDF of pages in parts, as a PdfWriter."""
    printed, starts, pages = {}, {}, 0
    for _, names in chosen:
        for name in names:
            printed[name] = print_page(browser, address(name))
            starts[name] = pages
            pages += len(PdfReader(io.BytesIO(printed[name])).pages)
            say(f"{name}: {pages} pages")
    return join(chosen, contents(browser, chosen, starts, BOOK), printed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=BOOK.parent / "book.pdf")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    chosen = [(caption, [n for n in names if not options.pages or n in options.pages]) for caption, names in parts()]
    with Browser() as browser:
        writer = make([(caption, names) for caption, names in chosen if names], browser)
    writer.write(options.out)
    print(f"{options.out}: {len(writer.pages)} pages")


if __name__ == "__main__":
    main()
