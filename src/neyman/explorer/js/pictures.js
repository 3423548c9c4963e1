// The pictures, each from a choice and its curve.

const SAMPLES = [0, ...Array.from({ length: 28 }, (_, k) => 1e-4 * 10 ** ((2.3 * k) / 27)),
  ...Array.from({ length: 49 }, (_, k) => 0.02 * (k + 1.1))].filter((x) => x <= 1);
const LOW = Array.from({ length: 61 }, (_, k) => Number((10 ** (-6 + k / 10)).toPrecision(6)));

// How wide figures are, measured at once: a measurement after a change costs a layout of the page.
const WIDTHS = new Map();

function measure() {
  const usual = document.getElementById("people").clientWidth;
  for (const figure of document.querySelectorAll("figure")) {
    WIDTHS.set(figure.id, figure.clientWidth || usual);
  }
}

function sizeOf(figure) {
  const width = Math.max(260, Math.min(720, WIDTHS.get(figure.id) ?? WIDTHS.get("people")));
  return [width, Math.round(Math.min(360, Math.max(250, width * 0.68)))];
}

// Place a plot in its figure, below a handle that stays.
function place(figure, plot, title, caption, parts = []) {
  let svg = figure.querySelector("svg.picture");
  if (!svg) {
    svg = svgOf("svg", { class: "picture", role: "group" });
    figure.append(element("figcaption", { id: `${figure.id}-caption` }), svg, element("div", { class: "below" }));
    svg.setAttribute("aria-describedby", `${figure.id}-caption`);
  }
  svg.setAttribute("viewBox", `0 0 ${plot.width} ${plot.height}`);
  svg.setAttribute("aria-label", title);
  svg.querySelector("g:not(.handle):not(.handle *)")?.remove();
  svg.prepend(plot.group);
  figure.querySelector("figcaption").textContent = caption;
  const below = figure.querySelector(".below");
  const open = below.querySelector("details")?.open ?? false;
  below.replaceChildren(...parts);
  const details = below.querySelector("details");
  if (details) details.open = open;
  return svg;
}

function drawTradeoff(figure, curve) {
  const [width, height] = sizeOf(figure);
  const rate = { least: 0, most: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };
  const plot = new Plot(width, Math.max(height, Math.min(360, width * 0.85)),
    new Axis({ ...rate, label: "false alarms among those who are not in the data" }),
    new Axis({ ...rate, label: "missed of those who are" }));
  const found = SAMPLES.map((alpha) => [alpha, curve.tpr(alpha)]);
  const points = [...found.map(([alpha, [low, high]]) => [alpha, 1 - high, 1 - low]), [1, 0, 0]];
  plot.line([[0, 1], [1, 0]], "guess");
  plot.band(points, "band");
  plot.line(points.map(([x, low]) => [x, low]), "curve");
  const rows = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5].map((alpha) => {
    const [low, high] = curve.tpr(alpha);
    return [chosenRate(alpha), `${percent(1 - high, -1)} to ${percent(1 - low, 1)}`];
  });
  place(figure, plot, "Trade-off curve", "No attack lies below the line: fewer false alarms mean more misses", [
    keyOf([["curve", "line", "the fewest that any attack misses"], ["band", "area", "not known exactly"],
      ["guess", "line", "guessing"]]),
    numbersOf(["False alarms", "Missed at least, between"], rows),
  ]);
  return plot;
}

function drawPower(figure, curve) {
  const [width, height] = sizeOf(figure);
  const points = LOW.map((alpha) => [alpha, ...curve.tpr(alpha)]);
  const rate = { least: 1e-6, most: 1, log: true, ticks: powerTicks(1e-6, 1) };
  const plot = new Plot(width, Math.max(height, Math.min(360, width * 0.85)),
    new Axis({ ...rate, label: "false-alarm rate (FPR)" }), new Axis({ ...rate, label: "found (TPR)" }));
  plot.line([[1e-6, 1e-6], [1, 1]], "guess");
  plot.band(points, "band");
  plot.line(points.map(([x, , high]) => [x, high]), "curve");
  const at = curve.tpr(0.001);
  const rows = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2].map((alpha) => {
    const [low, high] = curve.tpr(alpha);
    return [plainly(alpha), atLeast(low, 3), atMost(high, 3), atMost(high / alpha, 3)];
  });
  place(figure, plot, "True positive rate at low false-alarm rates",
    `At one false alarm in 1,000 an attack finds at most ${percent(at[1])}`, [
      keyOf([["curve", "line", "the most that any attack finds"], ["guess", "line", "guessing"]]),
      numbersOf(["FPR", "TPR, best attack at least", "TPR at most", "times guessing, at most"], rows),
    ]);
  return plot;
}

function drawProfile(figure, curve, choice) {
  const [width, height] = sizeOf(figure);
  const floor = 1e-12;
  const ends = [floor, 1e-10, 1e-8, 1e-6, 1e-5].map((delta) => curve.epsilon(delta)[1]).filter(Number.isFinite);
  const span = ends.length && ends[0] > 0 ? Math.min(ends[0] * 1.02, 700) : 1;
  const points = Array.from({ length: 91 }, (_, k) => (span * k) / 90)
    .map((epsilon) => [epsilon, ...curve.delta(epsilon).map((x) => Math.max(x, floor))]);
  const plot = new Plot(width, height,
    new Axis({ least: 0, most: span, ticks: roundTicks(span), label: "epsilon" }),
    new Axis({ least: floor, most: 1, log: true, ticks: powerTicks(floor, 1, 6), label: "delta(epsilon)" }));
  plot.band(points, "band");
  plot.line(points.map(([x, , high]) => [x, high]), "curve");
  const [, most] = curve.epsilon(choice.delta);
  if (most <= span) plot.dot(most, choice.delta, "mark", 5);
  const rows = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12].map((delta) => {
    const [low, high] = curve.epsilon(delta);
    return [plainly(delta), atLeast(low), atMost(high)];
  });
  const caption = Number.isFinite(most)
    ? `At delta = ${plainly(choice.delta)} the epsilon is at most ${atMost(most)}`
    : `At delta = ${plainly(choice.delta)} there is no epsilon`;
  place(figure, plot, "Privacy profile", caption, [
    keyOf([["curve", "line", "delta, at most"], ["band", "area", "not known exactly"], ["mark", "dot", "what you chose"]]),
    numbersOf(["delta", "epsilon at least", "epsilon at most"], rows),
  ]);
}

// Epsilon after so many releases or steps: [[count, lower, upper], ...].
function growthOf(choice, data) {
  if (choice.kind === "training") {
    const [noise, rate] = choice.phases[0];
    return data.grid.steps.map((steps) => [steps, ...knotsAt(noise, rate, steps, data).epsilon(choice.delta)]);
  }
  const most = Math.max(20, choice.count * 2);
  const counts = [...new Set(Array.from({ length: 15 }, (_, k) => Math.round(most ** (k / 14))))];
  return [...new Set([...counts, choice.count])].sort((a, b) => a - b)
    .map((count) => [count, ...curveOf({ ...choice, count }, data).epsilon(choice.delta)]);
}

function drawGrowth(figure, choice, data) {
  const [width, height] = sizeOf(figure);
  const found = growthOf(choice, data).filter(([, , high]) => Number.isFinite(high));
  const training = choice.kind === "training";
  const unit = training ? "step" : "release";
  const last = found[found.length - 1];
  if (!last) return false;
  const top = Math.max(last[2], 1e-6) * 1.05;
  const x = training
    ? new Axis({ least: found[0][0], most: last[0], log: true, ticks: powerTicks(found[0][0], last[0]), label: "steps" })
    : new Axis({ least: 0, most: last[0], ticks: roundTicks(last[0]).filter(Number.isInteger), label: "releases" });
  const plot = new Plot(width, height, x,
    new Axis({ least: 0, most: top, ticks: roundTicks(top), label: `epsilon at delta = ${plainly(choice.delta)}` }));
  if (training) {
    found.slice(1).forEach(([count, , high], place) => {
      const [before, low] = found[place];
      plot.band([[before, low, high], [count, low, high]], "unknown");
    });
    plot.draw("g", {}).append(hatch());
  } else {
    const once = found[0][2];
    plot.line([[0, 0], [last[0], once * last[0]]].map(([a, b]) => [Math.min(a, top / once), Math.min(b, top)]), "other");
    plot.band(found, "band");
    plot.line([[0, 0], ...found.map(([count, , high]) => [count, high])], "curve");
  }
  for (const [count, , high] of found) plot.dot(count, high);
  const chosen = training ? choice.phases[0][2] : choice.count;
  const here = found.find(([count]) => count === chosen);
  if (here) plot.dot(here[0], here[2], "mark", 6);
  const caption = here
    ? `After ${counted(chosen, unit)} the epsilon is at most ${atMost(here[2])}, after ${grouped(last[0])} at most ${atMost(last[2])}`
    : `After ${counted(last[0], unit)} the epsilon is at most ${atMost(last[2])}`;
  place(figure, plot, "Composition", caption, [
    keyOf(training
      ? [["dot", "dot", "epsilon, at most"], ["unknown", "area", "between the stops: somewhere in here"], ["mark", "dot", "what you chose"]]
      : [["curve", "line", "epsilon, at most"], ["other", "line", "if losses are added up"], ["mark", "dot", "what you chose"]]),
    numbersOf([training ? "Steps" : "Releases", "epsilon at least", "epsilon at most"],
      found.map(([count, low, high]) => [grouped(count), atLeast(low), atMost(high)])),
  ]);
  return true;
}

function hatch() {
  const pattern = svgOf("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  pattern.append(svgOf("line", { class: "axis", x1: 0, x2: 0, y1: 0, y2: 7, "stroke-width": 2 }));
  return svgOf("defs", {}, pattern);
}

// A thousand guesses: right by chance, right because of the release, wrong.
function drawPeople(figure, found, prior) {
  const { base, right, chance } = guessesOf(found, prior);
  const [columns, cell] = [50, 12];
  const scaled = (count) => Math.ceil((count * 1000) / base);
  const squares = (from, to) => {
    let path = "";
    for (let k = from; k < to; k += 1) {
      path += `M${(k % columns) * cell + 2},${Math.floor(k / columns) * cell + 2}h8v8h-8z`;
    }
    return path;
  };
  const group = svgOf("g", { "aria-hidden": "true" },
    svgOf("path", { class: "false", d: squares(scaled(right), 1000) }),
    svgOf("path", { class: "coin", d: squares(0, scaled(chance)) }),
    svgOf("path", { class: "gain", d: squares(scaled(chance), scaled(right)) }));
  place(figure, { width: columns * cell, height: 20 * cell, group }, `${base} guesses`,
    right === chance
      ? "The release does not help to guess at all"
      : `The release makes at most ${grouped(right - chance)} more of ${grouped(base)} guesses right`,
    [keyOf([["coin", "area", `right without the release: ${grouped(chance)}`],
      ["gain", "area", `right because of it, at most: ${grouped(right - chance)}`],
      ["false", "area", `wrong, at least: ${grouped(base - right)}`]]),
    ]);
}

function drawAudit(figure, band, curve, verdict) {
  const [width, height] = sizeOf(figure);
  const rate = { least: 0, most: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };
  const plot = new Plot(width, Math.max(height, Math.min(420, width * 0.85)),
    new Axis({ ...rate, label: "false alarms" }), new Axis({ ...rate, label: "missed" }));
  const open = hullAbove(band);
  plot.draw("path", { class: "region", d: `${plot.path([[0, 0], [0, 1], ...open, [1, 0]])}Z` });
  plot.line([[0, 1], [1, 0]], "guess");
  plot.line(SAMPLES.map((alpha) => [alpha, 1 - curve.tpr(alpha)[1]]), "curve");
  plot.line(band.rates, "rates");
  const level = plainly(100 * (1 - band.level));
  place(figure, plot, "Scores against the claim", verdict
    ? `These scores refute the claim, at level ${band.level}`
    : `These scores do not refute the claim, at level ${band.level}`, [
    keyOf([["curve", "line", "the claim"], ["rates", "line", "error rates, as counted"],
      ["region", "area", `the mechanism's own curve runs in here (${level} %, all thresholds at once)`]]),
    element("p", {}, `${grouped(band.inside)} scores with the record and ${grouped(band.outside)} without. `,
      verdict ? "Somewhere the claimed curve lies above what they leave open."
        : "That is no proof of the claim: a better attack may refute it.",
      " The command neyman audit tests more sharply."),
    numbersOf(["False alarms", "Missed"], thinned(band.rates, 12).map(([x, y]) => [percent(x), percent(y)])),
  ]);
}

function thinned(list, most) {
  const every = Math.max(1, Math.ceil(list.length / most));
  return list.filter((_, k) => k % every === 0 || k === list.length - 1);
}

// The upper end of the region. However q is divided, the curve is convex and lies below the points
// moved by both parts; of all divisions the highest counts.
function hullAbove({ rates, q }) {
  const divisions = 16;
  const hulls = Array.from({ length: divisions }, (_, k) => lowerHull(rates.map(([x, y]) =>
    [Math.min(1, x + (q * (k + 1)) / divisions), Math.min(1, y + q - (q * k) / divisions)])));
  return Array.from({ length: 121 }, (_, k) => k / 120)
    .map((x) => [x, Math.max(...hulls.map((hull) => heightAt(hull, x)))]);
}

function lowerHull(points) {
  const hull = [];
  for (const point of [[0, 1], ...points, [1, 0]].sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    while (hull.length > 1 && cross(hull[hull.length - 2], hull[hull.length - 1], point) <= 0) hull.pop();
    hull.push(point);
  }
  return hull;
}

function heightAt(hull, x) {
  const place = hull.findIndex((point) => point[0] >= x);
  if (place <= 0) return 1;
  const [[ax, ay], [bx, by]] = [hull[place - 1], hull[place]];
  return bx > ax ? ay + ((by - ay) * (x - ax)) / (bx - ax) : by;
}

function cross([ax, ay], [bx, by], [cx, cy]) {
  return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}
