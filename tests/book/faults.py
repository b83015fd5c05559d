"""What can be wrong with a page of the book, looked up in the loaded page itself."""

LOOK = r"""
(() => {
  const article = document.querySelector("article") || document.body;
  const report = {title: document.title, theme: document.documentElement.dataset.theme || "",
                  h1: article.querySelectorAll("h1").length, width: document.documentElement.scrollWidth};

  const scrolls = el => {
    for (let up = el.parentElement; up && up !== document.body; up = up.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(up).overflowX)) return true;
    return false;
  };
  report.wide = [...article.querySelectorAll("*")]
    .filter(el => el.getBoundingClientRect().right > WIDTH + 1 && !scrolls(el))
    .slice(0, 3).map(el => el.outerHTML.slice(0, 90));

  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const raw = [];
  for (let node; (node = walker.nextNode());) {
    const parent = node.parentElement;
    if (parent.closest("pre, code, script, style, mjx-container, textarea, svg")) continue;
    const found = node.data.match(/\\\(|\\\[|\$\$|`|^\s*:{3,}/m);
    if (found) raw.push(node.data.trim().slice(0, 60));
  }
  report.raw = raw;
  report.formulas = [...article.querySelectorAll(".math")]
    .filter(el => !el.querySelector("mjx-container svg")).map(el => el.textContent.slice(0, 60));
  report.formulas.push(...[...article.querySelectorAll("[data-mjx-error], mjx-merror")]
    .map(el => el.getAttribute("data-mjx-error") || el.textContent));

  const pictures = [...article.querySelectorAll("img")];
  report.broken = pictures.filter(img => img.complete && !img.naturalWidth).map(img => img.src.slice(-60));
  report.alt = pictures.filter(img => {
    const alt = (img.getAttribute("alt") || "").trim();
    return !alt || /[\/\\]|\.(png|svg|jpe?g|gif)$|^(image|figure|plot)\d*$/i.test(alt);
  }).map(img => img.src.slice(0, 30) + "..." + img.src.slice(-30));
  const named = svg => svg.getAttribute("aria-label") || svg.querySelector(":scope > title")
    || document.getElementById(svg.getAttribute("aria-labelledby"));
  report.svg = [...article.querySelectorAll("svg")]
    .filter(svg => !svg.closest("mjx-container, [aria-hidden=true]") && !svg.parentElement.closest("svg"))
    .filter(svg => !named(svg)).map(svg => svg.outerHTML.slice(0, 90));
  return report;
})()
"""


def faults(page, width, theme=None):
    """Sentences, one for each thing that is wrong with the page loaded in a window `width` pixels wide."""
    seen = page.evaluate(LOOK.replace("WIDTH", str(width)))
    outside = [url for url in page.requests if not url.startswith(("file:", "data:", "about:", "blob:"))]
    found = [f"asks the network for {url}" for url in outside]
    found += [f"a request failed ({why}): {url}" for why, url in page.failures]
    found += [f"an error in the console: {message}" for message in page.errors]
    if seen["width"] > width:
        found.append(f"is {seen['width']} pixels wide in a window of {width}: {'; '.join(seen['wide'])}")
    found += [f"shows markup that should have been rendered: {text!r}" for text in seen["raw"]]
    found += [f"has a formula that MathJax did not set: {text!r}" for text in seen["formulas"]]
    found += [f"has an image that cannot be shown: {source}" for source in seen["broken"]]
    found += [f"has an image without alternative text: {source}" for source in seen["alt"]]
    found += [f"has a drawing without a title: {svg}" for svg in seen["svg"]]
    if theme and seen["theme"] != theme:
        found.append(f"is {seen['theme']!r}, though the reader's system is {theme!r}")
    if not seen["title"].strip() or seen["h1"] != 1:
        found.append(f"has {seen['h1']} main headings and the title {seen['title']!r}")
    return found


LAYOUT = r"""
(() => {
  const article = document.querySelector("article") || document.body;
  article.querySelectorAll("details").forEach(part => { part.open = true; });
  const style = el => getComputedStyle(el).overflowX;
  const told = el => `<${el.tagName.toLowerCase()}> ${el.textContent.trim().replace(/\s+/g, " ").slice(0, 60)}`;
  const all = [...article.querySelectorAll("*")].filter(el => el.clientWidth > 1 && el.scrollWidth > el.clientWidth + 1
    && !el.closest("svg, mjx-container, button, .visually-hidden, .sr-only"));
  const code = el => (el.closest("[class*='highlight-'], .cell_input") && !el.closest(".cell_output"))
    || el.closest(".xray-figure pre");  // a list in columns, which wrapping would mix up
  const width = article.getBoundingClientRect().width;
  return {
    clipped: all.filter(el => ["hidden", "clip"].includes(style(el)) && el.textContent.trim()).map(told),
    tables: [...article.querySelectorAll("table")].filter(el => el.getBoundingClientRect().width > width + 1)
      .map(el => `${Math.round(el.getBoundingClientRect().width)} pixels: ${told(el)}`),
    scrolls: all.filter(el => ["auto", "scroll"].includes(style(el)) && !code(el)).map(told),
  };
})()
"""


def misfits(page):
    """Sentences, one for each thing that the loaded page has no room for; code may be wider, as may lists in columns,
    and then scrolls."""
    seen = page.evaluate(LAYOUT)
    found = [f"cuts text off at its right: {text}" for text in seen["clipped"]]
    found += [f"has a table wider than the page: {text}" for text in seen["tables"]]
    return found + [f"scrolls sideways, and is no code: {text}" for text in seen["scrolls"]]
