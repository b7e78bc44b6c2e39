"use strict";
// Search and sort the table of all cells; nothing is fetched, and without a script the table is there as it is.
const table = document.getElementById("all"), body = table.tBodies[0], rows = [...body.rows];
const texts = rows.map(row => [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase());

function find() {
  const words = document.getElementById("find").value.toLowerCase().split(/\s+/);
  let shown = 0;
  rows.forEach((row, i) => {
    row.hidden = !words.every(word => texts[i].includes(word));
    shown += !row.hidden;
  });
  document.getElementById("found").textContent = shown === rows.length ? "" : `${shown} of ${rows.length}`;
}

function sortBy(column, down) {
  const key = row => row.cells[column].textContent.trim();
  const compare = (a, b) => {
    const [x, y] = [parseFloat(key(a)), parseFloat(key(b))];
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;  // numbers first, whatever the direction
    const order = Number.isNaN(x) || x === y ? key(a).localeCompare(key(b)) : x - y;
    return down ? -order : order;
  };
  [...rows].sort(compare).forEach(row => body.append(row));
}

document.getElementById("find").addEventListener("input", find);
const heads = [...table.tHead.rows[0].cells];
heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
  const down = head.getAttribute("aria-sort") === "ascending";
  heads.forEach(other => other.setAttribute("aria-sort", "none"));
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  sortBy(column, down);
}));
