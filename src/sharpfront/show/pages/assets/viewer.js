// What the controls of a viewer do. `root` holds its markup: the page itself, or a shadow root where a page
// has several. Returns its windows, and its settings to be kept or given to another viewer.
function viewer(root, data) {
  const byId = (id) => root.getElementById(id);
  const chosen = { quantity: data.quantities[0], step: data.answer, plane: 0, kernels: false, mixture: false, cutting: false };
  const kinds = [...root.querySelectorAll('input[name="kind"]')];
  const scrub = byId("scrub"), boxes = ["kernels", "mixture"].map((name) => byId(`show-${name}`)).filter(Boolean);
  const drawn = (data.kind === "line" ? lineViewer : mapViewer)();

  // Everything that can be chosen, read from its controls.
  function update() {
    const kind = kinds.find((k) => k.checked)?.value ?? "solution";
    const fitting = data.quantities.filter((q) => q.kind === kind);
    chosen.unknown = byId("unknown")?.value ?? data.quantities[0].unknown;
    chosen.quantity = fitting.find((q) => q.unknown === chosen.unknown) ?? fitting[0];
    if (scrub) {
      chosen.step = Number(scrub.value);
      scrub.setAttribute("aria-valuetext", data.notes[chosen.step]);
    }
    // Kernels and mixture are drawn when they are asked for, and with them what is said about them.
    for (const box of boxes) chosen[box.id.slice("show-".length)] = box.checked;
    for (const part of root.querySelectorAll("[data-on-request]")) part.hidden = !boxes.some((box) => box.checked);
    drawn.show();
  }

  function play() {
    const button = byId("play");
    let playing = null;
    button?.addEventListener("click", () => {
      if (playing) { clearInterval(playing); playing = null; button.textContent = "Play"; return; }
      button.textContent = "Pause";
      if (Number(scrub.value) === Number(scrub.max)) scrub.value = scrub.min;
      playing = setInterval(() => {
        if (!scrub.isConnected) return clearInterval(playing);
        scrub.value = Number(scrub.value) + 1;
        scrub.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        if (Number(scrub.value) === Number(scrub.max)) button.click();
      }, 90);
    });
  }

  function tell(kernels, components) {
    const note = byId("scrub-note");
    if (note) note.textContent = data.notes[chosen.step];
    const viewer = byId("viewer");
    // What is drawn, in a form that others than eyes can read.
    viewer.dataset.kernels = kernels ? Array.from(kernels.slice(0, 400), (v) => v.toPrecision(8)).join(" ") : "";
    viewer.dataset.components = components ? Array.from(components, (v) => v.toPrecision(8)).join(" ") : "";
    const missing = byId("kernels-missing");
    if (missing) missing.hidden = Boolean(kernels) || !chosen.kernels;
  }

  function zoomButtons(id, view, sharpest) {
    const acts = { in: () => view().zoom(0.5), out: () => view().zoom(2), reset: () => view().reset(), sharpest };
    for (const button of root.querySelectorAll(`[data-chart="${id}"] button[data-act]`)) {
      button.addEventListener("click", acts[button.dataset.act]);
    }
  }

  function lineViewer() {
    const view = new View(data.ends);
    const main = new LineChart(byId("main"), byId("main-read"), view);
    const below = new LineChart(byId("kernels"), byId("kernels-read"), view);
    zoomButtons("main", () => view, () => {
      // Where the narrowest kernel is, or the narrowest component where kernels are not known.
      const state = data.states[chosen.step];
      const each = state.kernels[chosen.unknown] ?? state.mixture;
      if (!each) return;
      const s = array(each.s), i = s.indexOf(extent(s)[0]), c = array(each.c)[i];
      view.look({ x: [c - 15 * s[i], c + 15 * s[i]] });
    });
    const inTime = data.frames.length > 1;
    const heights = {};
    for (const q of data.quantities) {
      let ends = [Infinity, -Infinity];
      for (const frame of data.frames) ends = extent(array(frame.values[q.key]), ends);
      heights[q.key] = padded(ends);
    }
    let widths = [Infinity, -Infinity];
    for (const state of data.states) {
      for (const each of [...Object.values(state.kernels), state.mixture]) if (each) widths = extent(array(each.s), widths);
    }
    const logs = (s) => Float64Array.from(s, Math.log10);
    const show = () => {
      const q = chosen.quantity, frame = data.frames[inTime ? chosen.step : 0], state = data.states[chosen.step];
      const series = [{ x: array(frame.x), y: array(frame.values[q.key]), colour: "blue" }];
      if (inTime && q.kind === "solution") {
        series.unshift({ x: array(data.frames[0].x), y: array(data.frames[0].values[q.key]), faint: true });
      }
      // In time the height stays, so that what grows is seen to grow.
      const whole = view.x[0] === view.home.x[0] && view.x[1] === view.home.x[1];
      main.show({ series, xLabel: data.axis, yLabel: q.label, log: q.log, fixed: inTime && whole ? heights[q.key] : null });
      const kernels = state.kernels[chosen.unknown] ?? state.kernels[q.unknown], mixture = state.mixture;
      const c = kernels && array(kernels.c);
      const parts = mixture && array(mixture.c), deviations = mixture && array(mixture.s);
      below.show({
        dots: kernels && { x: c, y: logs(array(kernels.s)) },
        bars: parts && Array.from(parts, (x, i) => ({ x, y: Math.log10(deviations[i]), half: deviations[i] })),
        xLabel: data.axis, yLabel: "width (one standard deviation)", log: true,
        fixed: padded(widths.map(Math.log10), 0.12),
        read: (found) => `kernel at ${data.axis} = ${tidy(found.x, 10)}, width ${tidy(10 ** found.heights[0], 3)}`,
      });
      tell(c, parts);
    };
    if (inTime) view.listeners.push(() => show());
    return { show, views: [view] };
  }

  function mapViewer() {
    const views = data.planes.map((p) => {
      const x = array(p.x), y = array(p.y);
      return new View([x[0], x[x.length - 1]], [y[0], y[y.length - 1]]);
    });
    const main = new MapChart(byId("main"), byId("main-read"), views[0]);
    const along = ["x", "y"].map((axis) => new LineChart(byId(`cut-${axis}`), byId(`cut-${axis}-read`), new View([0, 1])));
    const sliders = ["x", "y"].map((axis) => byId(`at-${axis}`));
    const steps = Number(sliders[0].max);
    const cut = () => {
      const p = data.planes[chosen.plane], ends = [array(p.x), array(p.y)];
      const [x, y] = sliders.map((s, i) => ends[i][0] + (Number(s.value) / steps) * (ends[i][ends[i].length - 1] - ends[i][0]));
      return chosen.exactCut ?? { x, y };
    };
    const show = () => {
      const q = chosen.quantity, p = data.planes[chosen.plane];
      const frame = p.frames[p.frames.length > 1 ? chosen.step : 0], state = p.states[chosen.step];
      const field = { x: array(p.x), y: array(p.y), values: array(frame[q.key]), outline: p.outline };
      const unpacked = (e) => e && { c: array(e.c), e: array(e.e), left: e.left };
      const kernels = unpacked(state.kernels[chosen.unknown] ?? state.kernels[q.unknown]), components = unpacked(state.mixture);
      const at = cut();
      main.show({
        ...field, scale: data.scales[q.key], axes: p.axes, label: q.label, log: q.log, cut: at, cutting: chosen.cutting,
        ellipses: chosen.kernels ? kernels : null, components: chosen.mixture ? components : null,
        told: (dotted) => {
          const words = [];
          if (dotted) words.push("Kernels are drawn as dots at their centres; zoom in to see their shapes.");
          if (kernels?.left && chosen.kernels) words.push(`${kernels.c.length / 2} of ${kernels.c.length / 2 + kernels.left} kernels are drawn.`);
          byId("ellipses-left").textContent = words.join(" ");
        },
        choose: (place) => {
          chosen.exactCut = place;
          sliders.forEach((s, i) => {
            const ends = [field.x, field.y][i], low = ends[0], high = ends[ends.length - 1];
            s.value = Math.round((steps * ([place.x, place.y][i] - low)) / (high - low));
          });
          show();
        },
      });
      const lines = [
        { x: field.x, y: Float32Array.from(field.x, (x) => sampled(field, x, at.y)) },
        { x: field.y, y: Float32Array.from(field.y, (y) => sampled(field, at.x, y)) },
      ];
      lines.forEach((line, i) => {
        along[i].view.home.x = [line.x[0], line.x[line.x.length - 1]];
        along[i].view.x = [...(i ? main.view.y : main.view.x)];
        along[i].show({ series: [{ ...line, colour: "blue" }], xLabel: p.axes[i], yLabel: q.label, log: q.log });
        byId(`cut-${"xy"[i]}-title`).textContent = `Along ${p.axes[i]} at ${p.axes[1 - i]} = ${tidy(i ? at.x : at.y, 4)}`;
        byId(`at-${"xy"[i]}-label`).textContent = `Cut at ${p.axes[i]} = ${tidy(i ? at.y : at.x, 4)}`;
      });
      tell(kernels?.c, components?.c);
    };
    for (const view of views) view.listeners.push(() => main.view === view && show());
    const plane = byId("plane");
    const choosePlane = () => {
      chosen.plane = Number(plane.value);
      chosen.exactCut = null;
      main.view = views[chosen.plane];
      show();
    };
    plane?.addEventListener("change", choosePlane);
    for (const slider of sliders) slider.addEventListener("input", () => { chosen.exactCut = null; show(); });
    for (const slider of sliders) {
      for (const [event, cutting] of [["pointerdown", true], ["keydown", true], ["change", false], ["blur", false]]) {
        slider.addEventListener(event, () => { chosen.cutting = cutting; show(); });
      }
    }
    zoomButtons("main", () => main.view, () => {
      const state = data.planes[chosen.plane].states[chosen.step];
      const each = state.kernels[chosen.unknown] ?? state.mixture;
      if (each) main.view.look(narrowest(array(each.c), array(each.e)));
    });
    return { show, views, choosePlane };
  }

  function convergence() {
    const canvas = byId("convergence"), c = data.convergence;
    if (!canvas || !c.x.length) return;
    const room = c.x.length > 1 ? 0.04 * (c.x[c.x.length - 1] - c.x[0]) : 0.5;
    const chart = new LineChart(canvas, byId("convergence-read"), new View([c.x[0] - room, c.x[c.x.length - 1] + room]));
    const log = (values) => values.map((v) => (v > 0 ? Math.log10(v) : NaN));
    const series = c.series.map((s) => ({ x: c.x, y: log(s.values), colour: s.colour, marked: c.x.length < 80 }));
    const levels = [{ y: Math.log10(c.tol), label: `tolerance ${tidy(c.tol)}` }];
    chart.show({
      series, levels, xLabel: c.xLabel, yLabel: "", log: true, whole: c.whole,
      read: ({ i }) => `${c.names[i]}: ` + c.series.map((s) => `${s.label} ${tidy(s.values[i] ?? NaN, 4)}`).join(", "),
    });
  }

  // What a reader has chosen, in a form that fits the viewer of another solution of the same kind.
  const chosenInputs = () => [...kinds, ...boxes, ...["unknown", "plane", "at-x", "at-y"].map(byId)].filter(Boolean);
  function settings() {
    const values = chosenInputs().map((e) => [e.id || e.value, e.type === "radio" || e.type === "checkbox" ? e.checked : e.value]);
    const windows = drawn.views.map(({ x, y, home }) => ({ x: [...x], y: y && [...y], home: JSON.stringify(home) }));
    return { values: Object.fromEntries(values), step: data.inTime && scrub ? Number(scrub.value) / Number(scrub.max) : null, windows };
  }
  function take(settings) {
    for (const e of chosenInputs()) {
      const value = settings.values[e.id || e.value];
      if (value === undefined) continue;
      if (typeof value === "boolean") e.checked = value;
      else if (e.tagName !== "SELECT" || [...e.options].some((o) => o.value === value)) e.value = value;
    }
    if (!kinds.some((k) => k.checked) && kinds.length) kinds[0].checked = true;
    if (data.inTime && scrub && settings.step !== null) scrub.value = Math.round(settings.step * Number(scrub.max));
    if (byId("plane")) drawn.choosePlane();
    drawn.views.forEach((view, i) => {
      const window = settings.windows[i];
      if (window?.home === JSON.stringify(view.home)) view.look(window);
    });
    update();
  }

  for (const input of [...kinds, ...boxes, byId("unknown")]) input?.addEventListener("change", update);
  scrub?.addEventListener("input", update);
  play();
  update();
  convergence();
  byId("viewer").dataset.ready = "true";
  return { views: drawn.views, settings, take };
}

// A window around the narrowest ellipse.
function narrowest(c, e) {
  let best = null, least = Infinity;
  for (let i = 0; i < c.length / 2; i++) {
    const [a, b, d] = [e[3 * i], e[3 * i + 1], e[3 * i + 2]];
    const variance = (a + d) / 2 - Math.hypot((a - d) / 2, b);
    if (variance < least) [best, least] = [i, variance];
  }
  const [x, y] = [c[2 * best], c[2 * best + 1]], half = 12 * Math.sqrt(Math.max(least, 0));
  return { x: [x - half, x + half], y: [y - half, y + half] };
}
