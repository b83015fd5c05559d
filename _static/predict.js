// Predict boxes: ask for a guess, open the answer, say how far off it was. Without this script the answer is a <details>.
(() => {
  const KEY = "predictions:" + location.pathname;
  const load = () => { try { return JSON.parse(sessionStorage.getItem(KEY)) || {}; } catch { return {}; } };
  const save = (kept) => { try { sessionStorage.setItem(KEY, JSON.stringify(kept)); } catch { /* not allowed here */ } };
  const shown = (x) => Number.isInteger(x) ? x.toLocaleString("en")
    : x.toLocaleString("en", Math.abs(x) >= 1 ? { maximumSignificantDigits: Math.max(3, Math.trunc(Math.abs(x)).toString().length) }
      : { maximumSignificantDigits: 3 });
  const factor = (x) => x.toLocaleString("en", { maximumSignificantDigits: 2 });

  function number(text) {  // 1,000 and 1.5 and 1,5 and 0,125, 3x, 40 %, 1e6
    let plain = text.replace(/[\s_]/g, "");
    plain = /^[+-]?[1-9]\d{0,2}(,\d{3})+(?!\d)/.test(plain) ? plain.replace(/,/g, "") : plain.replace(",", ".");
    const found = plain.match(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?(x|%|times)?$/i);
    return found ? parseFloat(found[0]) : NaN;
  }

  function verdict(guess, value) {
    const truth = parseFloat(value);
    if (typeof guess === "string")
      return guess.trim().toLowerCase() === value.trim().toLowerCase() ? `Right: ${value}.` : `You said ${guess}; it is ${value}.`;
    const told = `You said ${shown(guess)}; it is ${shown(truth)}`;
    const off = guess / truth;
    if (guess === truth || Math.abs(off - 1) < 0.1) return `${told}: right, to within a tenth.`;
    if (!(off > 0) || !isFinite(off) || !isFinite(1 / off)) return `${told}.`;
    return off > 1 ? `${told}: ${factor(off)} times too much.` : `${told}: ${factor(1 / off)} times too little.`;
  }

  const one = (unit) => (/^[a-z]{3,}s$/.test(unit) ? unit.slice(0, -1) : unit);  // "1 barrier"; not "times as long", "ms"

  function prepare(box) {
    const name = box.dataset.name, form = box.querySelector("form"), said = box.querySelector(".predict-verdict");
    const answer = document.querySelector(`details.predict-answer[data-name="${CSS.escape(name)}"]`);
    const mark = document.querySelector(`p.prediction[data-name="${CSS.escape(name)}"]`);
    if (!answer || !mark) return;
    const choice = form.querySelector("input[type=radio]"), unit = document.getElementById(`predict-${name}-unit`);
    if (unit && unit.textContent && !unit.textContent.startsWith("(")) mark.append(` ${Number(mark.dataset.value) === 1 ? one(unit.textContent) : unit.textContent}`);
    const open = () => { answer.open = true; form.hidden = true; };
    const judge = (text) => {
      const guess = choice ? text : number(text);
      if (!choice && Number.isNaN(guess)) { said.textContent = "Type a number, such as 4 or 0.5."; return false; }
      said.textContent = verdict(guess, mark.dataset.value);
      open();
      return true;
    };
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = new FormData(form).get("guess") || "";
      if (judge(text)) save({ ...load(), [name]: text });
    });
    form.querySelector(".predict-skip").addEventListener("click", () => { open(); answer.querySelector("summary").focus(); });
    answer.addEventListener("toggle", () => { if (answer.open) form.hidden = true; });
    const before = load();
    if (Object.hasOwn(before, name)) judge(String(before[name]));
  }

  function reveal() {  // a link into a closed answer, or to a card of the gallery, opens it
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const closed = target && target.closest("details:not([open])");
    if (closed) { closed.open = true; target.scrollIntoView(); }
  }

  function start() {
    document.querySelectorAll(".predict").forEach(prepare);
    addEventListener("hashchange", reveal);
    reveal();
    addEventListener("beforeprint", () => document.querySelectorAll("details.predict-answer").forEach((d) => { d.open = true; }));
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", start) : start();
})();
