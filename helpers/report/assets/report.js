"use strict";
// The table of verdicts: filters, search and pages of rows. Without this script every row is there.
addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("#verdicts table");
  if (!table) return;
  const [SIZE, FIELDS] = [50, ["experiment", "judge", "condition", "marks"]];
  const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
  const rows = Array.from(table.tBodies[0].rows);
  const values = (row, name) => row.cells[heads.indexOf(name)].textContent.split(", ");
  const make = (parent, kind, set) => parent.appendChild(Object.assign(document.createElement(kind), set));

  const form = document.createElement("form");
  const field = (name, kind, set) => make(make(form, "label", { textContent: name }), kind, { name, ...set });
  for (const name of FIELDS) {
    const select = field(name, "select");
    const each = Array.from(new Set(rows.flatMap((row) => values(row, name)))).sort();
    for (const value of ["", ...each]) make(select, "option", { value, textContent: value || "all" });
  }
  field("search", "input", { type: "search" });
  const page = field("page", "input", { type: "number", min: 1, defaultValue: 1 });
  make(form, "button", { type: "reset", textContent: "Show all" });
  const count = make(form, "output");
  table.parentElement.before(form);

  function show() {
    const search = form.elements.search.value.trim().toLowerCase();
    const chosen = FIELDS.map((name) => [name, form.elements[name].value]).filter(([, value]) => value);
    const found = rows.filter((row) => chosen.every(([name, value]) => values(row, name).includes(value))
      && row.textContent.toLowerCase().includes(search));
    page.max = Math.max(1, Math.ceil(found.length / SIZE));
    const shown = new Set(found.slice((page.value - 1) * SIZE, page.value * SIZE));
    for (const row of rows) row.hidden = !shown.has(row);
    count.textContent = `${found.length} of ${rows.length} rows, page ${page.value} of ${page.max}`;
  }
  function lead() { // a key in the address leads to its row
    const row = document.getElementById(location.hash.slice(1))?.closest("#verdicts tbody tr");
    if (!row) return;
    form.reset();
    page.value = Math.floor(rows.indexOf(row) / SIZE) + 1;
    show();
    row.querySelector("details").open = true;
    row.scrollIntoView();
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(show));
  form.addEventListener("input", (event) => { if (event.target !== page) page.value = 1; show(); });
  addEventListener("hashchange", lead);
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (form.elements[name]) form.elements[name].value = value;
  }
  show();
  lead();
});
