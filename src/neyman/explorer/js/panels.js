// What is said beside the pictures.

const at = (id) => document.getElementById(id);

// One number, with its bracket where the test and other programs find it.
function numberBox(name, label, found, text, beside) {
  const value = element("dd", {
    "data-view": name, "data-lower": String(found[0]), "data-upper": String(found[1]),
  }, text, element("small", {}, beside));
  return element("div", {}, element("dt", {}, label), value);
}

function bracketText([low, high], digits = 6) {
  return Number.isFinite(high) ? `between ${atLeast(low, digits)} and ${atMost(high, digits)}` : `at least ${atLeast(low, digits)}`;
}

function showSummary(choice, curve, grid) {
  const guess = guessOf(curve, choice.prior, grid);
  const [before, bold, after] = headlineOf(guess, choice.prior);
  at("headline").replaceChildren(before, element("strong", {}, bold), after);
  const epsilon = curve.epsilon(choice.delta);
  const advantage = curve.delta(0);
  const power = curve.tpr(choice.alpha);
  at("numbers").replaceChildren(
    numberBox("epsilon", `epsilon at delta = ${plainly(choice.delta)}`, epsilon,
      Number.isFinite(epsilon[1]) ? `at most ${atMost(epsilon[1])}` : "no limit", bracketText(epsilon)),
    numberBox("advantage", "advantage of an attack", advantage, `at most ${percent(advantage[1])}`, bracketText(advantage)),
    numberBox("tpr", `found at ${chosenRate(choice.alpha)} false alarms`, power, `at most ${percent(power[1])}`, bracketText(power)),
    numberBox("guess", "guesses that are right", guess, `at most ${percent(guess[1])}`, bracketText(guess)),
  );
  const limit = Number.isFinite(epsilon[1]) ? ` · ε ≤ ${atMost(epsilon[1])}` : "";
  at("bar").textContent = `${bold.replace("guesses are ", "")}${limit}`;
  at("known").hidden = !curve.coarse;
  at("known").textContent = curve.coarse
    ? "Few numbers are known of this training, because it samples so seldom. The bounds hold, and they are wide; "
      + "the command below gives more exact ones."
    : "";
  return { guess, epsilon, power };
}

function showSentences(choice, curve, power) {
  at("sentences").replaceChildren(...[
    powerSentence(choice.alpha, power),
    beliefSentence(choice.alpha, power, choice.prior),
    advantageSentence(curve.delta(0)),
    certainSentence(curve),
  ].map((text) => element("li", {}, text)));
}

let speaking = 0;

// Read out once the sliders rest.
function speak(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => { at("spoken").textContent = text; }, 600);
}

// What a number of another method is, against the bracket of this page.
function verdictOf({ value, proved = true }, epsilon) {
  if (value < epsilon[0]) return "Too small: this is not a guarantee";
  if (!proved) {
    return value < epsilon[1] ? "No proof: it may be too small" : "No proof: it happens to be large enough here";
  }
  const times = value / epsilon[1];
  return Number.isFinite(times) && times >= 1 ? `Valid, ${atMost(times, 3)} times as large` : "Valid";
}

function showMethods(choice, epsilon, methods) {
  at("methods-section").hidden = methods.length === 0;
  const row = (method) => {
    const { name, value } = method;
    const [title, source] = METHODS[name];
    const small = value < epsilon[0];
    const verdict = element("td", { class: small ? "text small" : "text" }, verdictOf(method, epsilon));
    const number = element("td", small ? { class: "small" } : {}, atMost(value));
    number.dataset.method = name;
    number.dataset.value = String(value);
    return element("tr", {}, element("th", { scope: "row", class: "text" }, title, element("small", {}, ` ${source}`)), number, verdict);
  };
  const own = element("tr", { class: "sum" }, element("th", { scope: "row", class: "text" }, "This page"),
    element("td", {}, atMost(epsilon[1])), element("td", { class: "text" }, "Proved"));
  const head = element("tr", {}, ...["Method", `epsilon at delta = ${plainly(choice.delta)}`, "What it is"]
    .map((text, place) => element("th", { scope: "col", class: place === 1 ? null : "text" }, text)));
  const small = methods.some(({ value }) => value < epsilon[0]);
  const open = methods.some(({ value, proved = true }) => !proved && value >= epsilon[0] && value < epsilon[1]);
  at("methods").replaceChildren(
    element("p", {}, small
      ? "A number in red is smaller than what an attack achieves. Whoever publishes it promises too much."
      : open ? "A number without a proof may be too small here: what an attack achieves is not known exactly enough."
        : "All of these numbers are large enough here. Larger ones cost accuracy."),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Other methods" },
      element("table", {}, element("thead", {}, head), element("tbody", {}, own, ...methods.map(row)))),
  );
}

function showShuffle(choice, epsilon, data) {
  const [noise, rate, steps] = choice.phases[0];
  const passes = rate * steps;
  const shown = choice.kind === "training" && choice.phases.length === 1 && choice.group === 1 && passes >= 1;
  at("shuffle-section").hidden = !shown;
  if (!shown) return;
  const attack = shuffledAt(noise, rate, data).epsilon(choice.delta);
  const whole = Math.ceil(passes - 1e-9);
  const bound = new Gaussian(div([whole, whole], mul(decimal(noise), decimal(noise)))).epsilon(choice.delta);
  const broken = attack[0] > epsilon[1];
  const bar = (title, low, high) => ({ title, low, high });
  const bars = [bar("Poisson-sampled batches", ...epsilon), bar("Shuffled batches", Math.max(attack[0], 0), bound[1])];
  const figure = at("shuffle").querySelector("figure") ?? element("figure", { id: "shuffled" });
  if (!figure.isConnected) at("shuffle").append(figure);
  drawBars(figure, bars, choice, broken);
  let text = at("shuffle").querySelector("p");
  if (!text) {
    text = element("p");
    at("shuffle").append(text);
  }
  text.textContent = `Poisson sampling draws each record into each batch by a coin of its own. Many programs shuffle the records `
    + `instead and cut them into ${grouped(Math.round(1 / rate))} batches a pass. For ${grouped(whole)} such ${whole === 1 ? "pass" : "passes"} `
    + `no better bound than ${atMost(bound[1])} is proved, and a known attack on one pass alone shows that epsilon is at least `
    + `${atLeast(attack[0])}. `
    + (broken
      ? `So the bound of ${atMost(epsilon[1])} is false if the batches were shuffled.`
      : `So the bound of ${atMost(epsilon[1])} is not proved if the batches were shuffled.`);
  text.dataset.lower = String(attack[0]);
  text.dataset.upper = String(bound[1]);
  text.dataset.view = "shuffled";
}

const SHUFFLED = new Map();

function shuffledAt(noise, rate, data) {
  const name = `${noise},${rate}`;
  if (!SHUFFLED.has(name)) SHUFFLED.set(name, new Knots(recordOf(data.steps[name].shuffled), data.grid));
  return SHUFFLED.get(name);
}

function drawBars(figure, bars, choice, broken) {
  const [width] = sizeOf(figure);
  const most = Math.max(...bars.map(({ high }) => high)) * 1.05;
  const height = 150;
  const plot = new Plot(width, height,
    new Axis({ least: 0, most, ticks: roundTicks(most), label: `epsilon at delta = ${plainly(choice.delta)}` }),
    new Axis({ least: 0, most: 1, ticks: [], label: "" }));
  bars.forEach(({ title, low, high }, place) => {
    const y = MARGIN.top + 22 + place * 44;
    const said = place ? `from ${atLeast(low)} to ${atMost(high)}` : `at most ${atMost(high)}`;
    plot.text(`${title}: ${said}`, MARGIN.left + 4, y - 6);
    const [from, to] = [plot.left(low), plot.left(high)];
    plot.draw("rect", { class: place ? "gain" : "dot", x: from, y, width: Math.max(3, to - from), height: 10 });
  });
  place(figure, plot, "Poisson-sampled and shuffled batches", broken
    ? "The guarantee is false for shuffled batches" : "The guarantee is not proved for shuffled batches", [
    numbersOf(["Batches", "epsilon at least", "epsilon at most"],
      bars.map(({ title, low, high }) => [title, atLeast(low), atMost(high)])),
  ]);
}
