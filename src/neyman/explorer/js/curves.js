// Guarantees in closed form. A curve answers three questions, each with a proved bracket:
//   delta(epsilon), epsilon >= 0; tpr(alpha) = 1 - f(alpha); epsilon(delta).

const FARTHEST = 1e6;
const NEAR = 1e-13;

// The ends of a short interval on which a falling function reaches a target: false position on
// logarithms, halved where that is slow. `high` is a place where it was reached.
function reached(height, target, high) {
  let [a, b] = [0, high];
  let [left, right] = [Math.log(height(a) / target), Math.log(height(b) / target)];
  for (let k = 0; k < 100 && b - a > NEAR * b; k += 1) {
    const line = (a * right - b * left) / (right - left);
    const middle = k % 3 < 2 && line > a && line < b ? line : (a + b) / 2;
    // A little beyond the place that is expected, so that both ends move.
    const x = Math.min(Math.max(middle, a + 0.3 * NEAR * b), b - 0.3 * NEAR * b);
    const found = Math.log(height(x) / target);
    if (found <= 0) [b, right, left] = [x, found, k % 3 < 2 ? left / 2 : left];
    else [a, left, right] = [x, found, k % 3 < 2 ? right / 2 : right];
  }
  return [a, b];
}

// The epsilon at which delta falls to a target, from below and from above.
function epsilonBy(deltaOf, target) {
  const [least, most] = decimal(target);
  const upperOf = (x) => deltaOf(x)[1];
  const lowerOf = (x) => deltaOf(x)[0];
  let upper = 0;
  if (upperOf(0) > least) {
    let high = 1;
    while (upperOf(high) > least && high < FARTHEST) high *= 2;
    upper = high < FARTHEST ? reached(upperOf, least, high)[1] : Infinity;
  }
  if (lowerOf(0) <= most) return [0, upper];
  const near = upper * (1 - 4e-12);
  if (Number.isFinite(near) && lowerOf(near) > most) return [near, upper];
  let high = 1;
  while (lowerOf(high) > most && high < FARTHEST) high *= 2;
  return [high < FARTHEST ? reached(lowerOf, most, high)[0] : Infinity, upper];
}

class Gaussian {
  // mu^2 as an interval.
  constructor(square) {
    this.mu = sqrt(square);
  }

  delta(epsilon) {
    const mu = this.mu;
    const middle = div(decimal(epsilon), mu);
    const half = div(mu, [2, 2]);
    const a = sub(middle, half);
    const b = add(middle, half);
    if (a[0] > 0) {
      const difference = sub(mills(a), mills(b));
      return clip(mul(phi(a), [Math.max(0, difference[0]), difference[1]]), 0, 1);
    }
    const found = sub(upperTail(a), mul(exp(decimal(epsilon)), upperTail(b)));
    return clip(found, 0, 1);
  }

  tpr(alpha) {
    if (alpha <= 0) return ZERO;
    if (alpha >= 1) return ONE;
    return upperTail(sub(upperQuantile(decimal(alpha)), this.mu));
  }

  epsilon(delta) {
    return delta <= 0 ? [Infinity, Infinity] : epsilonBy((x) => this.delta(x), delta);
  }
}

// f_{epsilon, 0}, of randomized response: what any pure mechanism loses at most.
class Pure {
  constructor(bound) {
    this.bound = bound;
    this.share = div(ONE, add(ONE, exp(neg(bound))));
  }

  delta(epsilon) {
    const gap = sub(decimal(epsilon), this.bound);
    if (gap[0] >= 0) return ZERO;
    return clip(mul(neg(expm1([gap[0], Math.min(0, gap[1])])), this.share), 0, 1);
  }

  tpr(alpha) {
    const at = decimal(alpha);
    const steep = mul(exp(this.bound), at);
    const flat = sub(ONE, mul(exp(neg(this.bound)), sub(ONE, at)));
    return clip(smaller(steep, flat), 0, 1);
  }

  epsilon(delta) {
    const rest = div(decimal(delta), this.share);
    if (rest[0] >= 1) return ZERO;
    const found = add(this.bound, log1p(neg([rest[0], Math.min(rest[1], 1)])));
    return [Math.max(0, found[0]), Math.max(0, found[1])];
  }
}

// f_{0, failure} beside another curve: with this probability all is betrayed.
class Failing {
  constructor(core, failure) {
    this.core = core;
    this.failure = failure;
    this.kept = sub(ONE, failure);
  }

  delta(epsilon) {
    return clip(add(this.failure, mul(this.kept, this.core.delta(epsilon))), 0, 1);
  }

  tpr(alpha) {
    const at = div(decimal(alpha), this.kept);
    const [low, high] = [Math.min(1, at[0]), Math.min(1, at[1])];
    const inner = [this.core.tpr(low)[0], this.core.tpr(high)[1]];
    return clip(add(this.failure, mul(this.kept, inner)), 0, 1);
  }

  epsilon(delta) {
    const [least, most] = decimal(delta);
    if (most < this.failure[0]) return [Infinity, Infinity];
    if (least < this.failure[1]) {
      return [epsilonBy((x) => this.delta(x), delta)[0], Infinity];
    }
    const rest = div(sub([least, most], this.failure), this.kept);
    if (rest[0] <= 0) return [this.core.epsilon(Math.max(0, rest[1]))[0], this.core.epsilon(0)[1]];
    return [this.core.epsilon(rest[1])[0], this.core.epsilon(rest[0])[1]];
  }
}

class Laplace {
  constructor(bound) {
    this.bound = bound;
  }

  delta(epsilon) {
    const gap = sub(decimal(epsilon), this.bound);
    if (gap[0] >= 0) return ZERO;
    return clip(neg(expm1(div([gap[0], Math.min(0, gap[1])], [2, 2]))), 0, 1);
  }

  tpr(alpha) {
    const at = decimal(alpha);
    const edge = div(exp(neg(this.bound)), [2, 2]);
    const parts = [];
    if (at[0] <= edge[1]) parts.push(mul(exp(this.bound), at));
    if (at[1] >= edge[0] && at[0] <= 0.5) {
      parts.push(sub(ONE, div(edge, mul([2, 2], [Math.max(at[0], edge[0]), at[1]]))));
    }
    if (at[1] >= 0.5) parts.push(sub(ONE, mul(exp(neg(this.bound)), sub(ONE, at))));
    return clip(
      [Math.min(...parts.map((x) => x[0])), Math.max(...parts.map((x) => x[1]))], 0, 1,
    );
  }

  epsilon(delta) {
    const at = decimal(delta);
    if (at[1] >= 1) return ZERO;
    const found = add(this.bound, mul([2, 2], log1p(neg(at))));
    return [Math.max(0, found[0]), Math.max(0, found[1])];
  }
}

// n-fold composition of f_{epsilon, 0}: the losses are (2k - n) epsilon, with binomial weights.
class PureMany {
  constructor(bound, count) {
    this.bound = bound;
    this.count = count;
    const log1 = neg(log1p(exp(neg(bound))));
    const log0 = sub(log1, bound);
    let choose = ZERO;
    this.atoms = [];
    for (let k = 0; k <= count; k += 1) {
      if (k > 0) {
        choose = add(choose, sub(log([count - k + 1, count - k + 1]), log([k, k])));
      }
      const weight = exp(add(choose, add(mul([k, k], log1), mul([count - k, count - k], log0))));
      const units = 2 * k - count;
      this.atoms.push({ loss: mul([units, units], bound), weight });
    }
    this.lines = null;
  }

  // Of a real epsilon, as an interval.
  sum(epsilon) {
    let total = ZERO;
    for (const { loss, weight } of this.atoms) {
      const gap = sub(epsilon, loss);
      if (gap[0] < 0) {
        total = add(total, mul(weight, neg(expm1([gap[0], Math.min(0, gap[1])]))));
      }
    }
    return clip(total, 0, 1);
  }

  // The same at the loss of an atom, where what is left of the others is known exactly.
  beyond(place) {
    let total = ZERO;
    for (let k = place + 1; k <= this.count; k += 1) {
      const gap = mul([2 * (place - k), 2 * (place - k)], this.bound);
      total = add(total, mul(this.atoms[k].weight, neg(expm1(gap))));
    }
    return clip(total, 0, 1);
  }

  delta(epsilon) {
    return this.sum(decimal(epsilon));
  }

  // The curve is polygonal, and its sides have the slopes e^loss.
  tpr(alpha) {
    if (alpha <= 0) return ZERO;
    this.lines ??= this.atoms.map(({ loss }, place) => ({ at: this.beyond(place), slope: exp(loss) }));
    const at = decimal(alpha);
    let found = ONE;
    for (const line of this.lines) found = smaller(found, add(line.at, mul(line.slope, at)));
    return clip(found, 0, 1);
  }

  epsilon(delta) {
    if (delta <= 0) return mul([this.count, this.count], this.bound);
    return epsilonBy((x) => this.delta(x), delta);
  }
}

// What f says of a group of several records: 1 - (1 - f) applied several times.
class Chained {
  // `alone`: what one record loses, which the group loses at least; or the chain itself.
  constructor(core, size, attained) {
    this.core = core;
    this.size = size;
    this.attained = attained;
    this.corners = null;
  }

  tpr(alpha) {
    let [low, high] = [alpha, alpha];
    for (let k = 0; k < this.size; k += 1) {
      low = this.core.tpr(Math.max(0, below(low)))[0];
      high = this.core.tpr(Math.min(1, above(high)))[1];
    }
    return [this.attained ? low : this.core.tpr(alpha)[0], high];
  }

  // delta(e) is the most that tpr(a) exceeds e^e a by. On a cell tpr counts as its right end.
  delta(epsilon) {
    if (this.corners === null) {
      const count = 400;
      const alphas = Array.from({ length: count + 1 }, (_, k) => 10 ** ((14 * (k - count)) / count));
      this.corners = alphas.map((alpha) => [alpha, this.tpr(alpha)]);
    }
    const factor = exp(decimal(epsilon));
    let low = this.tpr(0)[0];
    let high = this.corners[0][1][1];
    this.corners.forEach(([alpha, found], place) => {
      low = Math.max(low, below(found[0] - above(factor[1] * alpha)));
      if (place > 0) {
        const left = this.corners[place - 1][0];
        high = Math.max(high, above(found[1] - below(factor[0] * left)));
      }
    });
    high = Math.min(high, this.split(epsilon));
    return clip([this.attained ? low : Math.max(low, this.core.delta(epsilon)[0]), high], 0, 1);
  }

  // delta_k(k s) <= delta(s) (1 + e^s + ... + e^((k-1) s)).
  split(epsilon) {
    const part = Math.max(0, below(epsilon / this.size, 2));
    const factor = exp(decimal(part));
    let total = ONE;
    for (let k = 1; k < this.size; k += 1) total = add(ONE, mul(total, factor));
    return mul(this.core.delta(part), total)[1];
  }

  epsilon(delta) {
    if (delta <= 0) {
      const found = this.core.epsilon(0);
      return [this.attained ? 0 : found[0], above(found[1] * this.size)];
    }
    return epsilonBy((x) => this.delta(x), delta);
  }
}
