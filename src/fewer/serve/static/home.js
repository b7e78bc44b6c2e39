import { ask, make, read, seconds, state, tell, url } from "./common.js";

const drop = document.getElementById("drop"), file = document.getElementById("file"), sending = document.getElementById("sending");

async function send(name, content) {
  tell(null);
  if (content.size > Number(drop.dataset.limit)) {
    tell(new Error(`${name} is larger than ${Math.round(drop.dataset.limit / 1048576)} MiB; Copy it into the folder shown below, or restart with a larger --max-upload.`));
    return;
  }
  sending.textContent = `Sending ${name} …`;
  try {
    const answer = await fetch(url("/api/upload", { name }), { method: "PUT", body: content });
    location.href = url("/table", { name: (await read(answer)).name });
  } catch (error) {
    sending.textContent = "";
    tell(error instanceof TypeError ? new Error("The table could not be sent; is the workbench still running?") : error);
  }
}

file.addEventListener("change", () => file.files.length && send(file.files[0].name, file.files[0]));
for (const kind of ["dragenter", "dragover"]) document.addEventListener(kind, event => { event.preventDefault(); drop.classList.add("over"); });
document.addEventListener("dragleave", () => drop.classList.remove("over"));
document.addEventListener("drop", event => {
  event.preventDefault();
  drop.classList.remove("over");
  const [dropped] = event.dataTransfer.files;
  if (dropped) send(dropped.name, dropped);
});
document.getElementById("use-cells").addEventListener("click", () => {
  const text = document.getElementById("cells").value;
  if (!text.trim()) return tell(new Error("Nothing pasted yet. Copy cells in your spreadsheet, click in the box and paste."));
  send(text.split("\n")[0].includes("\t") ? "pasted.tsv" : "pasted.csv", new Blob([text]));
});

const size = bytes => bytes < 1e6 ? `${Math.max(Math.round(bytes / 1e3), 1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

function summary(run) {
  const about = [run.table, run.target && `predicting ${run.target}`].filter(Boolean);
  if (run.state === "running") about.push(`${seconds(run.progress.elapsed)} so far`);
  else if (run.kind === "selection") about.push(`${run.features.length} of ${run.n_features} features`);
  else if (run.kind) about.push(run.kind);
  else about.push(run.message);
  return about.join(", ");
}

function show(now) {
  document.getElementById("runs").replaceChildren(...now.runs.map(run => {
    const line = make("li");
    line.append(make("a", run.id, { href: url("/run", { id: run.id }) }), make("span", run.state, { class: `state ${run.state}` }), make("span", summary(run), { class: "soft" }));
    return line;
  }));
  document.getElementById("tables").replaceChildren(...now.tables.map(table => {
    const line = make("li");
    line.append(make("a", table.name, { href: url("/table", { name: table.name }) }), make("span", size(table.size), { class: "soft" }));
    return line;
  }));
  document.getElementById("no-runs").hidden = now.runs.length > 0;
  document.getElementById("no-tables").hidden = now.tables.length > 0;
}

let last = JSON.stringify(state);
show(state);
setInterval(async () => {
  if (document.hidden || document.activeElement?.closest(".list")) return;
  try {
    const now = await ask("/api/state");
    if (JSON.stringify(now) !== last) show(now);
    last = JSON.stringify(now);
  } catch { /* it may come back */ }
}, 3000);
