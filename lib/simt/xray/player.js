// Steps through the contents of shared memory. One call for each figure; no globals, no network.
(function (id) {
  const figure = document.getElementById(id);
  if (!figure || figure.dataset.ready) return;
  figure.dataset.ready = "yes";
  const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const cells = figure.querySelectorAll("[data-cell]");
  const slider = figure.querySelector("input");
  const caption = figure.querySelector("[data-caption]");
  const play = figure.querySelector("[data-do=play]");
  const calm = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  let step = 0, timer = null;

  function show(k) {
    step = Math.max(0, Math.min(data.steps.length - 1, k));
    const now = data.steps[step], before = step ? data.steps[step - 1].values : null;
    cells.forEach((cell, i) => {
      const value = now.values[i], changed = before && before[i] !== value;
      const box = cell.firstElementChild, label = cell.lastElementChild;
      box.setAttribute("fill-opacity", now.ink[i]);
      box.setAttribute("stroke-width", changed ? 2 : 0.5);
      label.textContent = data.labels ? value : "";
      label.setAttribute("font-weight", changed ? "bold" : "normal");
      cell.querySelector("title").textContent = data.names[i] + " = " + (value || "not written yet");
    });
    caption.textContent = (step + 1) + " of " + data.steps.length + ": " + now.caption;
    slider.value = step;
    slider.setAttribute("aria-valuetext", now.caption);
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  }
  function toggle() {
    if (timer) return stop();
    if (step === data.steps.length - 1) show(0);
    play.textContent = "Stop";
    timer = setInterval(() => (step < data.steps.length - 1 ? show(step + 1) : stop()), calm ? 2500 : 1100);
  }
  const actions = {
    back: () => { stop(); show(step - 1); },
    next: () => { stop(); show(step + 1); },
    first: () => { stop(); show(0); },
    last: () => { stop(); show(data.steps.length - 1); },
    play: toggle,
  };
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", " ": "play" };
  figure.querySelectorAll("[data-do]").forEach((b) => b.addEventListener("click", actions[b.dataset.do]));
  slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
  figure.addEventListener("keydown", (event) => {
    // A focused button or slider has its own use of the space bar or the arrows.
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input, summary") || (event.key === " " && event.target.matches("button"))) return;
    event.preventDefault();
    event.stopPropagation();
    actions[keys[event.key]]();
  });
  figure.querySelector("[data-controls]").hidden = false;
  show(0);
})("__ID__");
