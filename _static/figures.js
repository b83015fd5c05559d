// What the figures that move share. Their own scripts, further down on a page, call these two.
window.figures = {
  // Buttons [data-do=name] and keys do what `actions` has under that name; without this script the buttons are not shown.
  controls(figure, actions, keys = {}) {
    figure.querySelectorAll("[data-do]").forEach((b) => b.addEventListener("click", actions[b.dataset.do]));
    figure.addEventListener("keydown", (event) => {
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const action = actions[keys[key] || key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey || (key === " " && event.target.matches("button"))) return;
      event.preventDefault();
      action();
    });
    figure.querySelector("[data-controls]").hidden = false;
  },
  // Steps 0 to `last`: back, next, play; arrows and space. show(step) draws one, at() says which one is shown.
  // every: milliseconds for a step; twice as many and more for who asked for less motion.
  player(figure, { last, at, show, every }) {
    const play = figure.querySelector("[data-do=play]");
    let timer = null;
    const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
    this.controls(figure, {
      back() { stop(); show(at() - 1); },
      next() { stop(); show(at() + 1); },
      play() {
        if (timer) return stop();
        if (at() === last) show(0);
        play.textContent = "Stop";
        const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
        timer = setInterval(() => (at() < last ? show(at() + 1) : stop()), every * (calm ? 2.2 : 1));
      },
    }, { ArrowLeft: "back", ArrowRight: "next", " ": "play" });
  },
};
