// What the theme tells a screen reader and should not: a name that hides a button's own words, a menu that is no landmark.
(() => {
  function mend() {
    document.querySelectorAll("button.search-button-field[aria-label]").forEach((button) => button.removeAttribute("aria-label"));
    document.querySelectorAll("button.theme-switch-button").forEach((button) => {
      const modes = [...button.querySelectorAll("[data-mode]")].map((icon) => icon.title || icon.textContent.trim());
      button.setAttribute("aria-label", "Color mode: " + (modes.every(Boolean) ? modes.join(", ") : "Light, Dark, System Settings"));
    });
    const menu = document.querySelector(".bd-sidebar-primary");
    if (menu) { menu.setAttribute("role", "navigation"); menu.setAttribute("aria-label", "Book"); }
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", mend) : mend();
})();
