// Intervals [lower, upper] that hold the exact value: every operation rounds outwards.
//
// Model of the machine: + - * / and sqrt are rounded to nearest (IEEE 754), and exp, expm1, log and
// log1p are wrong by at most 4 units of 2^-52 of their value. V8, SpiderMonkey and JavaScriptCore
// stay below 1.

const UNIT = 2 ** -52;
const TINY = 5e-324;

function below(x, units = 1) {
  return Number.isFinite(x) ? x - Math.abs(x) * (units * UNIT) - TINY : x;
}

function above(x, units = 1) {
  return Number.isFinite(x) ? x + Math.abs(x) * (units * UNIT) + TINY : x;
}

// A number that is written as a decimal: the double nearest to it is off by half a unit at most.
function decimal(x) {
  return Number.isSafeInteger(x) ? [x, x] : [below(x), above(x)];
}

function add(a, b) {
  return [below(a[0] + b[0]), above(a[1] + b[1])];
}

function neg(a) {
  return [-a[1], -a[0]];
}

function sub(a, b) {
  return add(a, neg(b));
}

function mul(a, b) {
  const ends = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]].map((x) => (x === x ? x : 0));
  return [below(Math.min(...ends)), above(Math.max(...ends))];
}

// The divisor must not hold 0.
function div(a, b) {
  const ends = [a[0] / b[0], a[0] / b[1], a[1] / b[0], a[1] / b[1]].map((x) => (x === x ? x : 0));
  return [below(Math.min(...ends)), above(Math.max(...ends))];
}

// A function that increases, with its error in units, and its least value.
function rising(f, units, least = -Infinity) {
  return (a) => [Math.max(least, below(f(a[0]), units)), above(f(a[1]), units)];
}

const exp = rising(Math.exp, 5, 0);
const expm1 = rising(Math.expm1, 5, -1);
const log = rising(Math.log, 5);
const log1p = rising(Math.log1p, 5);
const sqrt = rising(Math.sqrt, 1, 0);

function smaller(a, b) {
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
}

function larger(a, b) {
  return [Math.max(a[0], b[0]), Math.max(a[1], b[1])];
}

function clip(a, low, high) {
  return smaller(larger(a, [low, low]), [high, high]);
}

// Two proved brackets of one number.
function meet(a, b) {
  return [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
}

const ZERO = [0, 0];
const ONE = [1, 1];
