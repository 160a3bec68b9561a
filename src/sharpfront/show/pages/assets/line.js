// Curves over one coordinate. The window moves along x; the height follows what is seen.
// The height of a line of words.
const LETTERS = 14;

class LineChart extends Chart {
  // content: { series, dots, bars, levels, xLabel, yLabel, log, fixed, whole }
  show(content) {
    this.content = content;
    this.schedule();
  }
  draw(pen) {
    const c = this.content;
    if (!c) return;
    this.yRange = c.fixed ?? this.seen();
    const height = this.size.height - 24 - 42;
    const rows = Math.max(2, Math.floor(height / 44));
    const yTicks = c.log ? logarithmic(...this.yRange, rows) : labelled(...this.yRange, rows, this.yRange);
    const left = Math.max(30, ...yTicks.words.map((w) => pen.measureText(w).width)) + 12;
    this.box = { left, top: 24, width: this.size.width - left - 10, height };
    const columns = Math.max(2, Math.floor(this.box.width / 84));
    const xTicks = labelled(...this.view.x, columns, this.view.home.x, c.whole ? 1 : 0);
    this.axes(pen, xTicks, yTicks, c.xLabel, bare(c.yLabel));
    pen.save();
    pen.beginPath();
    pen.rect(this.box.left, this.box.top - 4, this.box.width, this.box.height + 8);
    pen.clip();
    for (const level of c.levels ?? []) this.level(pen, level);
    for (const series of c.series ?? []) this.curve(pen, series);
    if (c.dots) this.dots(pen, c.dots);
    for (const bar of c.bars ?? []) this.bar(pen, bar);
    if (this.hover) this.marker(pen);
    pen.restore();
  }
  seen() {
    const [a, b] = this.view.x;
    let ends = [Infinity, -Infinity];
    for (const { x, y, ignored } of this.content.series ?? []) {
      if (ignored) continue;
      const first = Math.max(0, nearest(x, a) - 1), last = Math.min(x.length, nearest(x, b) + 2);
      ends = extent(y.subarray ? y.subarray(first, last) : y.slice(first, last), ends);
    }
    for (const { y } of this.content.levels ?? []) ends = extent([y], ends);
    return padded(ends);
  }
  curve(pen, { x, y, colour, faint, marked }) {
    pen.strokeStyle = INKS[faint ? "faint" : colour];
    pen.lineWidth = faint ? 1.2 : 1.8;
    pen.lineJoin = "round";
    pen.beginPath();
    let drawing = false;
    for (let i = 0; i < x.length; i++) {
      if (!Number.isFinite(y[i])) { drawing = false; continue; }
      if (drawing) pen.lineTo(this.px(x[i]), this.py(y[i])); else pen.moveTo(this.px(x[i]), this.py(y[i]));
      drawing = true;
    }
    pen.stroke();
    if (!marked) return;
    pen.fillStyle = INKS[colour];
    for (let i = 0; i < x.length; i++) disc(pen, this.px(x[i]), this.py(y[i]), 3.2);
  }
  level(pen, { y, label }) {
    const py = this.py(y), { left, top, width } = this.box;
    pen.strokeStyle = pen.fillStyle = INKS.good;
    pen.setLineDash([5, 4]);
    stroke(pen, left, py, left + width, py);
    pen.setLineDash([]);
    pen.textAlign = "right";
    // Above its line where there is room for it, otherwise below.
    const above = py - 3 - LETTERS >= top;
    pen.textBaseline = above ? "bottom" : "top";
    pen.fillText(label, left + width - 4, above ? py - 3 : py + 4);
  }
  bar(pen, { x, y, half }) {
    // A component: one standard deviation to either side.
    const py = this.py(y), ends = [this.px(x - half), this.px(x + half)];
    for (const [colour, room] of [[INKS.paper, 1.5], [INKS.orange, 0]]) {
      pen.strokeStyle = pen.fillStyle = colour;
      pen.lineWidth = 2 + 2 * room;
      stroke(pen, ends[0] - room, py, ends[1] + room, py);
      for (const end of ends) stroke(pen, end, py - 4 - room, end, py + 4 + room);
      pen.fillRect(this.px(x) - 3.5 - room, py - 3.5 - room, 7 + 2 * room, 7 + 2 * room);
    }
  }
  dots(pen, { x, y }) {
    pen.fillStyle = INKS.blue;
    for (let i = 0; i < x.length; i++) disc(pen, this.px(x[i]), this.py(y[i]), 2.6);
  }
  marker(pen) {
    const found = this.found(this.hover);
    if (!found) return;
    pen.strokeStyle = INKS.soft;
    pen.lineWidth = 1;
    stroke(pen, this.px(found.x), this.box.top, this.px(found.x), this.box.top + this.box.height);
    pen.fillStyle = INKS.ink;
    for (const y of found.heights) if (Number.isFinite(y)) disc(pen, this.px(found.x), this.py(y), 3.5);
  }
  found(place) {
    const own = (this.content.series ?? []).filter((s) => !s.faint && s.x.length);
    if (own.length) {
      const i = nearest(own[0].x, place.x);
      return { x: own[0].x[i], i, heights: own.map((s) => s.y[nearest(s.x, own[0].x[i])]) };
    }
    const dots = this.content.dots;
    if (!dots?.x.length) return null;
    const i = nearest(dots.x, place.x);
    return { x: dots.x[i], i, heights: [dots.y[i]] };
  }
  words(place) {
    const found = this.found(place), c = this.content;
    if (!found) return this.quiet;
    if (c.read) return c.read(found);
    return `${c.xLabel} = ${tidy(found.x, 10)}: ${found.heights.map((y) => value(c.yLabel, y, c.log)).join(", ")}`;
  }
}

function value(label, height, log) {
  return log ? `${bare(label)} = ${tidy(10 ** height, 4)}` : `${label} = ${tidy(height, 7)}`;
}

// Axes and words show sizes themselves where the data are their logarithms.
function bare(label) {
  return label.replace(/^log10 /, "");
}

function disc(pen, x, y, radius) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}
