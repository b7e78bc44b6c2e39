"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = id => document.getElementById(id);
  document.body.classList.add("js");

  // ---- the answers of other sizes
  const slider = get("stop"), rows = [...document.querySelectorAll("tr.feature")];
  if (slider && data.stops.length) {
    const home = Math.max(data.stops.findIndex(stop => stop.size === data.chosen), 0);
    const curve = get("curve"), here = get("here");
    const circles = new Map([...curve.querySelectorAll("[data-size]")].map(c => [Number(c.dataset.size), c]));
    const show = place => {
      const stop = data.stops[place], moved = place !== home, shown = new Set(stop.places);
      rows.forEach((row, i) => { row.hidden = !shown.has(i); });
      get("size").textContent = stop.size;
      slider.value = place;
      slider.setAttribute("aria-valuetext", stop.told);
      get("told").textContent = (moved ? "" : "The answer: ") + stop.told;
      const circle = circles.get(stop.size);
      if (here && circle) { here.setAttribute("cx", circle.getAttribute("cx")); here.setAttribute("cy", circle.getAttribute("cy")); }
      document.body.classList.toggle("moved", moved);
      get("back").hidden = !moved;
      get("elsewhere").hidden = !moved;
      get("elsewhere").textContent = moved ? `Not the answer, but one beside it. ${stop.told}` : "";
    };
    slider.addEventListener("input", () => show(Number(slider.value)));
    get("back").addEventListener("click", () => { show(home); slider.focus(); });
    curve.addEventListener("click", event => {
      const circle = event.target.closest("[data-size]");
      if (circle) show(data.stops.findIndex(stop => stop.size === Number(circle.dataset.size)));
    });
    get("slider").hidden = false;
    show(home);
  }

  // ---- rows that can be named
  const plane = get("plane");
  if (plane) {
    const points = [...plane.querySelectorAll("[data-told]")];
    let current = 0;
    const name = place => {
      points[current].classList.remove("named");
      points[current].setAttribute("tabindex", "-1");
      current = place;
      points[current].setAttribute("tabindex", "0");
      points[current].classList.add("named");
      get("row-told").textContent = points[current].dataset.told;
    };
    points.forEach((point, i) => {
      point.setAttribute("role", "img");
      point.setAttribute("aria-label", point.dataset.told);
      point.setAttribute("tabindex", i ? "-1" : "0");
      point.addEventListener("focus", () => name(i));
      point.addEventListener("click", () => point.focus());
    });
    plane.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!step || !event.target.closest("[data-told]")) return;
      event.preventDefault();
      points[(current + step + points.length) % points.length].focus();
    });
    get("row-hint").hidden = false;
  }
})();
