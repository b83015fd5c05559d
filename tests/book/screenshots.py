"""`make pictures`: the pictures of the README and the home page, taken from the built book: _static/shot-*.png.

Each is a part of a page, light and dark, as a reader sees it. Take them again when the pages have changed much.
"""

import base64
import sys

from browser import Browser
from built import BOOK, ROOT

SHOTS = {  # name: (page, width of the window, JavaScript for the element to show)
    "race": ("chapters/xray", 560, "found(/sum_racy/, /race/)"),
    "race-phone": ("chapters/xray", 390, "found(/sum_racy/, /race/).querySelector('.bad')"),
    "ladder": ("chapters/08_matmul", 400, "drawn(/peak of one thread/i)"),
    "thread-map": ("chapters/xray", 400, "drawn(/lane/i)"),
}
OPEN = """
document.querySelectorAll("details").forEach(part => { part.open = true; });
new Promise(done => setTimeout(done, 1000));  // parts slide open: until they stand still
"""
FIND = """
(() => {
  const outputs = [...document.querySelectorAll("article .cell_output")];
  const found = (...words) => outputs.find(el => words.every(word => word.test(el.textContent)));
  const drawn = word => [...document.querySelectorAll("article svg.figure, article .cell_output svg")].find(
    svg => word.test(svg.getAttribute("aria-label") || svg.querySelector("title")?.textContent || ""));
  const element = %s;
  if (!element) throw new Error("no such picture on this page: its name in SHOTS must follow the page");
  element.scrollIntoView();
  const box = element.getBoundingClientRect();
  return {x: box.x + scrollX, y: box.y + scrollY, width: box.width, height: Math.min(box.height, 480)};
})()
"""


def take(browser, page, width, script, dark):
    """PNG bytes of the part of a page that `script` finds."""
    opened = browser.open((BOOK / f"{page}.html").as_uri(), width=width, dark=dark)
    opened.evaluate(OPEN)
    clip = {**opened.evaluate(FIND % script), "scale": 1.5}
    answer = browser.call(
        "Page.captureScreenshot", browser.session, clip=clip, captureBeyondViewport=True, optimizeForSpeed=False
    )
    return base64.b64decode(answer["data"])


def main():
    with Browser() as browser:
        for name in sys.argv[1:] or SHOTS:
            for suffix, dark in (("", False), ("-dark", True)):
                target = ROOT / "_static" / f"shot-{name}{suffix}.png"
                target.write_bytes(take(browser, *SHOTS[name], dark))
                print(f"{target.relative_to(ROOT)}: {target.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
