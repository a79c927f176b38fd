"use strict";
(function () {
  const root = document.documentElement;
  const kept = (value) => {
    try { return value ? localStorage.setItem("recuse-theme", value) : localStorage.getItem("recuse-theme"); }
    catch (error) { return null; } // a browser that keeps nothing still shows the page
  };
  const theme = kept();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  const wide = matchMedia("(min-width: 56.01rem)");
  const darkness = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);

  function themes() {
    const button = document.getElementById("theme");
    const tell = () => button.setAttribute("aria-pressed", String(dark()));
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      kept(root.dataset.theme);
      tell();
    });
    darkness.addEventListener("change", tell);
    tell();
  }

  function menu() {
    const menu = document.getElementById("menu");
    const settle = () => { menu.open = wide.matches; };
    wide.addEventListener("change", settle);
    settle();
  }

  function filters() {
    const form = document.getElementById("filters");
    if (!form) return;
    const rows = Array.from(document.querySelectorAll("#verdicts tbody tr"));
    const count = document.getElementById("count");
    const words = new Map();
    const text = (row) => {
      if (!words.has(row)) words.set(row, row.textContent.toLowerCase());
      return words.get(row);
    };
    const asked = new URLSearchParams(location.search);
    const fields = ["experiment", "judge", "mark", "condition"].map((name) => form.elements[name]);
    for (const field of fields) {
      const value = asked.get(field.name);
      if (value && Array.from(field.options).some((option) => option.value === value)) field.value = value;
    }
    if (asked.get("search")) form.elements.search.value = asked.get("search");
    const fits = (row) => fields.every((field) => {
      if (!field.value) return true;
      const held = row.dataset[field.name];
      return field.name === "mark" ? held.split(" ").includes(field.value) : held === field.value;
    });
    function apply() {
      const search = form.elements.search.value.trim().toLowerCase();
      let left = 0;
      for (const row of rows) {
        row.hidden = !(fits(row) && (!search || text(row).includes(search)));
        left += row.hidden ? 0 : 1;
      }
      count.textContent = `${left.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    }
    function led() {
      const key = location.hash.slice(1);
      const row = key && rows.find((each) => each.id === key);
      if (!row) {
        if (/^[0-9a-f]{64}$/.test(key)) count.textContent = "No row of this page has the key of that link; look for it in verdicts.csv.";
        return;
      }
      if (row.hidden) { form.reset(); apply(); }
      for (const inner of row.querySelectorAll("details")) inner.open = true;
      row.scrollIntoView();
    }
    let waiting = 0;
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", apply);
    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
    form.addEventListener("reset", () => setTimeout(apply));
    addEventListener("hashchange", led);
    apply();
    led();
  }

  document.addEventListener("DOMContentLoaded", () => { themes(); menu(); filters(); });
})();
