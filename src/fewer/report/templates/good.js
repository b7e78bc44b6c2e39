"use strict";
(() => {
  const data = JSON.parse(document.getElementById("good").textContent);
  const status_ = document.getElementById("choice");
  const width = data.features.length;
  let bytes = null;

  async function unpack() {
    const raw = Uint8Array.from(atob(data.bits), sign => sign.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Bits stand one after the other, the highest bit of a byte first, as numpy packs them.
  const has = (subset, place) => {
    const bit = subset * width + place;
    return (bytes[bit >> 3] >> (7 - (bit & 7))) & 1;
  };

  function ticked(kind) {
    return [...document.querySelectorAll(`input[data-${kind}]:checked`)].map(box => Number(box.dataset[kind]));
  }

  function show() {
    const out = ticked("out"), inside = ticked("in");
    const places = columns => columns.map(column => data.features.indexOf(column));
    const wanted = places(inside), unwanted = places(out).filter(place => place >= 0);
    let first = -1, n = 0, score = 0, subset = 0;
    for (const [value, count] of data.groups) {
      for (const end = subset + count; subset < end; subset++) {
        if (wanted.every(place => place >= 0 && has(subset, place)) && !unwanted.some(place => has(subset, place))) {
          if (first < 0) { first = subset; score = value; }
          n++;
        }
      }
    }
    if (first < 0) {
      status_.textContent = data.n < data.n_good
        ? `None of the best ${data.n.toLocaleString("en")} subsets remains.` : "No good subset remains.";
      return;
    }
    const chosen = data.features.filter((_, place) => has(first, place));
    const cost = data.costs ? `, cost ${chosen.reduce((sum, column) => sum + data.costs[column], 0)}` : "";
    const few = data.n < data.n_good ? ` of the best ${data.n.toLocaleString("en")}` : "";
    status_.textContent = `${chosen.map(column => data.names[column]).join(", ")}: score ${score.toFixed(3)}, ` +
      `${chosen.length} feature${chosen.length === 1 ? "" : "s"}${cost}. ${n.toLocaleString("en")}${few} good subsets remain.`;
  }

  unpack().then(() => {
    document.querySelectorAll("input[data-out], input[data-in]").forEach(box => box.addEventListener("change", show));
    show();
  });
})();
