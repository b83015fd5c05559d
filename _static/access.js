// What the theme tells a screen reader and should not: a name that hides a button's own words, a menu that is no
// landmark; and what it does not tell: what an arrow of the menu unfolds.
(() => {
  function mend() {
    document.querySelectorAll("button.search-button-field[aria-label]").forEach((button) => button.removeAttribute("aria-label"));
    document.querySelectorAll("button.theme-switch-button").forEach((button) => {
      const modes = [...button.querySelectorAll("[data-mode]")].map((icon) => icon.title || icon.textContent.trim());
      button.setAttribute("aria-label", "Color mode: " + (modes.every(Boolean) ? modes.join(", ") : "Light, Dark, System Settings"));
    });
    document.querySelectorAll(".bd-links summary").forEach((summary) => {
      summary.setAttribute("aria-label", "Pages of " + summary.closest("li").querySelector("a").textContent);
    });
    const menu = document.querySelector(".bd-sidebar-primary");
    if (menu) { menu.setAttribute("role", "navigation"); menu.setAttribute("aria-label", "Book"); }
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", mend) : mend();
})();
