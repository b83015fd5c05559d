// Ways through the book: the strip of a walk, kept by ?walk=name in the address; what to read before a page, on the map.
(() => {
  const walk = new URLSearchParams(location.search).get("walk");

  function strips() {
    document.querySelectorAll(".walk-strip").forEach((strip) => { strip.hidden = strip.dataset.walk !== walk; });
    document.querySelectorAll(".walk").forEach((list) => {
      const name = [...list.classList].find((one) => one.startsWith("walk-")).slice("walk-".length);
      list.querySelectorAll("li").forEach((step) => { step.querySelector("a").search = "?walk=" + name; });
    });
  }

  function map(figure) {
    const boxes = [...figure.querySelectorAll("[data-page]")], lines = [...figure.querySelectorAll("path")];
    const of = Object.fromEntries(boxes.map((box) => [box.dataset.page, box]));
    const needs = (box) => box.dataset.needs.split(" ").filter((name) => of[name]);
    const goal = figure.querySelector("[data-goal]"), answer = figure.querySelector("[data-answer]");

    function before(name, found = new Set()) {
      needs(of[name]).forEach((need) => { if (!found.has(need)) { found.add(need); before(need, found); } });
      return found;
    }
    function show(name) {
      const found = name ? before(name) : new Set(), all = new Set([...found, name]);
      figure.classList.toggle("chosen", !!name);
      boxes.forEach((box) => box.classList.toggle("on", all.has(box.dataset.page)));
      lines.forEach((line) => line.classList.toggle("on", all.has(line.dataset.from) && all.has(line.dataset.to)));
    }
    function tell(name) {
      answer.textContent = "";
      if (!name) return;
      const pages = boxes.filter((box) => before(name).has(box.dataset.page));
      const minutes = pages.reduce((sum, box) => sum + Number(box.dataset.minutes), 0);
      const said = document.createElement("p"), list = document.createElement("ul");
      said.append(pages.length ? `${pages.length} pages, ${minutes} minutes to read; then ` : "No page of the book. ", link(of[name]), ".");
      pages.forEach((box) => { const item = document.createElement("li"); item.append(link(box)); list.append(item); });
      answer.append(said, list);
    }
    function link(box) {
      const made = document.createElement("a");
      made.href = box.getAttribute("href");
      made.textContent = box.getAttribute("aria-label");
      return made;
    }
    boxes.forEach((box) => {
      for (const [event, name] of [["pointerenter", box.dataset.page], ["focus", box.dataset.page], ["pointerleave", ""], ["blur", ""]])
        box.addEventListener(event, () => show(name || goal.value));
    });
    goal.addEventListener("change", () => { show(goal.value); tell(goal.value); });
    figure.querySelector("[data-controls]").hidden = false;
  }

  function begin() {
    strips();
    document.querySelectorAll(".book-map").forEach(map);
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", begin) : begin();
})();
