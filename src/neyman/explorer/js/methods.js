// The same guarantee by other methods: bounds that are too large, and formulas that prove nothing.

function least(values) {
  return values.reduce((a, b) => Math.min(a, b), Infinity);
}

// log(1/delta), from above.
function surprise(delta) {
  return neg(log(decimal(delta)));
}

// Mironov (2017): R + log(1/delta) / (a - 1), over the orders a that R is known at.
function momentsEpsilon(divergences, orders, delta) {
  const chance = surprise(delta);
  return least(orders.map((order, place) => {
    const found = divergences[place];
    return found === null ? Infinity : add([found, found], div(chance, sub(decimal(order), ONE)))[1];
  }));
}

// Canonne, Kamath and Steinke (2020): R + log(1 - 1/a) - (log delta + log a) / (a - 1).
function renyiEpsilon(divergences, orders, delta) {
  const chance = surprise(delta);
  return Math.max(0, least(orders.map((order, place) => {
    const found = divergences[place];
    if (found === null) return Infinity;
    const [a, b] = [decimal(order), sub(decimal(order), ONE)];
    const part = div(sub(chance, log(a)), b);
    return add(add([found, found], neg(log1p(div(ONE, b)))), part)[1];
  })));
}

// The same, read for delta: e^((a-1)(R - epsilon)) (1 - 1/a)^(a-1) / a.
function renyiDelta(divergences, orders, epsilon) {
  return Math.min(1, least(orders.map((order, place) => {
    const found = divergences[place];
    if (found === null) return Infinity;
    const [a, b] = [decimal(order), sub(decimal(order), ONE)];
    const gap = sub(sub([found, found], decimal(epsilon)), log1p(div(ONE, b)));
    return exp(sub(mul(b, gap), log(a)))[1];
  })));
}

// Several phases: the sum of their divergences, and of the squares of their mu outside of an event;
// from below, the phase that loses most.
class Phased {
  constructor(phases, grid) {
    this.phases = phases;
    this.orders = grid.orders;
    this.divergences = grid.orders.map((_, place) => {
      let total = 0;
      for (const { steps, renyi } of phases) {
        if (renyi[place] === null || total === null) total = null;
        else total = above(total + above(renyi[place] * steps));
      }
      return total;
    });
    const known = phases.every(({ knots }) => knots.mu !== null);
    this.outer = known ? this.gaussian(grid.slack) : null;
    this.epsilons = Array.from({ length: 80 }, (_, k) => 0.01 * 1.12 ** k - 0.01);
    this.heights = null;
  }

  gaussian(slack) {
    let square = ZERO;
    for (const { knots } of this.phases) square = add(square, mul(knots.mu, knots.mu));
    const failing = mul([this.phases.length, this.phases.length], decimal(slack));
    return new Failing(new Gaussian(square), failing);
  }

  most(name, x) {
    return Math.max(...this.phases.map(({ knots }) => knots[name](x)[0]));
  }

  delta(epsilon) {
    const found = renyiDelta(this.divergences, this.orders, epsilon);
    const high = this.outer ? Math.min(found, this.outer.delta(epsilon)[1]) : found;
    return [Math.min(this.most("delta", epsilon), high), high];
  }

  tpr(alpha) {
    this.heights ??= this.epsilons.map((x) => [above(Math.exp(x), 5), this.delta(x)[1]]);
    let high = this.outer ? this.outer.tpr(alpha)[1] : 1;
    for (const [slope, height] of this.heights) high = Math.min(high, above(height + above(slope * alpha)));
    return [Math.min(this.most("tpr", alpha), high), high];
  }

  epsilon(delta) {
    const found = renyiEpsilon(this.divergences, this.orders, delta);
    const high = this.outer ? Math.min(found, this.outer.epsilon(delta)[1]) : found;
    return [Math.min(this.most("epsilon", delta), high), high];
  }
}

// Nothing is lost.
class Nothing {
  delta() {
    return ZERO;
  }

  tpr(alpha) {
    return [alpha, alpha];
  }

  epsilon() {
    return ZERO;
  }
}

// A curve between two others: what `outer` loses at most, and `inner` at least.
class Between {
  constructor(outer, inner) {
    Object.assign(this, { outer, inner });
  }

  delta(epsilon) {
    return [this.inner.delta(epsilon)[0], this.outer.delta(epsilon)[1]];
  }

  tpr(alpha) {
    return [this.inner.tpr(alpha)[0], this.outer.tpr(alpha)[1]];
  }

  epsilon(delta) {
    return [this.inner.epsilon(delta)[0], this.outer.epsilon(delta)[1]];
  }
}

// The estimate of the central limit theorem: epsilon of mu-GDP, which is no bound of the whole.
function limitEpsilon(mu, delta) {
  return mu > 0 ? new Gaussian([mu * mu, mu * mu]).epsilon(delta)[1] : 0;
}

function gaussianMethods(square, single, count, delta, orders) {
  const rho = div(square, [2, 2])[1];
  const classic = Math.sqrt(square[1] * 2 * Math.log(1.25 / delta));
  const list = [
    { name: "renyi", value: renyiEpsilon(orders.map((a) => above(a * rho)), orders, delta) },
    { name: "moments", value: momentsEpsilon(orders.map((a) => above(a * rho)), orders, delta) },
    { name: "classic", value: classic, proved: classic <= 1 },
  ];
  if (count > 1) {
    list.push({ name: "basic", value: above(count * single.epsilon(delta / count * (1 - 1e-15))[1]) });
  }
  return list;
}

function pureMethods(bound, failure, count, delta) {
  const kept = below(delta - above(count * failure));
  const epsilon = bound[1];
  if (kept < 0 || count === 1) return [];
  const list = [{ name: "basic", value: above(count * epsilon) }];
  if (kept > 0) {
    const root = Math.sqrt(2 * count * Math.log(1 / kept)) * epsilon;
    list.push({ name: "advanced", value: (root + count * epsilon * Math.expm1(epsilon)) * (1 + 1e-13) });
    const mean = epsilon * Math.tanh(epsilon / 2);
    const mu = (2 * Math.sqrt(count) * mean) / Math.sqrt(epsilon * epsilon - mean * mean);
    list.push({ name: "limit", value: limitEpsilon(mu, kept), proved: false });
  }
  return list;
}

function trainingMethods(phases, delta, orders) {
  const summed = orders.map((_, place) => phases.reduce((total, { steps, renyi }) =>
    (total === null || renyi[place] === null ? null : above(total + above(renyi[place] * steps))), 0));
  const limit = Math.sqrt(phases.reduce((total, { noise, rate, steps }) =>
    total + rate * rate * steps * Math.expm1(1 / (noise * noise)), 0));
  const whole = phases.reduce((total, { noise, steps }) => total + steps / (noise * noise), 0);
  return [
    { name: "renyi", value: renyiEpsilon(summed, orders, delta) },
    { name: "moments", value: momentsEpsilon(summed, orders, delta) },
    { name: "limit", value: limitEpsilon(limit, delta), proved: false },
    { name: "unsampled", value: new Gaussian(decimal(whole)).epsilon(delta)[1] },
  ];
}
