// The tail of the normal law and its inverse, as intervals.
//
// Q(x) = 1 - Phi(x). From 2 on it is phi(x) R(x), and R is Laplace's continued fraction
// 1/(x + 1/(x + 2/(x + 3/(x + ...)))), whose convergents lie on either side of it. Below 2 it is
// 1/2 - phi(x) (x + x^3/3 + x^5/15 + ...), a sum of positive terms. The brackets of Q are at most
// 2e-12 of the value wide up to 2, and 2e-15 (2 + x^2) of it beyond; tests/explorer compares them
// with the library at thousands of points.

const SQRT_2PI = sqrt([below(2 * Math.PI), above(2 * Math.PI)]);
const FRACTION_FROM = 2;

function phi(x) {
  const square = mul(x, x);
  return div(exp(neg(div([Math.max(0, square[0]), square[1]], [2, 2]))), SQRT_2PI);
}

// Levels of the fraction; more near 2, where it converges slowly.
function depth(x) {
  return x < 3 ? 120 : x < 5 ? 50 : x < 10 ? 24 : 12;
}

// One convergent, and a bound of its relative error in units of 2^-53, first order.
function convergent(x, levels) {
  let tail = x;
  let error = 0;
  for (let k = levels; k >= 1; k -= 1) {
    const part = k / tail;
    const sum = x + part;
    error = 1 + (part / sum) * (error + 1);
    tail = sum;
  }
  return [1 / tail, error + 1];
}

// R at a double of at least 2.
function millsAt(x) {
  const levels = depth(x);
  const [first, errorOfFirst] = convergent(x, levels);
  const [second, errorOfSecond] = convergent(x, levels + 1);
  const units = Math.max(errorOfFirst, errorOfSecond) / 2 + 1;
  return [below(Math.min(first, second), units), above(Math.max(first, second), units)];
}

// phi(x) (x + x^3/3 + ...) at a double in [0, 2].
function centreAt(x) {
  let term = x;
  let sum = x;
  let odd = 1;
  while (term > sum * 1e-19) {
    odd += 2;
    term *= (x * x) / odd;
    sum += term;
  }
  // Each term has three roundings more than the one before, and the rest is less than 2^-60.
  return mul([below(sum, 2 * odd), above(sum, 2 * odd)], phi([x, x]));
}

function upperTailAt(x) {
  if (x < 0) return sub(ONE, upperTailAt(-x));
  if (x === Infinity) return ZERO;
  if (x >= FRACTION_FROM) return mul(millsAt(x), phi([x, x]));
  return sub([0.5, 0.5], centreAt(x));
}

function upperTail(x) {
  return clip([upperTailAt(x[1])[0], upperTailAt(x[0])[1]], 0, 1);
}

// Q / phi of x >= 0, which falls.
function mills(x) {
  const at = (y) => (y >= FRACTION_FROM ? millsAt(y) : div(upperTailAt(y), phi([y, y])));
  return [at(x[1])[0], at(x[0])[1]];
}

// The number with the tail p in (0, 1/2], nearly: Newton's steps on log Q, which is concave.
function nearQuantile(p) {
  let x = p > 0.4 ? 0.1 : Math.sqrt(-2 * Math.log(p)) - 0.5;
  for (let k = 0; k < 30; k += 1) {
    const tail = upperTailAt(x);
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    const step = (tail[0] / density) * Math.log(tail[0] / p);
    x += step;
    // It converges quadratically.
    if (Math.abs(step) < 1e-8 * (1 + Math.abs(x))) break;
  }
  return x;
}

// An end of the numbers with the tail p: proved by Q on its side.
function quantileEnd(p, side) {
  if (p <= 0) return Infinity;
  if (p >= 1) return -Infinity;
  if (p > 0.5) {
    // 1 - p is rounded to the safe side.
    const rest = 1 - p;
    return -quantileEnd(side < 0 ? above(rest) : below(rest), -side);
  }
  const near = nearQuantile(p);
  for (let width = 4e-16 * (1 + Math.abs(near)); ; width *= 2) {
    const end = near + side * width;
    const tail = upperTailAt(end);
    if (side < 0 ? tail[0] >= p : tail[1] <= p) return end;
  }
}

// The z with Q(z) = p, of an interval in [0, 1].
function upperQuantile(p) {
  return [quantileEnd(p[1], -1), quantileEnd(p[0], 1)];
}
