"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const get = id => document.getElementById(id);
const percent = (x, half = 0) => (100 * x).toFixed(half < 0.01 ? 1 : 0) + "\u00a0%";
const SVG = "http://www.w3.org/2000/svg";
const left = 52, top_ = 12, size = 420;
const px = x => left + size * x, py = y => top_ + size * (1 - y);

function add(parent, tag, attributes, text) {
  const space = parent.namespaceURI === SVG || tag === "svg" ? SVG : "http://www.w3.org/1999/xhtml";
  const node = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

const rates = vertex => `${percent(vertex.fpr)} false, ${percent(vertex.tpr)} true positives`;
const describe = vertex => `${vertex.algorithm}: ${vertex.features.join(", ") || "no feature"}. ${rates(vertex)}`;

function counted(vertex) {
  const number = vertex.features.length;
  return `${vertex.algorithm} with ${number} feature${number === 1 ? "" : "s"}, ${rates(vertex)}`;
}

// ---- the picture
const plot = get("plot"), tip = get("tip");
for (const t of [0, 0.2, 0.4, 0.6, 0.8, 1]) {
  add(plot, "line", { class: "grid", x1: px(t), x2: px(t), y1: py(0), y2: py(1) });
  add(plot, "line", { class: "grid", x1: px(0), x2: px(1), y1: py(t), y2: py(t) });
  add(plot, "text", { x: px(t), y: py(0) + 18, "text-anchor": "middle" }, t);
  add(plot, "text", { x: px(0) - 8, y: py(t) + 4, "text-anchor": "end" }, t);
}
add(plot, "text", { x: px(0.5), y: py(0) + 38, "text-anchor": "middle" }, "false positive rate");
add(plot, "text", { x: 14, y: py(0.5), "text-anchor": "middle", transform: `rotate(-90 14 ${py(0.5)})` },
    "true positive rate");
const line = data.vertices.map(v => `${px(v.fpr)},${py(v.tpr)}`).join(" ");
add(plot, "line", { class: "guess", x1: px(0), y1: py(0), x2: px(1), y2: py(1) });
add(plot, "polygon", { class: "area", points: `${line} ${px(1)},${py(0)} ${px(0)},${py(0)}` });
add(plot, "polyline", { class: "hull", points: line });
const costLine = add(plot, "line", { class: "cost" });
const circles = data.vertices.map(vertex => {
  const circle = add(plot, "circle", {
    class: "vertex", cx: px(vertex.fpr), cy: py(vertex.tpr), r: 5.5, tabindex: 0, role: "img",
    "aria-label": describe(vertex),
  });
  const show = () => {
    tip.textContent = describe(vertex);
    const right = vertex.fpr > 0.5;
    tip.style.left = right ? "auto" : `${100 * px(vertex.fpr) / 520 + 3}%`;
    tip.style.right = right ? `${100 - 100 * px(vertex.fpr) / 520 + 3}%` : "auto";
    tip.style.top = `${100 * py(vertex.tpr) / 480 + 2}%`;
    tip.style.visibility = "visible";
  };
  const hide = () => { tip.style.visibility = "hidden"; };
  circle.addEventListener("mouseenter", show);
  circle.addEventListener("focus", show);
  circle.addEventListener("mouseleave", hide);
  circle.addEventListener("blur", hide);
  const choose = () => { opening = false; mode = "limit"; get("limit").value = vertex.fpr; get("sure").checked = false; update(vertex.fpr); };
  circle.addEventListener("click", choose);
  circle.addEventListener("keydown", event => { if (event.key === "Enter") choose(); });
  return circle;
});
const here = add(plot, "circle", { class: "here", r: 8 });

// ---- features needed: those of a vertex, and between two vertices those of both
const needed = (...vertices) => new Set(vertices.flatMap(vertex => vertex.features)).size;
const chords = data.vertices.slice(1).map((high, i) => [data.vertices[i], high]);
const most = Math.max(1, ...chords.map(pair => needed(...pair)));
const sizes = get("sizes"), sy = n => 12 + 100 * (1 - n / most);
for (const n of new Set([0, Math.round(most / 2), most])) {
  add(sizes, "line", { class: "grid", x1: px(0), x2: px(1), y1: sy(n), y2: sy(n) });
  add(sizes, "text", { x: px(0) - 8, y: sy(n) + 4, "text-anchor": "end" }, n);
}
add(sizes, "text", { x: px(0.5), y: sy(0) + 20, "text-anchor": "middle" }, "false positive rate");
add(sizes, "text", { x: 14, y: sy(most / 2), "text-anchor": "middle", transform: `rotate(-90 14 ${sy(most / 2)})` },
    "features");
for (const [low, high] of chords) {
  const y = sy(needed(low, high));
  add(sizes, "line", { class: "hull", x1: px(low.fpr), x2: px(high.fpr), y1: y, y2: y });
}
data.vertices.forEach(v => add(sizes, "circle", { class: "vertex", cx: px(v.fpr), cy: sy(needed(v)), r: 3.5 }));
const hereSize = add(sizes, "circle", { class: "here", r: 7 });

// ---- where to stand
function atLimit(limit) {
  const v = data.vertices;
  let low = 0;
  while (low + 1 < v.length && v[low + 1].fpr <= limit) low++;
  if (low === v.length - 1 || v[low].fpr === limit) return { low, high: low, share: 0 };
  return { low, high: low + 1, share: (limit - v[low].fpr) / (v[low + 1].fpr - v[low].fpr) };
}

// The share of positives that was given, to the last digit, until somebody types another.
let prevalence = data.asked.prevalence;
const costAt = (fpr, tpr, costs) => prevalence * costs.fn * (1 - tpr) + (1 - prevalence) * costs.fp * fpr;

function atCost(costs) {
  let best = 0, least = Infinity;
  data.vertices.forEach((v, i) => {
    const cost = costAt(v.fpr_soft, v.tpr_soft, costs);
    if (cost < least - 1e-12) { least = cost; best = i; }
  });
  // Calling nothing, or everything, positive costs what it costs: no row is needed to know it.
  const nothing = prevalence * costs.fn, everything = (1 - prevalence) * costs.fp;
  const there = data.vertices[best];
  if (data.calibrated && costAt(there.fpr_new, there.tpr_new, costs) > Math.min(nothing, everything))
    best = nothing <= everything ? 0 : data.vertices.length - 1;
  return { low: best, high: best, share: 0 };
}

// The vertex whose cost the rows of the hull bound best, with the bound of the calibration rows; or a constant answer.
function atBound(costs) {
  const { hull, new: fresh } = data.guarantee.bounds, last = data.vertices.length - 1;
  const bound = ([fpr, misses]) => costAt(fpr, 1 - misses, costs);
  const nothing = prevalence * costs.fn, everything = (1 - prevalence) * costs.fp;
  let best = nothing <= everything ? 0 : last, least = Infinity;
  for (let i = 1; i < last; i++) if (bound(hull[i]) < least) { least = bound(hull[i]); best = i; }
  let kept = bound(fresh[best]);
  if (kept > Math.min(nothing, everything)) {
    best = nothing <= everything ? 0 : last;
    kept = Math.min(nothing, everything);
  }
  return { low: best, high: best, share: 0, bound: kept };
}

// ---- intervals, as Python makes them
const Z = 1.959963984540054;
function wilson(share, n) {
  if (n <= 0) return [NaN, 0, 1];
  const center = (share + Z * Z / (2 * n)) / (1 + Z * Z / n);
  const reach = Z / (1 + Z * Z / n) * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n));
  return [share, Math.max(center - reach, 0), Math.min(center + reach, 1)];
}
const turned = ([e, low, high]) => [1 - e, 1 - high, 1 - low];
function costBand(f, t, costs) {
  const a = (1 - prevalence) * costs.fp, b = prevalence * costs.fn, cost = costAt(f[0], t[0], costs);
  return [cost, Math.max(cost - Math.hypot(a * (f[0] - f[1]), b * (t[2] - t[0])), 0),
          cost + Math.hypot(a * (f[2] - f[0]), b * (t[0] - t[1]))];
}
function predictive(f, t, share) {
  if (f[0] === 0 && t[0] === 0) return [NaN, 0, 1];
  const value = (a, b) => share * a + (1 - share) * b > 0 ? share * a / (share * a + (1 - share) * b) : 1;
  if (f[0] === 0 || t[0] === 0) return [value(t[0], f[0]), value(t[1], f[2]), value(t[2], f[1])];
  const gap = (a, b) => Math.log(a) - Math.log(b);
  const odds = share * t[0] / ((1 - share) * f[0]);
  const low = odds * Math.exp(-Math.hypot(gap(t[0], t[1]), gap(f[2], f[0])));
  const up = Math.hypot(gap(t[2], t[0]), gap(f[0], f[1]));
  const high = odds * Math.exp(up);
  return [value(t[0], f[0]), low / (1 + low), isFinite(high) ? high / (1 + high) : 1];
}
// No more digits than the interval allows.
const band = (b, write) => {
  const [value, low, high] = b.map(x => write(x, (b[2] - b[1]) / 2));
  return isNaN(b[0]) ? "\u2013" : `${value} (${low} to ${high})`;
};
function decimals(x, half = 0) {
  if (!(half > 0)) return String(Number(x.toPrecision(3)));
  const least = Math.abs(x) < 10 && half < 1 ? 2 : 0;
  return x.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(half)), least), 4));
}

function atSure(limit) {
  let found = null;
  for (const row of data.guarantee.points) if (row.limit <= limit + 1e-9) found = row;
  return found && { low: found.low, high: found.high, share: found.share, price: found.price };
}

const between = (point, key) =>
  (1 - point.share) * data.vertices[point.low][key] + point.share * data.vertices[point.high][key];

function row(table, cells, header) {
  const tr = add(table, "tr");
  cells.forEach((cell, i) => {
    const node = add(tr, header ? "th" : "td", i ? { class: "number" } : {}, cell);
    if (header) node.scope = "col";
  });
}

let mode = data.asked.mode, exactCosts = data.asked.costs, opening = true;

function costsNow(ratio) {
  if (exactCosts) return exactCosts;
  return ratio >= 1 ? { fp: 1, fn: Number(ratio.toFixed(4)) } : { fp: Number((1 / ratio).toFixed(4)), fn: 1 };
}

function update(exact) {
  const limit = exact === undefined ? Number(get("limit").value) : exact;
  const power = Number(get("cost").value), ratio = Math.pow(2, power), costs = costsNow(ratio);
  const nice = costs.fn >= costs.fp ? costs.fn / costs.fp : costs.fp / costs.fn;
  get("limit-value").textContent = percent(limit);
  get("cost-value").textContent = costs.fn >= costs.fp ? `${nice.toPrecision(3)} : 1` : `1 : ${nice.toPrecision(3)}`;
  const sure = data.guarantee !== null && get("sure").checked;
  let point = mode === "limit" ? atLimit(limit) : sure ? atBound(costs) : atCost(costs);
  let unkept = false;
  if (mode === "limit" && sure) {
    const kept = opening && data.asked.point ? data.asked.point : atSure(limit);
    if (kept) point = kept; else { unkept = true; point = { low: 0, high: 0, share: 0 }; }
  }
  const fpr = between(point, "fpr"), tpr = between(point, "tpr");
  here.setAttribute("cx", px(fpr));
  here.setAttribute("cy", py(tpr));
  const { low, high } = point, pair = point.share > 0 ? [data.vertices[low], data.vertices[high]] : [data.vertices[low]];
  hereSize.setAttribute("cx", px(fpr));
  hereSize.setAttribute("cy", sy(needed(...pair)));
  circles.forEach((circle, i) =>
    circle.classList.toggle("used", i === point.low || (i === point.high && point.share > 0)));
  const slope = (1 - prevalence) * costs.fp / (prevalence * costs.fn);
  costLine.style.visibility = mode === "cost" ? "visible" : "hidden";
  const y0 = tpr - slope * fpr, y1 = tpr + slope * (1 - fpr);
  const a = y0 >= 0 ? [0, y0] : [-y0 / slope, 0], b = y1 <= 1 ? [1, y1] : [(1 - y0) / slope, 1];
  costLine.setAttribute("x1", px(a[0])); costLine.setAttribute("y1", py(a[1]));
  costLine.setAttribute("x2", px(b[0])); costLine.setAttribute("y2", py(b[1]));
  showRates(point, fpr, tpr, limit, costs, sure, unkept);
  showNeeds(point);
  showCode(limit, costs, sure);
}

function showRates(point, fpr, tpr, limit, costs, sure, unkept) {
  const table = get("rates");
  table.replaceChildren();
  row(table, ["", "false positives", "true positives"], true);
  row(table, ["read off the hull", percent(fpr), percent(tpr)]);
  const f = wilson(between(point, "fpr_new"), data.sizes[0]), t = wilson(between(point, "tpr_new"), data.sizes[1]);
  row(table, [data.calibrated ? "expected on new rows" : "on the rows used to build the hull (optimistic)", band(f, percent), band(t, percent)]);
  const right = predictive(f, t, prevalence), wrong = predictive(turned(t), turned(f), 1 - prevalence);
  row(table, ["predictive value", `negative ${band(wrong, percent)}`, `positive ${band(right, percent)}`]);
  const asks = costs.fp + " and " + costs.fn;
  if (mode === "cost") {
    const last = data.vertices.length - 1, alone = point.share === 0 && (point.low === 0 || point.low === last);
    const cost = costBand(f, t, costs), exact = point.low === 0 ? prevalence * costs.fn : (1 - prevalence) * costs.fp;
    row(table, ["expected cost of a case", alone ? decimals(exact) : band(cost, decimals), `at costs of ${asks}`]);
  }
  let note = data.calibrated
    ? `Expected: measured on ${data.n_calibration} rows that nothing was chosen by, with 95 % intervals.`
    : "The hull was measured on the rows that it was built from, so these rates are too optimistic.";
  if (mode === "limit" && !sure && f[0] > limit) note += ` More than ${percent(limit)} false positives are expected; a guarantee keeps the limit.`;
  if (mode === "limit" && sure) {
    if (unkept) note = "There are too few calibration rows to guarantee this limit.";
    else {
      row(table, [`guaranteed with probability ${data.guarantee.probability}`, `at most ${percent(limit)}`, ""]);
      note += ` The guarantee costs ${(100 * Math.max(point.price, 0)).toFixed(1)} points of true positives.`;
    }
  }
  if (mode === "cost" && sure)
    row(table, [`guaranteed with probability ${data.guarantee.probability}`,
                `a cost of at most ${decimals(point.bound)}`, ""]);
  get("rates-note").textContent = note;
  const count = x => Math.round(1000 * x);
  get("thousand").textContent = `Of 1,000 cases, ${count(prevalence)} of them positive: ${count(prevalence * t[0])} found, `
    + `${count(prevalence * (1 - t[0]))} missed, ${count((1 - prevalence) * f[0])} false alarms, `
    + `${count((1 - prevalence) * (1 - f[0]))} left alone.`;
}

function showNeeds(point) {
  const ends = point.share > 0 ? [point.low, point.high] : [point.low];
  const used = new Set(ends.flatMap(i => data.vertices[i].features));
  const needs = data.names.filter(name => used.has(name));
  get("needs-title").textContent = needs.length === 1 ? "1 feature needed" : `${needs.length} features needed`;
  const list = get("needs");
  list.replaceChildren();
  needs.forEach(name => add(list, "li", {}, name));
  get("mix").textContent = point.share > 0
    ? `Each case goes to one of two classifiers, drawn at random.\n${percent(1 - point.share)} of the cases: `
      + `${counted(data.vertices[point.low])}.\n${percent(point.share)}: ${counted(data.vertices[point.high])}.`
    : `One classifier: ${counted(data.vertices[point.low])}.`;
}

function showCode(limit, costs, sure) {
  // Rounded up, so that a vertex chosen by hand is not missed by a hair.
  const limitText = String(Math.ceil(limit * 1e6 - 1e-6) / 1e6);
  const other = prevalence !== data.prevalence;
  const question = (mode === "cost" ? `cost_fp=${costs.fp}, cost_fn=${costs.fn}` : `max_fpr=${limitText}`)
    + (sure ? `, guarantee=${data.guarantee.probability}` : "") + (other ? `, prevalence=${prevalence}` : "");
  get("code").textContent = data.code.replace("QUESTION", question);
  if (data.command !== null) {
    const flags = (mode === "cost" ? ` --cost-fp ${costs.fp} --cost-fn ${costs.fn}` : ` --max-fpr ${limitText}`)
      + (sure ? ` --guarantee ${data.guarantee.probability}` : "") + (other ? ` --prevalence ${prevalence}` : "");
    get("command").hidden = false;
    get("command").textContent = data.command + flags;
  }
}

get("intro").textContent = data.intro;
if (data.guarantee === null) get("sure-label").hidden = true;
else get("sure-text").textContent =
  `Keep the limit, or a bound on the cost, on new rows with probability ${data.guarantee.probability}`;
const table = get("vertices");
row(table, ["features", "algorithm", "false positives", "true positives", "threshold"], true);
data.vertices.forEach(v => row(table, [v.features.join(", ") || "none", v.algorithm, percent(v.fpr), percent(v.tpr),
  v.threshold === null ? "–" : String(Number(v.threshold.toPrecision(3)))]));
const moved = (which, act) => get(which).addEventListener("input", () => { opening = false; act(); update(); });
moved("limit", () => { mode = "limit"; });
moved("sure", () => {});
moved("cost", () => { mode = "cost"; exactCosts = null; });
moved("prevalence", () => {
  const typed = Number(get("prevalence").value) / 100;
  if (typed > 0 && typed < 1) prevalence = typed;
});
get("prevalence").value = Number((100 * prevalence).toPrecision(3));
if (mode === "limit") get("limit").value = data.asked.limit;
else get("cost").value = Math.log2(data.asked.costs.fn / data.asked.costs.fp);
get("sure").checked = data.asked.guaranteed !== null && data.guarantee !== null;
update(mode === "limit" ? data.asked.limit : undefined);
