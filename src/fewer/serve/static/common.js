// What the pages share: asking the server, telling troubles, making elements from text (never from markup).

export const state = JSON.parse(document.getElementById("state").textContent);

export async function ask(path, content) {
  let answer;
  try {
    answer = await fetch(path, content === undefined ? {} : {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(content),
    });
  } catch {
    throw new Error("No connection to the workbench. Is fewer serve still running in its terminal?");
  }
  return read(answer);
}

export async function read(answer) {
  const text = await answer.text();
  let content;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(text.slice(0, 500) || `The workbench answered with ${answer.status}.`);
  }
  if (!answer.ok) throw Object.assign(new Error(content.error ?? text), { field: content.field });
  return content;
}

export function tell(error, place = "trouble") {
  const line = document.getElementById(place);
  line.textContent = error ? error.message ?? String(error) : "";
  line.hidden = !error;
  if (error) line.scrollIntoView({ block: "nearest" });
}

export function make(kind, text = "", attributes = {}) {
  const node = document.createElement(kind);
  node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

export const url = (path, about) => `${path}?${new URLSearchParams(about)}`;

export function seconds(value) {
  if (value == null) return "–";
  if (value < 90) return `${Math.round(value)} s`;
  if (value < 5400) return `${Math.round(value / 60)} min`;
  return `${(value / 3600).toFixed(1)} h`;
}
