// The page: what is chosen, drawn again whenever it changes.

const data = JSON.parse(at("data").textContent);
const { grid } = data;
let choice = choiceOf(location.hash, grid);
let curve = null;
let band = null;
let plots = {};
let waiting = 0;
let form = "sentence";

// `next`: a choice, or a function of the one before. `anew`: the fields change, too.
function update(next, anew = false) {
  const before = choice;
  choice = settledChoice(typeof next === "function" ? next(choice) : next);
  const settled = before.kind !== choice.kind || anew;
  if (settled) showControls(choice, grid, update);
  const moved = Object.keys(choice).filter((name) => choice[name] !== before[name]);
  if (!settled && moved.every((name) => name === "alpha" || name === "prior")) light();
  else soon();
}

function soon() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(draw);
}

// All that depends on the curve.
function draw() {
  measure();
  curve = curveOf(choice, data);
  plots = { tradeoff: drawTradeoff(at("tradeoff"), curve), power: drawPower(at("power"), curve) };
  drawProfile(at("profile"), curve, choice);
  const grows = (choice.kind !== "training" || (choice.phases.length === 1 && choice.group === 1))
    && choice.kind !== "laplace" && (choice.kind !== "approx" || choice.group === 1);
  at("growth-section").hidden = !grows;
  if (grows) at("growth-section").hidden = !drawGrowth(at("growth"), choice, data);
  const { epsilon } = light();
  showMethods(choice, epsilon, methodsOf(choice, data));
  showShuffle(choice, epsilon, data);
  showAudit();
}

let keeping = 0;

// The address follows once the sliders rest: browsers refuse to change it many times a second.
function keepAddress() {
  clearTimeout(keeping);
  const before = location.hash;
  keeping = setTimeout(() => {
    // Somebody else may have changed it, which is still to be read.
    if (location.hash === before) history.replaceState(null, "", hashOf(choice));
  }, 200);
}

// What depends on the false-alarm rate and the prior alone.
function light() {
  keepAddress();
  const found = showSummary(choice, curve, grid);
  drawPeople(at("people"), found.guess, choice.prior);
  showSentences(choice, curve, found.power);
  const moved = (alpha) => {
    update((now) => ({ ...now, alpha }));
    const slider = at("alpha");
    slider.value = String(Math.min(-1, placeOf(alpha)));
    slider.setAttribute("aria-valuetext", chosenRate(alpha));
    document.querySelector("output[for=alpha]").textContent = chosenRate(alpha);
  };
  handleOf(at("tradeoff"), plots.tradeoff, choice, curve, false, moved);
  handleOf(at("power"), plots.power, choice, curve, true, moved);
  at("copied").value = FORMS[form][1](choice, curve, grid);
  speak(`${capital(nameOf(choice))}. ${at("headline").textContent}`);
  const root = document.documentElement.dataset;
  root.drawn = String(Number(root.drawn ?? 0) + 1);
  return found;
}

function showAudit() {
  at("audit").hidden = at("clear").hidden = band === null;
  if (band) drawAudit(at("audit"), band, curve, refuted(band, curve));
}

function take(text) {
  try {
    const { inside, outside } = readScores(text);
    band = bandOf(inside, outside, 0.05);
    at("refusal").hidden = true;
  } catch (error) {
    band = null;
    at("refusal").textContent = error.message;
    at("refusal").hidden = false;
  }
  showAudit();
}

async function read(file) {
  if (file) take(await file.text());
}

// Scores of the best attack on mu = 1.5, from a fixed sequence.
function exampleScores() {
  let state = 20240611;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return JSON.stringify({
    inside: Array.from({ length: 1000 }, () => normal() + 1.5), outside: Array.from({ length: 1000 }, normal),
  });
}

function listen() {
  at("kind").addEventListener("change", (event) => update((now) => ({ ...now, kind: event.target.value })));
  at("scores").addEventListener("change", (event) => read(event.target.files[0]));
  at("example").addEventListener("click", () => take(exampleScores()));
  at("clear").addEventListener("click", () => {
    band = null;
    at("scores").value = "";
    showAudit();
  });
  const drop = at("drop");
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", () => drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    read(event.dataTransfer.files[0]);
  });
  at("copy").addEventListener("click", async () => {
    at("copied").select();
    try {
      await navigator.clipboard.writeText(at("copied").value);
      at("copy-said").textContent = "Copied.";
    } catch {
      at("copy-said").textContent = "The text is selected; press Ctrl+C or ⌘C.";
    }
  });
  at("theme").addEventListener("click", () => {
    const order = ["automatic", "light", "dark"];
    const now = document.documentElement.dataset.theme ?? "automatic";
    const next = order[(order.indexOf(now) + 1) % order.length];
    if (next === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    at("theme").textContent = `Theme: ${next}`;
  });
  window.addEventListener("hashchange", () => {
    if (location.hash === hashOf(choice)) return;
    update(choiceOf(location.hash, grid), true);
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) soon();
    width = window.innerWidth;
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());
}

function showForms() {
  at("forms").append(...Object.entries(FORMS).map(([name, [title]]) => {
    const radio = element("input", { type: "radio", name: "form", id: `form-${name}`, value: name, checked: name === form });
    radio.addEventListener("change", () => {
      form = name;
      at("copied").value = FORMS[form][1](choice, curve, grid);
      at("copy-said").textContent = "";
    });
    return element("span", {}, radio, " ", element("label", { for: `form-${name}` }, title));
  }));
}

showForms();
listen();
showControls(choice, grid, update);
draw();
