// A colour map over a plane with kernels as ellipses, and the lines along which it is cut.
const MOST_ELLIPSES = 150;

class MapChart extends Chart {
  // content: { x, y, values, scale, outline, ellipses, components, cut, label, log, axes }
  show(content) {
    this.content = content;
    this.colours ??= new Map();
    this.schedule();
  }
  draw(pen) {
    const c = this.content;
    if (!c) return;
    this.yRange = this.view.y;
    const rows = Math.max(2, Math.floor((this.size.height - 70) / 50));
    const yTicks = labelled(...this.yRange, rows, this.view.home.y);
    const left = Math.max(24, ...yTicks.words.map((w) => pen.measureText(w).width)) + 12;
    this.box = this.fitted(left, 24, this.size.width - left - 76, this.size.height - 24 - 42);
    const wanted = Math.round(this.box.height + 66);
    if (this.equal && Math.abs(wanted - this.size.height) > 2) this.canvas.style.height = `${wanted}px`;
    const columns = Math.max(2, Math.floor(this.box.width / 84));
    const xTicks = labelled(...this.view.x, columns, this.view.home.x);
    this.axes(pen, xTicks, yTicks, c.axes[0], c.axes[1]);
    pen.save();
    const { left: x, top, width, height } = this.box;
    pen.beginPath();
    pen.rect(x, top, width, height);
    pen.clip();
    pen.save();
    this.clipToOutline(pen);
    this.image(pen);
    // Kernels are cut to the domain like the map itself.
    this.dotted = c.ellipses && this.crowded(c.ellipses.c);
    if (c.ellipses && !this.dotted) this.ellipses(pen, c.ellipses, INKS.blue, 0.9);
    if (c.ellipses) this.dots(pen, c.ellipses.c);
    if (c.components) this.ellipses(pen, c.components, INKS.orange, 1.2);
    pen.restore();
    this.edge(pen);
    c.told?.(this.dotted);
    if (c.cutting) this.cutLines(pen);
    pen.restore();
    this.cutMarks(pen);
    this.colourBar(pen);
  }
  fitted(left, top, width, height) {
    // Equal scales where that leaves something to see.
    const [a, b] = this.view.home.x, [c, d] = this.view.home.y, aspect = (b - a) / (d - c);
    this.equal = aspect <= 4 && aspect >= 0.25;
    if (!this.equal) return { left, top, width, height };
    const scale = Math.min(width / (b - a), 560 / (d - c));
    return { left, top, width: scale * (b - a), height: scale * (d - c) };
  }
  path(pen) {
    pen.beginPath();
    for (const packed of this.content.outline) {
      const points = array(packed);
      for (let i = 0; i < points.length; i += 2) {
        const [x, y] = [this.px(points[i]), this.py(points[i + 1])];
        if (i) pen.lineTo(x, y); else pen.moveTo(x, y);
      }
      pen.closePath();
    }
  }
  clipToOutline(pen) {
    if (!this.content.outline.length) return;
    this.path(pen);
    pen.clip("evenodd");
  }
  edge(pen) {
    pen.strokeStyle = INKS.axis;
    pen.lineWidth = 1;
    if (!this.content.outline.length) return pen.strokeRect(this.box.left, this.box.top, this.box.width, this.box.height);
    this.path(pen);
    pen.stroke();
  }
  image(pen) {
    const width = Math.max(1, Math.round(this.box.width)), height = Math.max(1, Math.round(this.box.height));
    const cells = this.cells(width, height), table = this.table(), { low, high } = this.content.scale;
    const image = new ImageData(width, height), bytes = image.data;
    for (let i = 0; i < cells.length; i++) {
      const v = cells[i];
      if (Number.isNaN(v)) continue;
      const k = 3 * Math.min(255, Math.max(0, Math.round((255 * (v - low)) / (high - low))));
      bytes[4 * i] = table[k]; bytes[4 * i + 1] = table[k + 1]; bytes[4 * i + 2] = table[k + 2]; bytes[4 * i + 3] = 255;
    }
    const sheet = document.createElement("canvas");
    sheet.width = width; sheet.height = height;
    sheet.getContext("2d").putImageData(image, 0, 0);
    pen.drawImage(sheet, this.box.left, this.box.top, this.box.width, this.box.height);
  }
  cells(width, height) {
    const { x, y, values } = this.content, [a, b] = this.view.x, [c, d] = this.yRange;
    const columns = weights(x, width, (i) => a + ((i + 0.5) / width) * (b - a));
    const rows = weights(y, height, (j) => d - ((j + 0.5) / height) * (d - c));
    const out = new Float32Array(width * height);
    for (let j = 0; j < height; j++) {
      const [r0, r1, s] = rows[j], low = r0 * x.length, high = r1 * x.length;
      for (let i = 0; i < width; i++) {
        const [k0, k1, t] = columns[i];
        out[j * width + i] = mixed(values[low + k0], values[low + k1], values[high + k0], values[high + k1], s, t);
      }
    }
    this.sharpen(out, width, height);
    return out;
  }
  // A layer thinner than a dot shows as a line one dot wide: of the nodes in a dot, the one that
  // is further beyond the dots beside it than these differ.
  sharpen(out, width, height) {
    const { x, y, values } = this.content, [a, b] = this.view.x, [c, d] = this.yRange;
    const least = new Map(), most = new Map();
    for (let r = 0; r < y.length; r++) {
      const j = Math.min(height - 1, Math.floor(((d - y[r]) / (d - c)) * height));
      if (j < 0 || y[r] < c) continue;
      for (let k = 0; k < x.length; k++) {
        const i = Math.min(width - 1, Math.floor(((x[k] - a) / (b - a)) * width)), v = values[r * x.length + k];
        if (i < 0 || x[k] > b || Number.isNaN(v)) continue;
        const at = j * width + i;
        if (!(least.get(at) <= v)) least.set(at, v);
        if (!(most.get(at) >= v)) most.set(at, v);
      }
    }
    const before = out.slice();
    for (const [at, low] of least) {
      const i = at % width, j = (at - i) / width;
      let [under, over] = [Infinity, -Infinity];
      for (let q = Math.max(0, j - 1); q <= Math.min(height - 1, j + 1); q++) {
        for (let p = Math.max(0, i - 1); p <= Math.min(width - 1, i + 1); p++) {
          const v = before[q * width + p];
          if (v < under) under = v;
          if (v > over) over = v;
        }
      }
      const slope = over - under, high = most.get(at);
      if (under - low > Math.max(high - over, slope)) out[at] = low;
      else if (high - over > Math.max(under - low, slope)) out[at] = high;
    }
  }
  table() {
    const hex = this.content.scale.colours;
    if (!this.colours.has(hex)) {
      this.colours.set(hex, Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16)));
    }
    return this.colours.get(hex);
  }
  crowded(c) {
    // So many ellipses would hide what they are drawn over.
    const [a, b] = this.view.x, [low, high] = this.yRange;
    let seen = 0;
    for (let i = 0; i < c.length; i += 2) {
      if (c[i] >= a && c[i] <= b && c[i + 1] >= low && c[i + 1] <= high) seen++;
    }
    return seen > MOST_ELLIPSES;
  }
  dots(pen, c) {
    for (const [colour, radius] of [["rgba(255, 255, 255, 0.6)", 1.9], [INKS.blue, 1.2]]) {
      pen.fillStyle = colour;
      for (let i = 0; i < c.length; i += 2) disc(pen, this.px(c[i]), this.py(c[i + 1]), radius);
    }
  }
  ellipses(pen, { c, e }, colour, width) {
    const sx = this.px(1) - this.px(0), sy = this.py(0) - this.py(1);
    pen.beginPath();
    for (let i = 0; i < c.length / 2; i++) {
      // The circle under the Cholesky factor of the covariance.
      const a = Math.sqrt(e[3 * i]), b = e[3 * i + 1] / a, h = Math.sqrt(Math.max(0, e[3 * i + 2] - b * b));
      const x = this.px(c[2 * i]), y = this.py(c[2 * i + 1]);
      for (let k = 0; k <= 96; k++) {
        const p = Math.cos((k * Math.PI) / 48), q = Math.sin((k * Math.PI) / 48);
        const [u, v] = [x + sx * a * p, y - sy * (b * p + h * q)];
        if (k) pen.lineTo(u, v); else pen.moveTo(u, v);
      }
    }
    // A pale line beneath tells the ellipses from every colour of the map.
    pen.strokeStyle = "rgba(255, 255, 255, 0.45)";
    pen.lineWidth = width + 1.2;
    pen.stroke();
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.stroke();
  }
  // Where the cuts are: marks beside the map, which hide nothing of it.
  cutMarks(pen) {
    const { cut } = this.content, { left, top, width, height } = this.box;
    pen.fillStyle = INKS.ink;
    const mark = (x, y, dx, dy) => {
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + 7 * dx - 4 * dy, y + 7 * dy - 4 * dx);
      pen.lineTo(x + 7 * dx + 4 * dy, y + 7 * dy + 4 * dx);
      pen.fill();
    };
    const x = this.px(cut.x), y = this.py(cut.y);
    if (x >= left && x <= left + width) mark(x, top - 1, 0, -1);
    if (y >= top && y <= top + height) mark(left + width + 1, y, 1, 0);
  }
  // Lines across the map while a cut is being moved.
  cutLines(pen) {
    const { cut } = this.content, { left, top, width, height } = this.box;
    pen.lineWidth = 1;
    for (const [colour, dash] of [["#fff", []], ["#000", [4, 4]]]) {
      pen.strokeStyle = colour;
      pen.setLineDash(dash);
      stroke(pen, this.px(cut.x), top, this.px(cut.x), top + height);
      stroke(pen, left, this.py(cut.y), left + width, this.py(cut.y));
    }
    pen.setLineDash([]);
  }
  colourBar(pen) {
    const { scale, log } = this.content, table = this.table();
    const x = this.box.left + this.box.width + 16, { top, height } = this.box, width = 12;
    for (let i = 0; i < height; i++) {
      const k = 3 * Math.round(255 * (1 - i / Math.max(1, height - 1)));
      pen.fillStyle = `rgb(${table[k]},${table[k + 1]},${table[k + 2]})`;
      pen.fillRect(x, top + i, width, 1.5);
    }
    const count = Math.max(2, Math.floor(height / 55));
    const marks = log ? logarithmic(scale.low, scale.high, count) : labelled(scale.low, scale.high, count, [0, 0]);
    pen.fillStyle = INKS.soft;
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    marks.places.forEach((v, i) => {
      const y = top + height * (1 - (v - scale.low) / (scale.high - scale.low));
      pen.fillText(marks.words[i], x + width + 6, Math.min(Math.max(y, top + 6), top + height - 6));
    });
  }
  clicked(place) { this.content.choose?.(place); }
  words(place) {
    const c = this.content;
    const v = sampled(c, place.x, place.y);
    const where = `${c.axes[0]} = ${tidy(place.x, 7)}, ${c.axes[1]} = ${tidy(place.y, 7)}`;
    return Number.isNaN(v) ? `${where}: outside` : `${where}: ${value(c.label, v, c.log)}`;
  }
}

// For each dot the two nodes beside it and the share of the second.
function weights(nodes, count, place) {
  const out = [];
  for (let i = 0; i < count; i++) out.push(between(nodes, place(i)));
  return out;
}

function between(nodes, x) {
  let low = 0, high = nodes.length - 1;
  if (!(x >= nodes[0] && x <= nodes[high])) return x < nodes[0] ? [0, 0, 0] : [high, high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (nodes[middle] <= x) low = middle; else high = middle;
  }
  return [low, high, (x - nodes[low]) / (nodes[high] - nodes[low])];
}

function mixed(a, b, c, d, s, t) {
  const v = (1 - s) * ((1 - t) * a + t * b) + s * ((1 - t) * c + t * d);
  // Beside the boundary some of the four are missing: the nearest one speaks for them.
  if (!Number.isNaN(v)) return v;
  return s < 0.5 ? (t < 0.5 ? a : b) : t < 0.5 ? c : d;
}

// Whether a place is within closed curves: a ray to the right crosses them an odd number of times.
function within(outline, px, py) {
  if (!outline.length) return true;
  let odd = false;
  for (const packed of outline) {
    const points = array(packed), n = points.length;
    for (let i = 0, j = n - 2; i < n; j = i, i += 2) {
      if (points[i + 1] > py === points[j + 1] > py) continue;
      const share = (py - points[i + 1]) / (points[j + 1] - points[i + 1]);
      if (px < points[i] + share * (points[j] - points[i])) odd = !odd;
    }
  }
  return odd;
}

function sampled({ x, y, values, outline }, px, py) {
  if (px < x[0] || px > x[x.length - 1] || py < y[0] || py > y[y.length - 1]) return NaN;
  if (!within(outline, px, py)) return NaN;
  const [k0, k1, t] = between(x, px), [r0, r1, s] = between(y, py), n = x.length;
  return mixed(values[r0 * n + k0], values[r0 * n + k1], values[r1 * n + k0], values[r1 * n + k1], s, t);
}
