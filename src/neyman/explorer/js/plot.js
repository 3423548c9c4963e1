// Pictures: axes, lines and bands in an SVG element that is as wide as its place.

const SVG = "http://www.w3.org/2000/svg";

function svgOf(name, attributes = {}, ...children) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...children);
  return found;
}

function element(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) found.setAttribute(key, "");
    else if (value !== false && value !== null) found.setAttribute(key, value);
  }
  found.append(...children);
  return found;
}

const MARGIN = { left: 52, right: 14, top: 12, bottom: 40 };

class Axis {
  constructor({ least, most, log: logarithmic = false, ticks, label }) {
    Object.assign(this, { least, most, logarithmic, label, ticks });
  }

  share(value) {
    const at = Math.min(this.most, Math.max(this.least, value));
    if (!this.logarithmic) return (at - this.least) / (this.most - this.least);
    return Math.log(at / this.least) / Math.log(this.most / this.least);
  }

  value(share) {
    const at = Math.min(1, Math.max(0, share));
    if (!this.logarithmic) return this.least + at * (this.most - this.least);
    return this.least * (this.most / this.least) ** at;
  }
}

// Ticks of a linear axis from 0: a few round numbers.
function roundTicks(most, count = 5) {
  const raw = most / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((x) => x * power >= raw * 0.999) * power;
  const found = [];
  for (let k = 0; k * step <= most * 1.0001; k += 1) found.push(Number((k * step).toPrecision(6)));
  return found;
}

function powerTicks(least, most, most_count = 7) {
  const [low, high] = [Math.ceil(Math.log10(least) - 1e-9), Math.floor(Math.log10(most) + 1e-9)];
  const every = Math.max(1, Math.ceil((high - low) / most_count));
  const found = [];
  for (let power = high; power >= low; power -= every) found.push(Number(`1e${power}`));
  return found.reverse();
}

class Plot {
  constructor(width, height, x, y) {
    Object.assign(this, { width, height, x, y });
    this.group = svgOf("g", { "aria-hidden": "true" });
    this.axes();
  }

  left(value) {
    return MARGIN.left + this.x.share(value) * (this.width - MARGIN.left - MARGIN.right);
  }

  top(value) {
    return this.height - MARGIN.bottom - this.y.share(value) * (this.height - MARGIN.top - MARGIN.bottom);
  }

  // The value on the x axis at a place in pixels.
  valueAt(place) {
    return this.x.value((place - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right));
  }

  axes() {
    const [low, high] = [this.height - MARGIN.bottom, MARGIN.top];
    for (const tick of this.x.ticks) {
      const at = this.left(tick);
      this.draw("line", { class: "grid", x1: at, x2: at, y1: low, y2: high });
      this.text(tickText(tick), at, low + 16, "middle", "note");
    }
    for (const tick of this.y.ticks) {
      const at = this.top(tick);
      this.draw("line", { class: "grid", x1: MARGIN.left, x2: this.width - MARGIN.right, y1: at, y2: at });
      this.text(tickText(tick), MARGIN.left - 6, at + 4, "end", "note");
    }
    this.draw("path", { class: "axis", d: `M${MARGIN.left},${high}V${low}H${this.width - MARGIN.right}` });
    this.text(this.x.label, (MARGIN.left + this.width - MARGIN.right) / 2, this.height - 6, "middle");
    const middle = (low + high) / 2;
    const label = this.text(this.y.label, 12, middle, "middle");
    label.setAttribute("transform", `rotate(-90 12 ${middle})`);
  }

  draw(name, attributes) {
    const found = svgOf(name, attributes);
    this.group.append(found);
    return found;
  }

  text(words, x, y, anchor = "start", kind = "") {
    const found = this.draw("text", { x, y, "text-anchor": anchor, class: kind });
    found.textContent = words;
    return found;
  }

  path(points) {
    return points.map(([x, y], place) =>
      `${place ? "L" : "M"}${this.left(x).toFixed(1)},${this.top(y).toFixed(1)}`).join("");
  }

  line(points, kind) {
    if (points.length) this.draw("path", { class: kind, d: this.path(points) });
  }

  // Between two lines over the same places: [[x, lower, upper], ...].
  band(points, kind) {
    if (!points.length) return;
    const lower = points.map(([x, low]) => [x, low]);
    const upper = points.map(([x, , high]) => [x, high]).reverse();
    this.draw("path", { class: kind, d: `${this.path([...lower, ...upper])}Z` });
  }

  dot(x, y, kind = "dot", radius = 4) {
    this.draw("circle", { class: kind, cx: this.left(x), cy: this.top(y), r: radius });
  }
}

// The key of a picture: [[class, shape, words], ...].
function keyOf(entries) {
  return element("ul", { class: "key" }, ...entries.map(([kind, shape, words]) => {
    const sign = shape === "area"
      ? svgOf("rect", { class: kind, x: 2, y: 2, width: 24, height: 10 })
      : shape === "dot" ? svgOf("circle", { class: kind, cx: 14, cy: 7, r: 4 })
        : svgOf("line", { class: kind, x1: 1, x2: 27, y1: 7, y2: 7 });
    return element("li", {}, svgOf("svg", { viewBox: "0 0 28 14", "aria-hidden": "true" }, sign), words);
  }));
}

// A table that says the numbers of a picture.
function numbersOf(heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = rows.map((row) => element("tr", {}, ...row.map((text, place) =>
    (place ? element("td", {}, text) : element("th", { scope: "row" }, text)))));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("details", {}, element("summary", {}, "The numbers of this picture"),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Numbers of the picture" }, table));
}
