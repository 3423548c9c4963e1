// Fields and sliders: native inputs, which the keyboard works.

const LABELS = {
  mu: "mu of each release",
  epsilon: "epsilon of each release",
  failure: "delta of each release",
  count: "Releases",
  group: "Records of one person",
  noise: "Noise multiplier",
  rate: "Sampling rate",
  steps: "Steps",
  delta: "delta, for epsilon",
  prior: "Suspicions that are true",
  alpha: "False-alarm rate",
};
// Stops of a slider over a range, ten to a decade.
const RESOLUTION = 20;

function sliderOf(id, label, { least, most, value, text, changed }) {
  const output = element("output", { for: id }, text(value));
  const input = element("input", { type: "range", id, min: String(least), max: String(most), step: "1", value: String(value) });
  const say = () => {
    output.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  say();
  input.addEventListener("input", () => {
    say();
    changed(Number(input.value));
  });
  return element("div", { class: "control" },
    element("div", { class: "field" }, element("label", { for: id }, label), output), input);
}

// A slider over a list.
function stopSlider(id, label, stops, value, text, changed) {
  return sliderOf(id, label, {
    least: 0, most: stops.length - 1, value: stops.indexOf(value),
    text: (place) => text(stops[place]), changed: (place) => changed(stops[place]),
  });
}

function placeOf(value) {
  return Math.round(RESOLUTION * Math.log10(value));
}

function valueAt(place, name) {
  const value = Number((10 ** (place / RESOLUTION)).toPrecision(2));
  return within(name, value);
}

// A number that is typed, or set by a slider with a logarithmic scale.
function numberField(name, choice, changed) {
  const { least, most, whole } = FIELDS[name];
  const number = element("input", {
    type: "number", id: name, min: String(least), max: String(most), step: whole ? "1" : "any", value: String(choice[name]),
  });
  const slider = element("input", {
    type: "range", id: `${name}-slider`, "aria-label": `${LABELS[name]}, slider`, step: "1",
    min: String(whole ? least : placeOf(least)), max: String(whole ? most : placeOf(most)),
  });
  const show = (value) => {
    slider.value = String(whole ? value : placeOf(value));
    slider.setAttribute("aria-valuetext", plainly(value));
  };
  show(choice[name]);
  number.addEventListener("change", () => {
    const value = within(name, number.value);
    number.value = String(value);
    show(value);
    changed(value);
  });
  slider.addEventListener("input", () => {
    const value = whole ? Number(slider.value) : valueAt(Number(slider.value), name);
    number.value = String(value);
    slider.setAttribute("aria-valuetext", plainly(value));
    changed(value);
  });
  return element("div", { class: "control" },
    element("div", { class: "field" }, element("label", { for: name }, LABELS[name]), number), slider);
}

function phaseFields(choice, grid, update) {
  const several = choice.phases.length > 1;
  const parts = choice.phases.map((phase, place) => {
    const set = (index) => (value) => update((now) => ({
      ...now, phases: now.phases.map((old, k) => (k === place ? old.map((x, j) => (j === index ? value : x)) : old)),
    }), false);
    const id = (name) => `${name}-${place + 1}`;
    const remove = element("button", { type: "button", "aria-label": `Remove phase ${place + 1}` }, "Remove");
    remove.addEventListener("click", () => update((now) => ({ ...now, phases: now.phases.filter((_, k) => k !== place) }), true));
    return element("div", several ? { class: "phase", role: "group", "aria-label": `Phase ${place + 1}` } : {},
      ...(several ? [element("div", { class: "phase-head" }, `Phase ${place + 1}`, remove)] : []),
      stopSlider(id("noise"), LABELS.noise, grid.noises, phase[0], plainly, set(0)),
      stopSlider(id("rate"), LABELS.rate, grid.rates, phase[1], plainly, set(1)),
      stopSlider(id("steps"), LABELS.steps, grid.steps, phase[2], grouped, set(2)));
  });
  const more = element("button", { type: "button" }, "Add a phase");
  more.disabled = choice.phases.length >= MOST_PHASES;
  more.addEventListener("click", () => update((now) => ({ ...now, phases: [...now.phases, now.phases[now.phases.length - 1]] }), true));
  return [...parts, element("p", {}, more)];
}

const SCOPES = {
  gaussian: "The Gaussian mechanism on sums: mu is the sensitivity divided by the standard deviation of the noise.",
  laplace: "One release with the Laplace mechanism: epsilon is the sensitivity divided by the scale of the noise. "
    + "For several releases use Python: ny.laplace(1) ** 10.",
  pure: "The most that any mechanism with this epsilon loses. Randomized response attains it.",
  approx: "The most that any mechanism with this epsilon and delta loses.",
  training: "Poisson sampling: each record enters each batch by a coin of its own. All steps are released. "
    + "The sliders stop where the library computed the bounds.",
};

function showControls(choice, grid, update) {
  at("kind").value = choice.kind;
  const set = (name) => (value) => update((now) => ({ ...now, [name]: value }), false);
  const names = fieldsOf(choice.kind);
  at("phases").hidden = choice.kind !== "training";
  at("phases").replaceChildren(...(choice.kind === "training" ? phaseFields(choice, grid, update) : []));
  at("fields").replaceChildren(...names.map((name) => numberField(name, choice, set(name))));
  const decades = grid.deltas.filter((delta) => Number.isInteger(Math.round(1e9 * Math.log10(delta)) / 1e9));
  at("views").replaceChildren(
    stopSlider("delta", LABELS.delta, decades.includes(choice.delta) ? decades : grid.deltas, choice.delta, plainly, set("delta")),
    stopSlider("prior", LABELS.prior, [...grid.priors].reverse(), choice.prior, (x) => `${plainly(100 * Number(x))} %`, set("prior")),
    sliderOf("alpha", LABELS.alpha, {
      least: placeOf(FIELDS.alpha.least), most: -1, value: Math.min(-1, placeOf(choice.alpha)),
      text: (place) => chosenRate(valueAt(place, "alpha")), changed: (place) => set("alpha")(valueAt(place, "alpha")),
    }),
  );
  at("scope").textContent = SCOPES[choice.kind];
}

// The dashed line of a picture: dragged, or moved by the arrow keys.
function handleOf(figure, plot, choice, curve, upward, changed) {
  const svg = figure.querySelector("svg.picture");
  let handle = svg.querySelector(".handle");
  if (!handle) {
    handle = svgOf("g", { class: "handle", role: "slider", tabindex: "0", "aria-label": "False-alarm rate" },
      svgOf("line"), svgOf("rect", { class: "catch", width: 36 }), svgOf("circle", { class: "grip", r: 7 }));
    svg.append(handle);
  }
  const place = plot.left(choice.alpha);
  const [, high] = curve.tpr(choice.alpha);
  const [line, surface, grip] = handle.children;
  const ends = [plot.height - MARGIN.bottom, MARGIN.top];
  Object.entries({ x1: place, x2: place, y1: ends[0], y2: ends[1] }).forEach(([k, v]) => line.setAttribute(k, v));
  Object.entries({ x: place - 18, y: ends[1], height: ends[0] - ends[1] }).forEach(([k, v]) => surface.setAttribute(k, v));
  Object.entries({ cx: place, cy: plot.top(upward ? high : 1 - high) }).forEach(([k, v]) => grip.setAttribute(k, v));
  const state = {
    "aria-valuemin": FIELDS.alpha.least, "aria-valuemax": FIELDS.alpha.most, "aria-valuenow": choice.alpha,
    "aria-valuetext": `${chosenRate(choice.alpha)} false alarms: at most ${percent(high)} found`,
  };
  Object.entries(state).forEach(([k, v]) => handle.setAttribute(k, v));
  const move = (value) => changed(within("alpha", Number(value.toPrecision(2))));
  const pull = (event) => {
    const box = svg.getBoundingClientRect();
    move(Math.max(FIELDS.alpha.least, plot.valueAt(((event.clientX - box.left) / box.width) * plot.width)));
  };
  svg.onpointerdown = (event) => {
    svg.setPointerCapture(event.pointerId);
    pull(event);
  };
  svg.onpointermove = (event) => {
    if (svg.hasPointerCapture(event.pointerId)) pull(event);
  };
  handle.onkeydown = (event) => {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
    const end = { Home: FIELDS.alpha.least, End: FIELDS.alpha.most }[event.key];
    if (steps === undefined && end === undefined) return;
    event.preventDefault();
    if (end !== undefined) move(end);
    else move(neighbour(choice.alpha, steps));
  };
}

// The next number with two digits, a few steps away.
function neighbour(value, steps) {
  let found = value;
  for (let k = 0; k < Math.abs(steps); k += 1) {
    const unit = 10 ** (Math.floor(Math.log10(found) + 1e-9) - 1);
    const next = found + Math.sign(steps) * unit * (found < 10.5 * unit && steps < 0 ? 0.1 : 1);
    found = Number(next.toPrecision(2));
  }
  return found;
}
