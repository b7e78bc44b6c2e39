import { ask, make, seconds, state, tell, url } from "./common.js";

const { run, answer } = state;
const at = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function draw(points) {
  const known = points.filter(([, score]) => score !== null);
  at("curve").hidden = new Set(known.map(([, score]) => score)).size < 2;
  if (at("curve").hidden) return;
  const xs = known.map(([n]) => Math.log10(Math.max(n, 1))), ys = known.map(([, score]) => score);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const x = value => 64 + 406 * (value - left) / (right - left || 1), y = value => 150 - 130 * (value - low) / (high - low || 1);
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", xs.map((value, i) => `${i ? `H${x(value).toFixed(1)}V` : `M${x(value).toFixed(1)},`}${y(ys[i]).toFixed(1)}`).join(""));
  const label = (text, px, py, anchor = "start") => {
    const node = document.createElementNS(SVG, "text");
    node.textContent = text;
    node.setAttribute("x", px);
    node.setAttribute("y", py);
    node.setAttribute("text-anchor", anchor);
    return node;
  };
  at("curve").querySelector("g").replaceChildren(line, label(high.toFixed(3), 4, 24), label(low.toFixed(3), 4, 154), label(known[0][0].toLocaleString("en"), 64, 174), label(`${known.at(-1)[0].toLocaleString("en")} subsets`, 470, 174, "end"));
}

const PHASES = { reading: "Reading the table", searching: "Selecting features on all rows", measuring: "Testing on held-out rows", comparing: "Comparing methods" };

function show(now) {
  const told = now.progress;
  const title = PHASES[told.phase] ?? "Running";
  if (at("live-title").textContent !== title && !at("stop").disabled) at("live-title").textContent = title;
  if (told.share == null) at("share").removeAttribute("value");
  else at("share").value = told.share;
  at("elapsed").textContent = seconds(told.elapsed);
  at("left").textContent = told.left == null ? "" : `about ${seconds(told.left)}`;
  at("left-box").hidden = told.left == null;
  at("best-box").hidden = told.n_selections === undefined && !told.size;
  at("folds-box").hidden = !told.folds_done;
  if (told.n_selections !== undefined) {
    at("best").textContent = told.n_selections.toLocaleString("en") + (told.n_total ? ` of ${told.n_total.toLocaleString("en")}` : "");
    at("best-note").textContent = "selections done (methods × folds)";
    at("best-what").textContent = "done";
  } else if (told.size) {
    at("best").textContent = `${told.size} ${told.size === 1 ? "feature" : "features"}`;
    at("best-note").textContent = `${told.n_evaluations.toLocaleString("en")} subsets tried`;
  }
  at("folds").textContent = told.folds ? `${told.folds_done} of ${told.folds}` : "–";
  if (told.curve) draw(told.curve);
  at("names").textContent = told.names ? told.names.join(", ") : "";
}

function watch() {
  const events = new EventSource(url("/api/events", { id: run.id }));
  events.onmessage = event => {
    tell(null);
    const now = JSON.parse(event.data);
    if (now.state === "running") return show(now);
    events.close();
    if (now.state === "deleted") location.href = "/";
    else location.reload();
  };
  events.onerror = () => tell(new Error("Lost the connection to the workbench. The run continues; this page will reconnect."));
}

async function act(path, then) {
  tell(null);
  try {
    await ask(path, { id: run.id });
    then();
  } catch (error) {
    tell(error);
  }
}

function choose(features, about, told) {
  at("features").replaceChildren(...features.slice(0, 200).map(name => make("li", name)));
  at("told").textContent = told;
  for (const link of document.querySelectorAll("[data-download]")) link.href = url("/download", { what: link.dataset.download, id: run.id, ...about });
}

// The page below has a slider of its own; each tells the other where it stands.
function choosing() {
  const { answers, stops } = answer, slider = at("size"), frame = at("page");
  const sizes = stops.map(stop => stop.size);
  const tellPage = size => frame?.contentWindow?.postMessage({ fewer: "size", size }, "*");
  const tellSize = size => stops[sizes.indexOf(size)]?.told ?? `${size} of ${run.n_features} features.`;
  let shown = answer.features.length;
  const slide = size => {
    shown = size;
    if (!slider) return;
    slider.value = Math.max(sizes.indexOf(size), 0);
    at("size-value").textContent = size;
    slider.setAttribute("aria-valuetext", tellSize(size));
  };
  const goTo = size => {
    const stop = stops[sizes.indexOf(size)];
    if (!stop) return;
    slide(size);
    const fitting = buttons.filter(button => answers[button.value].length === size);
    if (!fitting.some(button => button.checked)) for (const button of buttons) button.checked = button === fitting[0];
    choose(stop.features, size === answer.features.length ? {} : { size }, tellSize(size));
  };
  const buttons = [...document.querySelectorAll("#answers [name=prefer]")];
  for (const button of buttons) button.addEventListener("change", () => {
    const features = answers[button.value];
    slide(features.length);
    choose(features, { prefer: button.value }, tellSize(features.length));
    tellPage(features.length);
  });
  if (slider) {
    slider.max = sizes.length - 1;
    slider.addEventListener("input", () => {
      goTo(sizes[slider.value]);
      tellPage(sizes[slider.value]);
    });
    slide(shown);
    addEventListener("message", event => {
      if (frame && event.source === frame.contentWindow && event.data?.fewer === "size" && event.data.size !== shown) goTo(event.data.size);
    });
    frame?.addEventListener("load", () => tellPage(shown));
  }
  at("told").textContent = stops.length ? tellSize(shown) : "";
}

if (run.state === "running") {
  show(run);
  watch();
  at("stop").addEventListener("click", () => act("/api/stop", () => {
    at("live-title").textContent = "Stopping and saving the best so far …";
    at("stop").textContent = "Stop immediately";
  }));
} else if (at("answers")) choosing();
at("without")?.addEventListener("click", async () => {
  at("without").disabled = true;
  try {
    location.href = url("/run", { id: (await ask("/api/again", { id: run.id, without: state.suspects })).id });
  } catch (error) {
    at("without").disabled = false;
    tell(error);
  }
});
at("resume")?.addEventListener("click", () => act("/api/resume", () => location.reload()));
at("delete")?.addEventListener("click", () => at("sure").showModal());
at("sure").addEventListener("close", () => at("sure").returnValue === "yes" && act("/api/delete", () => { location.href = "/"; }));
