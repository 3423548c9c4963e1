// Numbers as they are shown: rounded to the side on which they stay true.

function plainly(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e-4 && size < 1e6 ? String(x) : x.toExponential().replace("e+", "e");
}

function rounded(x, digits, side) {
  if (!Number.isFinite(x)) return "no limit";
  if (x === 0) return "0";
  let found = Number(x.toPrecision(digits));
  const step = 10 ** (Math.floor(Math.log10(Math.abs(x))) - digits + 1);
  while (side * (found - x) < 0) found = Number((found + side * step).toPrecision(digits));
  return plainly(found);
}

function atMost(x, digits = 4) {
  return rounded(x, digits, 1);
}

function atLeast(x, digits = 4) {
  return rounded(x, digits, -1);
}

function percent(share, side = 1) {
  return `${rounded(100 * share * (1 + side * 4e-16), 3, side)}\u00a0%`;
}

// A rate that was chosen, as it is.
function chosenRate(share) {
  return `${plainly(Number((100 * share).toPrecision(6)))}\u00a0%`;
}

// A number at an axis.
function tickText(x) {
  const text = plainly(x);
  if (x <= 0) return text;
  const power = Math.round(Math.log10(x));
  if (x !== 10 ** power && text !== `1e${power}`) return text;
  if (Math.abs(power) < 3) return text;
  const signs = [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)]));
  return `10${signs.join("")}`;
}

function counted(count, one) {
  return `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

// Of so many, at most.
function upTo(share, base) {
  return Math.min(base, Math.ceil(share * base * (1 - 1e-15)));
}

// A base of which a share is whole.
function baseOf(share) {
  let base = 1000;
  while (base < 1e9 && (share * base < 10 || Math.abs(share * base - Math.round(share * base)) > 1e-6)) {
    base *= 10;
  }
  return base;
}
