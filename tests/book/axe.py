"""axe-core, run in a loaded page: what of it is hard to use for readers who do not see it, or have no mouse.

Every rule of WCAG 2.2 A and AA that a program can decide, and axe's best practices.
https://dequeuniversity.com/rules/axe
"""

import json
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).with_name("vendor") / "axe.min.js"
PREPARED = """
(() => {
  const still = document.createElement("style");
  still.textContent = "* { animation: none !important; transition: none !important; }";
  document.head.append(still);
  document.querySelectorAll("details").forEach(part => { part.open = true; });  // what is closed is not looked at
})()
"""
ICONS = "!document.querySelector('button i.fa-solid')"  # a letter of a font at first, then a drawing
RUN = """
axe.run(document, {resultTypes: ["violations"], elementRef: false}).then(found => JSON.stringify(found.violations.map(
  rule => ({id: rule.id, help: rule.help, nodes: rule.nodes.map(
    node => ({html: node.html.slice(0, 160), why: (node.any.concat(node.all, node.none)[0] || {}).message}))}))))
"""


@cache
def script():
    return SCRIPT.read_text(encoding="utf-8")


def violations(page):
    """Sentences, one for each rule that the loaded page breaks, with the first places."""
    page.evaluate(PREPARED)
    page.wait_for(ICONS)
    page.evaluate(script())
    found = []
    for rule in json.loads(page.evaluate(RUN)):
        places = [f"    {node['html']}\n      {node['why']}" for node in rule["nodes"][:3]]
        found.append(f"{rule['id']}: {rule['help']} ({len(rule['nodes'])} places)\n" + "\n".join(places))
    return found
