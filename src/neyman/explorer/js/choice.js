// What is chosen on the page, as the address holds it, and the curve that it stands for.

const KINDS = ["gaussian", "laplace", "pure", "approx", "training"];
const MOST_PHASES = 4;
// Numbers: the least and the most that is taken, and what the page begins with.
const FIELDS = {
  mu: { least: 0.01, most: 10, usual: 1 },
  epsilon: { least: 0.01, most: 10, usual: 1 },
  failure: { least: 1e-12, most: 0.1, usual: 1e-6 },
  count: { least: 1, most: 200, usual: 1, whole: true },
  group: { least: 1, most: 20, usual: 1, whole: true },
  alpha: { least: 1e-6, most: 0.999, usual: 0.05 },
};
const USUAL_PHASE = [1, 0.01, 1000];

function within(name, value) {
  const { least, most, usual, whole } = FIELDS[name];
  const number = typeof value === "string" && value.trim() === "" ? NaN : Number(value);
  if (!Number.isFinite(number)) return usual;
  return Math.min(most, Math.max(least, whole ? Math.round(number) : number));
}

function nearest(stops, value) {
  const distance = (stop) => Math.abs(Math.log(stop / value));
  return stops.reduce((a, b) => (distance(b) < distance(a) ? b : a));
}

function phaseOf(text, grid) {
  const [noise, rate, steps] = text.split(",").map(Number);
  if (![noise, rate, steps].every((x) => x > 0 && Number.isFinite(x))) return USUAL_PHASE;
  return [nearest(grid.noises, noise), nearest(grid.rates, rate), nearest(grid.steps, steps)];
}

function choiceOf(hash, grid) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const pick = (name, known, usual) => (known.includes(given.get(name)) ? given.get(name) : usual);
  const choice = { kind: pick("kind", KINDS, "gaussian") };
  for (const name of Object.keys(FIELDS)) choice[name] = within(name, given.get(name) ?? "");
  choice.phases = (given.get("phases") ?? USUAL_PHASE.join(",")).split(";")
    .slice(0, MOST_PHASES).map((text) => phaseOf(text, grid));
  choice.delta = nearest(grid.deltas, Number(given.get("delta")) > 0 ? Number(given.get("delta")) : grid.usual);
  choice.prior = pick("prior", grid.priors, "0.5");
  return settledChoice(choice);
}

// What is known in closed form for one release alone.
function settledChoice(choice) {
  const once = choice.kind === "laplace" || (choice.kind === "approx" && choice.group > 1);
  return once ? { ...choice, count: 1 } : choice;
}

// The fields that a kind has.
function fieldsOf(kind) {
  return {
    gaussian: ["mu", "count", "group"],
    laplace: ["epsilon", "group"],
    pure: ["epsilon", "count", "group"],
    approx: ["epsilon", "failure", "count", "group"],
    training: ["group"],
  }[kind];
}

function hashOf(choice) {
  const kept = new URLSearchParams({ kind: choice.kind });
  for (const name of fieldsOf(choice.kind)) kept.set(name, String(choice[name]));
  if (choice.kind === "training") kept.set("phases", choice.phases.map((p) => p.join(",")).join(";"));
  for (const name of ["delta", "prior", "alpha"]) kept.set(name, String(choice[name]));
  return `#${kept.toString().replaceAll("%2C", ",").replaceAll("%3B", ";")}`;
}

// 1 - (1 - failure)^count.
function failures(failure, count) {
  return neg(expm1(mul([count, count], log1p(neg(decimal(failure))))));
}

function pureOf(bound, count) {
  return count === 1 ? new Pure(bound) : new PureMany(bound, count);
}

// The square of mu of several releases to a group.
function squareOf({ mu, count, group }) {
  const each = mul(decimal(mu), [group, group]);
  return mul([count, count], mul(each, each));
}

function phasesOf(choice, data) {
  return choice.phases.map(([noise, rate, steps]) => ({
    noise,
    rate,
    steps,
    knots: knotsAt(noise, rate, steps, data),
    ...data.steps[`${noise},${rate}`],
  }));
}

const MADE = new Map();

function knotsAt(noise, rate, steps, data) {
  const name = `${noise},${rate},${steps}`;
  if (!MADE.has(name)) {
    const text = data.stops[name];
    MADE.set(name, text ? new Knots(recordOf(text), data.grid) : enclosed(noise, rate, steps, data));
  }
  return MADE.get(name);
}

// What was not packed: no more is lost than in more steps, and no less than in fewer.
function enclosed(noise, rate, steps, data) {
  const packed = data.grid.steps.filter((count) => data.stops[`${noise},${rate},${count}`]);
  const more = packed.find((count) => count > steps);
  const fewer = packed.findLast((count) => count < steps);
  const outer = knotsAt(noise, rate, more, data);
  const inner = fewer ? knotsAt(noise, rate, fewer, data) : new Nothing();
  return Object.assign(new Between(outer, inner), { coarse: true, mu: outer.mu });
}

function curveOf(choice, data) {
  const { kind, epsilon, failure, count, group } = choice;
  if (kind === "gaussian") return new Gaussian(squareOf(choice));
  const bound = mul(decimal(epsilon), [group, group]);
  if (kind === "pure") return pureOf(bound, count);
  if (kind === "laplace") return new Laplace(bound);
  if (kind === "approx") {
    const core = new Failing(pureOf(decimal(epsilon), count), failures(failure, count));
    return group === 1 ? core : new Chained(core, group, true);
  }
  const phases = phasesOf(choice, data);
  const core = phases.length === 1 ? phases[0].knots : new Phased(phases, data.grid);
  return group === 1 ? core : new Chained(core, group, false);
}

function methodsOf(choice, data) {
  const { kind, epsilon, failure, count, group, delta } = choice;
  if (kind === "gaussian") {
    const single = new Gaussian(squareOf({ ...choice, count: 1 }));
    return gaussianMethods(squareOf(choice), single, count, delta, data.grid.orders);
  }
  if (kind === "training") {
    return group === 1 ? trainingMethods(phasesOf(choice, data), delta, data.grid.orders) : [];
  }
  if (kind === "approx" && group > 1) return [];
  return pureMethods(mul(decimal(epsilon), [group, group]), kind === "approx" ? failure : 0, count, delta);
}

// The largest share of right guesses at a prior: the likelier side, and what the release adds.
function guessOf(curve, prior, grid) {
  const gain = curve.delta(grid.odds[grid.priors.indexOf(prior)]);
  const less = decimal(Math.min(Number(prior), 1 - Number(prior)));
  const found = add(sub(ONE, less), mul(less, gain));
  return [Math.min(1, found[0]), Math.min(1, found[1])];
}
