"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const get = id => document.getElementById(id);
  document.body.classList.add("js");

  // ---- other sizes
  const slider = get("stop"), rows = [...document.querySelectorAll("tr.feature")];
  if (slider && data.stops.length) {
    const home = Math.max(data.stops.findIndex(stop => stop.size === data.chosen), 0);
    const curve = get("curve"), here = get("here");
    const circles = new Map([...curve.querySelectorAll("[data-size]")].map(c => [Number(c.dataset.size), c]));
    // What is lost without each feature, and what can stand in for it, at the size that is shown.
    const dot = document.querySelector("td.lost svg");
    const lose = (cell, told) => {
      if (!told) return cell.replaceChildren("–");
      const [amount, low, high, x, from, to] = told, picture = dot.cloneNode(true);
      picture.querySelector("circle").setAttribute("cx", x);
      picture.querySelector("polyline").setAttribute("points", `${from},8 ${to},8`);
      picture.setAttribute("aria-label", `${amount} lost, ${low} to ${high}`);
      const line = document.createElement("span"), ends = document.createElement("small");
      ends.textContent = `(${low} to ${high})`;
      line.append(`${amount} `, ends);
      cell.replaceChildren(picture, line);
    };
    const replace = (cell, names) => {
      if (!names) return cell.replaceChildren("–");
      cell.replaceChildren(...names.flatMap((name, i) => {
        const part = document.createElement("bdi");
        part.textContent = name;
        return i ? [", ", part] : [part];
      }));
    };
    const first = rows.map(row => [row.querySelector("td.lost"), row.querySelector("td.others")].map(cell => cell && [...cell.childNodes]));
    const follow = (stop, moved) => rows.forEach((row, i) => {
      [row.querySelector("td.lost"), row.querySelector("td.others")].forEach((cell, k) => {
        if (!cell || row.hidden) return;
        if (!moved) cell.replaceChildren(...first[i][k]);
        else if (k) replace(cell, stop.stand_ins?.[i]);
        else lose(cell, stop.losses[i]);
      });
    });
    const show = (place, telling = true) => {
      const stop = data.stops[place], moved = place !== home, shown = new Set(stop.places);
      rows.forEach((row, i) => { row.hidden = !shown.has(i); });
      follow(stop, moved);
      const total = get("total-cost");
      if (total) total.textContent = stop.cost ?? "–";
      get("size").textContent = stop.size;
      slider.value = place;
      slider.setAttribute("aria-valuetext", stop.told);
      get("told").textContent = (moved ? "" : "Selected: ") + stop.told;
      const circle = circles.get(stop.size);
      if (here && circle) { here.setAttribute("cx", circle.getAttribute("cx")); here.setAttribute("cy", circle.getAttribute("cy")); }
      document.body.classList.toggle("moved", moved);
      get("back").hidden = !moved;
      get("elsewhere").hidden = !moved;
      const missing = moved && dot && !stop.measured && stop.size > 1 ? " Losses per feature were not measured for this size." : "";
      get("elsewhere").textContent = moved ? `You are looking at another size, not at the selected one. ${stop.told}${missing}` : "";
      if (telling && parent !== window) parent.postMessage({ fewer: "size", size: stop.size }, "*");
    };
    // In the workbench this page has a frame of its own, and the two sliders move together.
    addEventListener("message", event => {
      if (event.source !== parent || event.data?.fewer !== "size") return;
      const place = data.stops.findIndex(stop => stop.size === event.data.size);
      if (place >= 0 && place !== Number(slider.value)) show(place, false);
    });
    slider.addEventListener("input", () => show(Number(slider.value)));
    get("back").addEventListener("click", () => { show(home); slider.focus(); });
    curve.addEventListener("click", event => {
      const circle = event.target.closest("[data-size]");
      if (circle) show(data.stops.findIndex(stop => stop.size === Number(circle.dataset.size)));
    });
    get("slider").hidden = false;
    show(home, false);
  }

  // ---- rows that can be named
  for (const plane of document.querySelectorAll("svg.rows")) {
    const line = get(`${plane.id}-told`);
    const points = [...plane.querySelectorAll("[data-told]")];
    let current = 0;
    const name = place => {
      points[current].classList.remove("named");
      points[current].setAttribute("tabindex", "-1");
      current = place;
      points[current].setAttribute("tabindex", "0");
      points[current].classList.add("named");
      line.textContent = points[current].dataset.told;
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
    get(`${plane.id}-hint`).hidden = false;
  }

  // ---- two features or two directions
  const views = [...document.querySelectorAll("#views input")];
  if (views.length) {
    const look = () => views.forEach(view => { get(view.value).hidden = !view.checked; });
    views.forEach(view => view.addEventListener("change", look));
    get("views").hidden = false;
    look();
  }
})();
