import { ask, make, state, tell, url } from "./common.js";

const MOST = 200;
const LABELS = { select: "Select features", compare: "Compare methods", detect: "Build detector" };
const form = document.getElementById("choices"), body = document.querySelector("#columns tbody"), start = document.getElementById("start");
const before = state.before ?? {};
const kinds = { ...(before.kinds ?? {}) };
let found = null, asked = 0;

const value = name => form.elements[name]?.value ?? "";
const goal = () => form.elements.goal.value;

function choices() {
  const told = { table: state.table, goal: goal(), kinds };
  for (const name of ["target", "task", "groups", "weights", "time", ...state.options.map(option => option.name)]) told[name] = value(name).trim() || null;
  if (goal() === "compare") told.methods = [...form.querySelectorAll("[name=methods]:checked")].map(box => box.value);
  if (goal() === "detect") for (const name of ["positive", "max_fpr", "guarantee", "cost_fp", "cost_fn", "prevalence"]) told[name] = value(name).trim() || null;
  const marks = value("missing").trim();
  told.missing = marks ? marks.split(",").map(mark => mark.trim()).filter(mark => mark && mark !== "empty") : null;
  told.encoding = value("encoding") || null;
  told.sheet = value("sheet").trim() || null;
  told.skip = form.elements.skip.checked;
  for (const name of Object.keys(told)) if (told[name] === null) delete told[name];
  return told;
}

async function understand(changed = null) {
  const number = ++asked, line = document.getElementById("understood");
  line.textContent = "Reading the table …";
  try {
    const told = choices();
    const now = await ask("/api/inspect", { table: told.table, target: told.target, kinds: told.kinds, missing: told.missing, encoding: told.encoding, sheet: told.sheet, groups: told.groups, weights: told.weights, time: told.time, task: told.task, skip: told.skip });
    if (number !== asked) return;
    found = now;
    tell(null);
    line.textContent = `${found.n_rows.toLocaleString("en")} rows, ${found.columns.length.toLocaleString("en")} columns`;
    show();
  } catch (error) {
    if (number !== asked) return;
    line.textContent = found ? line.dataset.last ?? "" : "The table cannot be read.";
    if (changed) wrong(changed, error.message);
    else tell(error);
  }
  line.dataset.last = line.textContent;
}

function fill(select, first) {
  const chosen = select.value || before[select.name] || "";
  select.replaceChildren(make("option", first, { value: "" }), ...found.columns.map(column => make("option", column.name, { value: column.name })));
  select.value = found.columns.some(column => column.name === chosen) ? chosen : "";
}

// What stands in the way of a run, each with its fixes as buttons.
function problemLine(problem) {
  const line = make("li"), name = problem.column;
  line.append(make("span", `${name}: ${problem.count === 1 ? "one cell is" : `${problem.count.toLocaleString("en")} cells are`} ${problem.trouble}, first “${problem.cell}” (${problem.place}). `));
  const fix = (text, action) => {
    const button = make("button", text, { type: "button" });
    button.addEventListener("click", () => { action(); understand().then(follow); });
    line.append(button, " ");
  };
  const cells = problem.cells?.length ? problem.cells : [problem.cell];
  if (cells.length <= 8) fix(`Treat ${cells.map(cell => `“${cell}”`).join(", ")} as missing`, () => {
    const field = form.elements.missing, known = field.value.split(",").map(mark => mark.trim()).filter(Boolean);
    field.value = [...new Set([...known, ...cells])].join(", ");
    if (problem.is_target) form.elements.skip.checked = true;
  });
  if (problem.is_target) fix("Predict categories", () => { form.elements.task.value = "classification"; });
  else {
    fix(`Read ${name} as category`, () => { kinds[name] = "nominal"; });
    fix(`Do not use ${name}`, () => { kinds[name] = "left out"; });
  }
  return line;
}

function block() {
  const problems = found?.problems ?? [], n = new Set(problems.map(problem => problem.column)).size;
  const why = n === 1 ? "Fix one column first" : `Fix ${n} columns first`;
  document.getElementById("blocked").hidden = !n;
  document.getElementById("blocked-title").textContent = `${why}: some of its cells cannot be read.`.replace("its", n === 1 ? "its" : "their");
  start.disabled = n > 0;
  if (n) start.textContent = why;
}

function histogram(bars) {
  if (!bars?.length) return make("td");
  const SVG = "http://www.w3.org/2000/svg", most = Math.max(...bars), cell = make("td", "", { class: "bars" });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${bars.length * 6} 24`);
  svg.setAttribute("aria-hidden", "true");
  bars.forEach((n, i) => {
    const bar = document.createElementNS(SVG, "rect"), height = n ? Math.max(24 * n / most, 1) : 0;
    for (const [name, value] of Object.entries({ x: 6 * i, y: 24 - height, width: 5, height })) bar.setAttribute(name, value);
    svg.append(bar);
  });
  cell.append(svg);
  return cell;
}

function preview() {
  const names = found.columns.slice(0, 200).map(column => column.name), line = make("tr");
  line.append(...names.map(name => make("th", name, { scope: "col" })));
  document.querySelector("#head thead").replaceChildren(line);
  document.querySelector("#head tbody").replaceChildren(...(found.head ?? []).map(cells => {
    const line = make("tr");
    line.append(...cells.map(cell => make("td", cell)));
    return line;
  }));
  document.getElementById("preview").hidden = !found.head?.length;
}

function show() {
  if (form.elements.target.options.length !== found.columns.length + 1) {
    fill(form.elements.target, "Choose a column …");
    for (const select of form.querySelectorAll("[data-columns]")) fill(select, select.dataset.columns);
  }
  document.getElementById("problems").replaceChildren(...found.problems.map(problemLine));
  preview();
  document.getElementById("notes").replaceChildren(...found.notes.map(text => make("li", text)));
  document.getElementById("noted").hidden = !found.notes.length;
  document.querySelector("#noted summary").textContent = found.notes.length === 1 ? "One note on reading" : `${found.notes.length} notes on reading`;
  document.getElementById("filter-label").hidden = found.columns.length <= 20;
  rows();
}

function rows() {
  const part = document.getElementById("filter").value.toLowerCase();
  const fitting = found.columns.filter(column => column.name.toLowerCase().includes(part));
  const had = document.activeElement?.dataset?.column;
  body.replaceChildren(...fitting.slice(0, MOST).map(row));
  if (had !== undefined) [...body.querySelectorAll("select")].find(select => select.dataset.column === had)?.focus();
  const rest = document.getElementById("more-columns");
  rest.hidden = fitting.length <= MOST;
  rest.textContent = `${(fitting.length - MOST).toLocaleString("en")} more columns. Filter by name to find them.`;
}

function row(column) {
  const line = make("tr"), out = column.role === "left out", select = make("select", "", { "aria-label": `Read ${column.name} as` });
  const kind = out ? "left out" : column.kind;
  select.dataset.column = column.name;
  select.append(make("option", { numeric: "number", nominal: "category", boolean: "yes or no", date: "date", text: "not used", "left out": "not used" }[kind] ?? kind, { value: "" }));
  for (const [name, text] of Object.entries(state.kinds)) select.append(make("option", text, { value: name }));
  select.value = kinds[column.name] ?? "";
  select.disabled = column.role === "target";
  select.addEventListener("change", () => {
    if (select.value) kinds[column.name] = select.value;
    else delete kinds[column.name];
    understand();
  });
  if (out) line.classList.add("out");
  if (found.problems.some(problem => problem.column === column.name)) line.classList.add("red");
  if (kinds[column.name]) line.classList.add("changed");
  const name = make("td", column.name, { class: "name" }), cell = make("td");
  cell.append(select);
  const role = { target: "to predict", groups: "groups", sample_weight: "weights", time: "time" }[column.role];
  const note = [role, column.note].filter(Boolean).join("; ");
  line.append(name, cell, make("td", `${Math.round(100 * column.missing)} %`, { class: "n" }), make("td", column.distinct.toLocaleString("en"), { class: "n" }), histogram(column.bars), make("td", column.examples.map(text => text.length > 24 ? text.slice(0, 23) + "…" : text).join(", "), { class: "examples" }), make("td", note, { class: "note" }));
  return line;
}

function follow() {
  for (const node of form.querySelectorAll("[data-goal]")) node.hidden = !node.dataset.goal.split(" ").includes(goal());
  start.textContent = LABELS[goal()];
  document.getElementById("method-text").textContent = state.methods[value("method")] ?? "";
  const prefer = form.querySelector(".prefer");
  if (goal() === "select") prefer.hidden = value("method") !== "auto";
  const classes = found?.columns.find(column => column.name === value("target"));
  const positive = form.elements.positive, had = positive.value;
  positive.replaceChildren(make("option", "last class", { value: "" }), ...(classes?.examples ?? []).map(text => make("option", text, { value: text })));
  positive.value = [...positive.options].some(option => option.value === had) ? had : "";
  block();
}

function restore() {
  for (const [name, given] of Object.entries(before)) {
    const field = form.elements[name];
    if (!field || given == null || ["methods", "skip", "missing", "target"].includes(name)) continue;
    if (state.options.some(option => option.plain && option.name === name && option.default === given)) continue;
    field.value = given;
  }
  if (before.methods && before.goal === "compare") for (const box of form.querySelectorAll("[name=methods]")) box.checked = before.methods.includes(box.value);
  form.elements.skip.checked = Boolean(before.skip);
  form.elements.missing.value = (before.missing ?? []).join(", ");
}

// An error stands beside the field that it is about, until the field changes.
function wrong(field, message) {
  if (field.closest("details")) field.closest("details").open = true;
  field.setAttribute("aria-invalid", "true");
  field.after(make("span", message, { class: "wrong", role: "alert" }));
  field.focus();
}

form.addEventListener("input", event => {
  event.target.removeAttribute("aria-invalid");
  if (event.target.nextElementSibling?.className === "wrong") event.target.nextElementSibling.remove();
});
form.addEventListener("change", event => {
  follow();
  if (["target", "task", "groups", "weights", "time", "missing", "encoding", "sheet", "skip"].includes(event.target.name)) understand(event.target).then(follow);
});
form.addEventListener("submit", async event => {
  event.preventDefault();
  tell(null, "refused");
  form.querySelectorAll(".wrong").forEach(node => node.remove());
  if (!value("target")) {
    wrong(form.elements.target, "Choose the column to predict.");
    return;
  }
  const odd = [...form.querySelectorAll("input[inputmode]")].find(field => field.value.trim() && !Number.isFinite(Number(field.value)));
  if (odd) return wrong(odd, `“${odd.value}” is not a number.`);
  start.disabled = true;
  start.textContent = "Starting …";
  try {
    location.href = url("/run", { id: (await ask("/api/start", choices())).id });
  } catch (error) {
    const field = form.elements[error.field];
    if (field?.setAttribute) wrong(field, error.message);
    else tell(error, "refused");
    follow();
  }
});
window.addEventListener("pageshow", follow);
document.getElementById("filter").addEventListener("input", rows);
restore();
follow();
understand().then(follow);
