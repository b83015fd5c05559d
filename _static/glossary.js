// Over the first occurrence of each term in a page's text: what it means, in Chinese, and elsewhere. The terms: _ext/glossary.py.
(() => {
  const SILENT = "a, pre, code, kbd, button, summary, label, legend, input, select, h1, h2, h3, h4, h5, h6, table, figure, figcaption, "
    + "caption, svg, script, style, mjx-container, .math, .cell, .admonition-title, .prediction, .claim, .live-note, .sd-card, .source-place";
  const NONE = /(^|\/)(glossary|genindex|search|references)\.html$|\/lib\//;
  const SHOW = 150, HIDE = 300; // milliseconds, on the way to a term and from it to the card
  const root = document.documentElement.dataset.content_root || "./";
  const plain = (word) => word.toLowerCase().replace(/\s+/g, " ").replace(/’/g, "'");

  function pattern(forms) { // by first letters, which is faster; at the start of a sentence they are written large
    const groups = new Map();
    for (const form of [...forms].sort((a, b) => b.length - a.length)) {
      const rest = form.slice(1).replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+").replace(/'/g, "['’]");
      const first = /[a-z]/.test(form[0]) ? `[${form[0]}${form[0].toUpperCase()}]` : form[0];
      groups.set(first, [...(groups.get(first) || []), rest]);
    }
    const all = [...groups].map(([first, rests]) => `${first}(?:${rests.join("|")})`).join("|");
    return new RegExp(`(?<![\\w-])(${all})(?:s|es)?(?![\\w-])`, "g");
  }

  function textOf(article) { // what stands in a closed box comes last: a term is marked where it is seen
    const filter = (node) => node.nodeType === Node.TEXT_NODE ? NodeFilter.FILTER_ACCEPT
      : node.matches(SILENT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, filter);
    const open = [], closed = [];
    for (let node; (node = walker.nextNode());) (node.parentElement.closest("details:not([open])") ? closed : open).push(node);
    return open.concat(closed);
  }

  function mark(article, terms) {
    const left = new Map(terms.flatMap((term) => term.forms.map((form) => [plain(form), term])));
    const search = pattern(terms.flatMap((term) => term.forms));
    const marked = new Map();
    for (const node of textOf(article)) {
      const found = [];
      for (const match of node.data.matchAll(search)) {
        const term = left.get(plain(match[1]));
        if (!term) continue;
        term.forms.forEach((form) => left.delete(plain(form)));
        found.push([match.index, match[0].length, term]);
      }
      for (const [start, length, term] of found.reverse()) { // from the end: the starts before it stay
        const word = node.splitText(start);
        word.splitText(length);
        const link = document.createElement("a");
        link.className = "glossary-term";
        link.href = `${root}${glossary.home}#${term.id}`;
        word.replaceWith(link);
        link.append(word);
        marked.set(link, term);
      }
    }
    return marked;
  }

  function element(name, text = "", attributes = {}) { // `code` in backticks
    const made = document.createElement(name);
    text.split("`").forEach((part, i) => {
      if (i % 2) made.append(element("code", part)); else if (part) made.append(part);
    });
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  }

  function fill(card, term) {
    const head = element("span", "", { class: "glossary-head" });
    head.append(element("strong", term.term), " ", element("span", term.chinese.join(" · "), { lang: "zh-CN" }));
    const others = term.elsewhere.map(([where, word]) => {
      const line = element("span", word);
      line.prepend(element("b", where), " ");
      return line;
    });
    const links = element("span", "", { class: "glossary-links" });
    links.append(element("a", term.title, { href: root + term.place }), element("a", "Glossary", { href: `${root}${glossary.home}#${term.id}` }));
    card.replaceChildren(head, element("span", term.says), ...others, links);
  }

  function start() {
    const article = document.querySelector("article.bd-article");
    if (!article || !window.glossary || NONE.test(location.pathname)) return;
    const page = location.pathname.split("/").pop();
    const marked = mark(article, glossary.terms.filter((term) => !term.on.length || term.on.some((start) => page.startsWith(start))));
    const card = element("span", "", { id: "glossary-card" });
    let shown = null, coming = 0, going = 0, touch = false;

    function place() {
      card.style.left = "0"; // its width is that of the window, not of what is right of it
      const at = shown.getClientRects()[0], { width, height } = card.getBoundingClientRect();
      if (at.bottom < 0 || at.top > innerHeight) return hide();
      const below = at.bottom + 4, above = at.top - height - 4;
      card.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8))}px`;
      card.style.top = `${below + height > innerHeight && above > 0 ? above : below}px`;
    }
    function show(link) {
      stay();
      if (shown === link) return;
      hide();
      fill(card, marked.get(link));
      link.after(card); // the next in the order of the keyboard
      link.setAttribute("aria-describedby", card.id);
      shown = link;
      place();
    }
    function hide() {
      stay();
      if (!shown) return;
      shown.removeAttribute("aria-describedby");
      card.remove();
      shown = null;
    }
    function stay() { // neither comes another card, nor goes this one
      clearTimeout(coming);
      clearTimeout(going);
      going = 0;
    }
    function leave() {
      clearTimeout(coming);
      if (!going) going = setTimeout(() => { going = 0; if (!inside(document.activeElement)) hide(); }, HIDE);
    }
    const of = (target) => target.closest && target.closest("a.glossary-term");
    const inside = (target) => target && (card.contains(target) || target === shown);

    article.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      const link = of(event.target);
      if (inside(event.target)) stay();
      else if (link) { stay(); coming = setTimeout(() => show(link), SHOW); }
      else leave();
    });
    article.addEventListener("pointerleave", leave);
    article.addEventListener("focusin", (event) => { const link = of(event.target); if (link) show(link); });
    article.addEventListener("focusout", (event) => { if (!inside(event.relatedTarget) && inside(event.target)) hide(); });
    document.addEventListener("pointerdown", (event) => {
      touch = event.pointerType === "touch";
      if (shown && !inside(event.target) && !of(event.target)) hide();
    });
    article.addEventListener("click", (event) => { // a finger cannot point at a term: its tap shows the card, which has the link
      const link = of(event.target);
      if (link && touch) { event.preventDefault(); show(link); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !shown) return;
      if (card.contains(document.activeElement)) { const link = shown; link.focus(); }
      hide();
    });
    addEventListener("scroll", () => { if (shown) place(); }, { passive: true });
    addEventListener("resize", () => { if (shown) place(); });
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", start) : start();
})();
