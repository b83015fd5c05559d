// What the theme tells a screen reader and should not: a name that hides a button's own words, a menu that is no landmark.
(() => {
  function mend() {
    document.querySelectorAll("button.search-button-field[aria-label]").forEach((button) => button.removeAttribute("aria-label"));
    const menu = document.querySelector(".bd-sidebar-primary");
    if (menu) { menu.setAttribute("role", "navigation"); menu.setAttribute("aria-label", "Book"); }
  }
  document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", mend) : mend();
})();
