// A chart on a canvas: axes, moving and zooming, reading values. No library, no network.
// The page's own colours, light or dark; read again when these change.
const INKS = {};
function readInks() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "grid", "axis", "paper", "blue", "orange", "good", "faint"]) {
    INKS[name] = style.getPropertyValue(`--${name}`).trim();
  }
}
readInks();
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function array(packed) {
  if (packed.decoded) return packed.decoded;
  const bytes = Uint8Array.from(atob(packed.f8 ?? packed.f4 ?? packed.u2), (c) => c.charCodeAt(0));
  if (packed.u2 !== undefined) {
    const step = (packed.high - packed.low) / 65534;
    packed.decoded = Float32Array.from(new Uint16Array(bytes.buffer), (k) => (k === 65535 ? NaN : packed.low + k * step));
  } else {
    packed.decoded = new (packed.f8 === undefined ? Float32Array : Float64Array)(bytes.buffer);
  }
  return packed.decoded;
}

function extent(values, ends = [Infinity, -Infinity]) {
  let [low, high] = ends;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return [low, high];
}

function padded([low, high], share = 0.06) {
  if (!(low <= high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high), 1e-300);
  const room = high - low > 1e-12 * size ? share * (high - low) : 0.5 * size;
  return [low - room, high + room];
}

function power(n) {
  return "10" + [...String(n)].map((c) => SUPERSCRIPTS[c]).join("");
}

function tidy(value, digits = 5) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    const [head, tail] = value.toExponential(Math.max(0, digits - 1)).split("e");
    const factor = String(Number(head));
    if (Math.abs(Number(factor)) === 1) return factor.replace("1", "") + power(Number(tail));
    return `${factor}×${power(Number(tail))}`;
  }
  return String(Number(value.toPrecision(digits)));
}

function nearest(places, x) {
  // The index of the place closest to x; places increase.
  let low = 0, high = places.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (places[middle] <= x) low = middle; else high = middle;
  }
  return x - places[low] <= places[high] - x ? low : high;
}

// Round places between two ends, about so many; `minimum` keeps counts whole.
function ticks(low, high, count, minimum = 0) {
  const raw = Math.max((high - low) / Math.max(1, count), minimum);
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 5, 10].find((m) => m * unit >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  const places = [];
  for (let i = first; i <= last && places.length < 50; i++) places.push(i * step);
  return { places, step };
}

function labelled(low, high, count, home, minimum) {
  // In a narrow window beside an end of the domain, places are told as distances from that end.
  let { places, step } = ticks(low, high, count, minimum);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (decimals > 5 && size > 1e3 * step) {
    const from = Math.abs(low - home[0]) < Math.abs(high - home[1]) ? home[0] : home[1];
    ({ places, step } = ticks(low - from, high - from, count, minimum));
    return { places: places.map((p) => p + from), words: places.map((p) => tidy(p, 4)), from };
  }
  const far = size >= 1e5 || (size < 1e-3 && size > 0);
  const words = places.map((p) => (far ? tidy(Math.abs(p) < step / 1e6 ? 0 : p, 4) : p.toFixed(decimals)));
  return { places, words, from: 0 };
}

function logarithmic(low, high, count) {
  let every = Math.max(1, Math.ceil((high - low) / Math.max(1, count))), places;
  do {
    places = [];
    for (let k = Math.ceil(low - 1e-9); k <= high + 1e-9; k++) if (k % every === 0) places.push(k);
  } while (places.length < 2 && --every > 0);
  if (places.length > 1) return { places, words: places.map(power), from: 0 };
  // Within a decade or two: 1, 2 and 5 of each, or round numbers where even these are too far apart.
  const few = [];
  for (let k = Math.floor(low); k <= high; k++) for (const m of [1, 2, 5]) few.push(k + Math.log10(m));
  let seen = few.filter((v) => v >= low && v <= high);
  if (seen.length < 2) seen = ticks(10 ** low, 10 ** high, count).places.filter((v) => v > 0).map(Math.log10);
  return { places: seen, words: seen.map((v) => tidy(10 ** v, 3)), from: 0 };
}

// A window that several charts look through; whoever changes it tells the others.
class View {
  constructor(x, y = null) {
    this.home = { x: [...x], y: y && [...y] };
    this.listeners = [];
    this.reset(false);
  }
  reset(tell = true) {
    this.x = [...this.home.x];
    this.y = this.home.y && [...this.home.y];
    if (tell) this.tell();
  }
  tell() { for (const listener of this.listeners) listener(); }
  zoom(factor, at) {
    for (const axis of ["x", "y"]) {
      if (!this[axis]) continue;
      const [low, high] = this[axis], [first, last] = this.home[axis];
      const centre = at?.[axis] ?? (low + high) / 2;
      const least = 2e-14 * Math.max(Math.abs(first), Math.abs(last), last - first);
      if ((high - low) * factor < least) return;
      this[axis] = this.kept(axis, centre + (low - centre) * factor, centre + (high - centre) * factor);
    }
    this.tell();
  }
  look(window) {
    for (const axis of ["x", "y"]) if (this[axis]) this[axis] = this.kept(axis, ...window[axis]);
    this.tell();
  }
  move(dx, dy) {
    for (const [axis, d] of [["x", dx], ["y", dy]]) {
      if (this[axis]) this[axis] = this.kept(axis, this[axis][0] + d, this[axis][1] + d);
    }
    this.tell();
  }
  kept(axis, low, high) {
    // The window stays within the home, and is never wider.
    const [first, last] = this.home[axis], width = Math.min(high - low, last - first);
    if (width >= last - first) return [first, last];
    if (low < first) return [first, first + width];
    return high > last ? [last - width, last] : [low, low + width];
  }
}

class Chart {
  constructor(canvas, readout, view) {
    Object.assign(this, { canvas, readout, view, pointers: new Map(), hover: null });
    this.quiet = readout?.textContent ?? "";
    view.listeners.push(() => this.schedule());
    new ResizeObserver(() => this.schedule()).observe(canvas);
    const themed = () => {
      // A chart that has left the page listens no longer.
      if (!canvas.isConnected) return document.removeEventListener("theme", themed);
      readInks();
      this.schedule();
    };
    document.addEventListener("theme", themed);
    this.listen();
  }
  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.redraw(); });
  }
  redraw() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (!width || !height) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = FONT;
    this.pen = pen;
    this.size = { width, height };
    this.draw(pen);
  }
  // Pixels of a place in the window, and back.
  px(x) { const [a, b] = this.view.x; return this.box.left + ((x - a) / (b - a)) * this.box.width; }
  py(y) { const [a, b] = this.yRange; return this.box.top + ((b - y) / (b - a)) * this.box.height; }
  at(px, py) {
    const [a, b] = this.view.x, [c, d] = this.yRange;
    return { x: a + ((px - this.box.left) / this.box.width) * (b - a), y: d - ((py - this.box.top) / this.box.height) * (d - c) };
  }
  axes(pen, xTicks, yTicks, xLabel, yLabel) {
    const { left, top, width, height } = this.box, bottom = top + height;
    pen.lineWidth = 1;
    pen.fillStyle = INKS.soft;
    pen.textBaseline = "top";
    pen.textAlign = "center";
    xTicks.places.forEach((p, i) => {
      const x = this.px(p);
      pen.strokeStyle = INKS.grid;
      stroke(pen, x, top, x, bottom);
      const half = pen.measureText(xTicks.words[i]).width / 2;
      pen.fillText(xTicks.words[i], Math.min(Math.max(x, half), this.size.width - half), bottom + 7);
    });
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    yTicks.places.forEach((p, i) => {
      const y = this.py(p);
      pen.strokeStyle = INKS.grid;
      stroke(pen, left, y, left + width, y);
      pen.fillText(yTicks.words[i], left - 7, y);
    });
    pen.strokeStyle = INKS.axis;
    stroke(pen, left, bottom, left + width, bottom);
    pen.fillStyle = INKS.ink;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "left";
    pen.fillText(offset(yLabel, yTicks.from), 0, 12);
    pen.textAlign = "right";
    pen.fillText(offset(xLabel, xTicks.from), left + width, bottom + 36);
  }
  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => this.down(e));
    canvas.addEventListener("pointermove", (e) => this.moved(e));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (e) => this.up(e));
    canvas.addEventListener("pointerleave", () => { this.hover = null; this.read(null); this.schedule(); });
    canvas.addEventListener("dblclick", (e) => this.view.zoom(0.4, this.place(e)));
    canvas.addEventListener("wheel", (e) => {
      // A page must scroll under the wheel; a chart that was clicked zooms.
      if (!e.ctrlKey && canvas.getRootNode().activeElement !== canvas) return;
      e.preventDefault();
      this.view.zoom(Math.exp(Math.sign(e.deltaY) * 0.18), this.place(e));
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => this.key(e));
  }
  place(e) {
    const r = this.canvas.getBoundingClientRect();
    return this.at(e.clientX - r.left, e.clientY - r.top);
  }
  down(e) {
    this.canvas.setPointerCapture(e.pointerId);
    this.pointers.set(e.pointerId, e);
    this.travelled = 0;
  }
  moved(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) {
      this.hover = this.place(e);
      this.read(this.hover);
      return this.schedule();
    }
    const others = [...this.pointers.values()].filter((p) => p.pointerId !== e.pointerId);
    const [a, b] = this.view.x, [c, d] = this.yRange;
    if (others.length) {
      const gap = (p) => Math.hypot(p.clientX - others[0].clientX, p.clientY - others[0].clientY) || 1;
      this.view.zoom(gap(before) / gap(e), this.place(e));
    } else {
      const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
      this.travelled += Math.abs(dx) + Math.abs(dy);
      if (this.travelled > 3) this.view.move((-dx * (b - a)) / this.box.width, (dy * (d - c)) / this.box.height);
      this.hover = this.place(e);
      this.read(this.hover);
    }
    this.pointers.set(e.pointerId, e);
  }
  up(e) {
    this.pointers.delete(e.pointerId);
    if (e.type === "pointerup" && this.travelled <= 3) {
      this.hover = this.place(e);
      this.read(this.hover);
      this.clicked?.(this.hover);
      this.schedule();
    }
  }
  key(e) {
    const [a, b] = this.view.x, [c, d] = this.yRange, share = 0.15;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    if (moves[e.key]) this.view.move(moves[e.key][0] * share * (b - a), moves[e.key][1] * share * (d - c));
    else if (e.key === "+" || e.key === "=") this.view.zoom(0.6);
    else if (e.key === "-") this.view.zoom(1 / 0.6);
    else if (e.key === "0" || e.key === "Home") this.view.reset();
    else return;
    e.preventDefault();
  }
  read(place) {
    if (this.readout) this.readout.textContent = place ? this.words(place) : this.quiet;
  }
}

function offset(label, from) {
  if (!from) return label;
  return `${label} ${from < 0 ? "+" : "−"} ${tidy(Math.abs(from))}`;
}

function stroke(pen, x0, y0, x1, y1) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}
