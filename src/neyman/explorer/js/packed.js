// Trainings: brackets that the library computed at the stops of the sliders, and what follows.
//
// With t = e^epsilon the profile D(t) = delta(epsilon) is convex, and tpr(a) = min over t of
// D(t) + t a. So a few proved points of D enclose the whole curve: chords lie above D, the chords
// next to them, drawn on, lie below. Nothing is interpolated without such a proof.

const KNOT_BYTES = 7;
// Relatively; what doubles lose in a formula below is less by a factor of a hundred.
const SAFE = 1e-12;
// Beyond, e^epsilon leaves the doubles.
const LARGEST = 700;

// The next bracket of a record, as _packing.py wrote it; null where a number is absent.
function unpack(bytes, place) {
  const view = new DataView(new ArrayBuffer(8));
  for (let k = 0; k < 6; k += 1) view.setUint8(k, bytes[place + k]);
  const upper = view.getFloat64(0);
  if (!Number.isFinite(upper)) return null;
  const gap = bytes[place + 6];
  return [gap ? Math.max(0, below(upper * (1 - 2 ** (-gap / 4)), 4)) : 0, upper];
}

function recordOf(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return Array.from({ length: bytes.length / KNOT_BYTES }, (_, k) => unpack(bytes, k * KNOT_BYTES));
}

class Knots {
  // `grid`: the deltas, odds and shares of _grid.py. `record`: brackets in their order.
  constructor(record, grid) {
    const usual = record[grid.deltas.indexOf(grid.usual)];
    this.known = new Map();
    this.at = new Map();
    const direct = [];
    const epsilons = [...grid.odds, ...grid.shares.map((share) => share * usual[1])];
    epsilons.forEach((epsilon, place) => {
      const found = record[grid.deltas.length + place];
      if (found === null) return;
      this.at.set(epsilon, found);
      direct.push({ epsilon, low: found[0], high: found[1] });
    });
    const inverse = [];
    grid.deltas.forEach((delta, place) => {
      const found = record[place];
      if (found === null) return;
      this.known.set(delta, found);
      if (found[1] > 0) inverse.push({ epsilon: found[1], from: found[0], high: delta });
    });
    this.mu = record[grid.deltas.length + epsilons.length] ?? null;
    this.coarse = direct.length + inverse.length < 18;
    this.points = mirrored(settled(direct, inverse));
    this.supports = this.points.map((_, place) => supportsOf(this.points, place));
    this.corners = this.points.flatMap((_, place) =>
      cornersOf(this.points, place, this.supports[place]).map((t) => ({
        t, low: underneath(this.points, place, this.supports[place], t),
      })));
  }

  delta(epsilon) {
    const t = Math.exp(epsilon);
    const place = cellOf(this.points, t);
    const [a, b] = [this.points[place], this.points[place + 1]];
    const high = b && Number.isFinite(t) ? through(a, a.high, b, b.high, t) : a.high;
    const low = Number.isFinite(t)
      ? underneath(this.points, place, this.supports[place], t) : 0;
    const found = [low * (1 - SAFE), Math.min(1, high * (1 + SAFE))];
    return this.at.has(epsilon) ? meet(found, this.at.get(epsilon)) : found;
  }

  // min over t of D(t) + t alpha: from above at the points; from below where what lies under D
  // bends.
  tpr(alpha) {
    let high = 1;
    let low = 1;
    for (const point of this.points) high = Math.min(high, point.high + point.t * alpha);
    for (const corner of this.corners) low = Math.min(low, corner.low + corner.t * alpha);
    return [Math.max(alpha, low * (1 - SAFE)), Math.max(alpha, Math.min(1, high * (1 + SAFE)))];
  }

  epsilon(delta) {
    if (this.known.has(delta)) return this.known.get(delta);
    if (delta <= 0) return [this.points[this.points.length - 1].epsilon, Infinity];
    return epsilonBy((x) => this.delta(x), delta);
  }
}

// Points (t, low <= D(t) <= high), t = e^epsilon >= 1 increasing. Where epsilon is known to lie
// between `from` and `epsilon`, D is at least `high` at `from`, and falls from there no faster than
// along a chord to the left.
function settled(direct, inverse) {
  const all = [...direct, ...inverse]
    .filter((point) => point.epsilon < LARGEST)
    .map((point) => ({ ...point, t: Math.exp(point.epsilon) }))
    .sort((a, b) => a.t - b.t);
  let most = 1;
  for (const point of all) {
    most = Math.min(most, point.high);
    point.high = most;
  }
  all.forEach((point, place) => {
    if (point.from === undefined) return;
    const start = Math.exp(point.from) * (1 - SAFE);
    let low = 0;
    for (const other of all.slice(0, place)) {
      if (other.t < start) {
        const slope = (other.high - point.high) / (start - other.t);
        low = Math.max(low, point.high - slope * (point.t * (1 + SAFE) - start) * (1 + SAFE));
      }
    }
    point.low = low;
  });
  let least = 0;
  for (const point of all.reverse()) {
    least = Math.max(least, Math.min(point.low, point.high));
    point.low = least;
  }
  return all.reverse();
}

// The points of negative epsilons with them: the two directions mirror each other, and
// D(1/t) = 1 - (1 - D(t)) / t.
function mirrored(right) {
  const left = right.filter((point) => point.epsilon > 0).reverse().map((point) => ({
    epsilon: -point.epsilon,
    t: 1 / point.t,
    low: Math.max(0, 1 - (1 - point.low) / point.t - SAFE),
    high: Math.min(1, 1 - (1 - point.high) / point.t + SAFE),
  }));
  return [{ epsilon: -Infinity, t: 0, low: 1, high: 1 }, ...left, ...right];
}

// The line through (a, value of a) and (b, value of b) at t.
function through(a, valueOfA, b, valueOfB, t) {
  return valueOfA + (valueOfB - valueOfA) * ((t - a.t) / (b.t - a.t));
}

// The same, lowered by what doubles lose.
function lowered(a, valueOfA, b, valueOfB, t) {
  const share = (t - a.t) / (b.t - a.t);
  const lost = 8 * UNIT * (valueOfA + valueOfB) * (1 + Math.abs(share));
  return valueOfA + (valueOfB - valueOfA) * share - lost;
}

// Lines below D on the cell to the right of a point: chords of points on one side, drawn on. A
// chord of two that are near is less sure, so that several are taken.
function supportsOf(points, place) {
  const found = [];
  for (let away = 1; away <= 3; away += 1) {
    const [left, right] = [points[place - away], points[place + 1 + away]];
    const [a, b] = [points[place], points[place + 1]];
    if (left && a.t > left.t) found.push([left, left.high, a, a.low]);
    if (b && right && right.t > b.t) found.push([b, b.low, right, right.high]);
  }
  return found;
}

function underneath(points, place, supports, t) {
  const b = points[place + 1];
  let found = Math.max(0, 1 - t, b ? b.low : 0);
  for (const line of supports) found = Math.max(found, lowered(...line, t));
  return found;
}

function cellOf(points, t) {
  let [low, high] = [0, points.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle].t <= t) low = middle;
    else high = middle;
  }
  return low;
}

// Where what lies under D may bend within a cell, its ends with it.
function cornersOf(points, place, supports) {
  const [a, b] = [points[place], points[place + 1]];
  const found = b ? [a.t, b.t] : [a.t];
  const all = [[1, -1], [b ? b.low : 0, 0]];
  for (const [from, valueOfFrom, to, valueOfTo] of supports) {
    const slope = (valueOfTo - valueOfFrom) / (to.t - from.t);
    all.push([valueOfTo - slope * to.t, slope]);
  }
  for (let i = 0; i < all.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const t = (all[j][0] - all[i][0]) / (all[i][1] - all[j][1]);
      if (t > a.t && t < (b ? b.t : Infinity)) found.push(t);
    }
  }
  return found;
}
