"""What a clock decided on the pages (cpulab.measure.claim): no trace where it held, a table at the end of `make html`.

python _ext/claims.py             the table, from the pages that were run last; kept in _build/claims.json
python _ext/claims.py --record    kept in benchmarks/results/claims/, too, under the name of this machine
python _ext/claims.py --record NAME     or under a name that says in which setting the pages were run
"""

import argparse
import html
import json
import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r'data-claim="([^"]*)"')
COLUMNS = ("held", "disturbed", "otherwise")


def marks(text):
    """The outcomes that stand in a piece of HTML, as dicts."""
    return [json.loads(html.unescape(found)) for found in MARK.findall(text)]


def held(node):
    return isinstance(node, nodes.raw) and any(one["outcome"] == "held" for one in marks(node.astext()))


class DropHeld(SphinxPostTransform):
    """A statement that held leaves nothing behind, nor does the cell that only had such; before questions look for
    their text."""

    default_priority = 40

    def run(self, **options):
        for node in [one for one in self.document.findall(nodes.raw) if held(one)]:
            while node.parent is not None and not isinstance(node, nodes.document | nodes.section):
                parent = node.parent
                parent.remove(node)
                if parent.children:
                    break
                node = parent


def gather(kept, root=ROOT):
    """[{page, says, outcome, value, low, high}, ...] of the pages whose results are kept in a folder, page after
    page."""
    from jupyter_cache import get_cache

    cache, newest = get_cache(kept), {}
    for record in cache.list_cache_records():
        newest[record.uri] = max(record.pk, newest.get(record.uri, 0))
    found = []
    for uri, number in sorted(newest.items()):
        page = Path(uri).relative_to(root).with_suffix("").as_posix()
        for cell in cache.get_cache_bundle(number).nb.cells:
            for output in cell.get("outputs", []):
                found += [{"page": page, **one} for one in marks("".join(output.get("data", {}).get("text/html", "")))]
    return found


def table(claims):
    """How many of each page held, and every one that did not, as text."""
    counts = {}
    for one in claims:
        counts.setdefault(one["page"], Counter())[one["outcome"]] += 1
    width = max(map(len, counts), default=0)
    lines = [f"{'':{width}}" + "".join(f"{name:>11}" for name in COLUMNS)]
    for page, count in [*counts.items(), ("all pages", sum(counts.values(), Counter()))]:
        lines.append(f"{page:{width}}" + "".join(f"{count[name] or '-':>11}" for name in COLUMNS))
    for one in claims:
        if one["outcome"] != "held":
            came, low, high = (f"{x:.6g}" if x is not None else "" for x in (one["value"], one["low"], one["high"]))
            bounds = f": {came or 'no number'}, expected {low}..{high}" if low or high else ""
            lines.append(f"{one['outcome']}  {one['page']}: {one['says']}{bounds}")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "_build")
    parser.add_argument("--brief", action="store_true", help="only how many: they were measured in a hurry")
    parser.add_argument("--record", nargs="?", const="", metavar="NAME", help="keep them for the book, of this machine")
    options = parser.parse_args(arguments)
    claims = gather(options.build / ".jupyter_cache", options.build.resolve().parent)
    if not claims:
        print("No page has been run: make html first.")
        return 1
    from cpulab import measure
    from cpulab.measure import claims as library
    from cpulab.measure import peers

    card = measure.machine_card()
    kept = {"machine": card, "handicaps": sorted(peers.handicaps()), "date": date.today().isoformat(), "claims": claims}
    files = [options.build / "claims.json"]
    if options.record is not None:
        name = options.record or re.sub(r"[^a-z0-9]+", "-", card.in_short().lower()).strip("-")
        files.append(library.RECORDS / f"{name}.json")
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print("What the pages say of times, on this machine:")
    counts = Counter(one["outcome"] for one in claims)
    print(", ".join(f"{counts[name]} {name}" for name in COLUMNS) if options.brief else table(claims))
    return 0


def setup(app):
    app.add_post_transform(DropHeld)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    sys.exit(main())
