// What scores of an attack say against the claim. They are read here and go nowhere.
//
// At every threshold at once, x + y <= x_n + y_n + q with probability 1 - level, where x_n and y_n
// are the two error rates that were counted: Massart's inequality for both samples together, by the
// law of the sum of the two deviations. `neyman audit` adds a bound that is sharper at small rates.

const CELLS = 4000;
const DIVISIONS = 64;

function cutOf(size) {
  return Math.min(Math.sqrt(Math.log(2) / 2), 1.0841 * size ** (-1 / 6)) / Math.sqrt(size);
}

function tailOf(size, a) {
  return a >= cutOf(size) * (1 - 1e-12) ? Math.exp(-2 * size * a * a) * (1 + 1e-12) : 1;
}

// A bound of P(D + D' > q): on a cell D counts as its right end.
function exceeding(first, second, q) {
  const start = Math.min(cutOf(first), q);
  let total = 0;
  let before = 1;
  for (let k = 0; k <= CELLS; k += 1) {
    const a = start + ((q - start) * k) / CELLS;
    const tail = tailOf(first, a);
    total += (before - tail) * tailOf(second, Math.max(q - a, 0));
    before = tail;
  }
  return total + before;
}

function jointDeviation(first, second, level) {
  let [low, high] = [0, 8 / Math.sqrt(Math.min(first, second))];
  for (let k = 0; k < 50; k += 1) {
    const middle = (low + high) / 2;
    if (exceeding(first, second, middle) > level) low = middle;
    else high = middle;
  }
  return high;
}

// Error rates of every rule "score above t is in": [false positives, false negatives].
function ratesOf(inside, outside) {
  const marks = [
    ...inside.map((score) => [score, 1]), ...outside.map((score) => [score, 0]),
  ].sort((a, b) => b[0] - a[0]);
  const found = [[0, 1]];
  let [wrong, right] = [0, 0];
  marks.forEach(([score, mark], place) => {
    if (mark) right += 1;
    else wrong += 1;
    const next = marks[place + 1];
    if (!next || next[0] !== score) {
      found.push([wrong / outside.length, 1 - right / inside.length]);
    }
  });
  return found;
}

function bandOf(inside, outside, level) {
  return {
    rates: ratesOf(inside, outside),
    q: jointDeviation(outside.length, inside.length, level),
    level,
    inside: inside.length,
    outside: outside.length,
  };
}

// Whether the whole claim lies above what the scores leave open, however q is divided.
function refuted(band, curve) {
  const { rates, q } = band;
  const corners = rates.filter(([x, y], place) =>
    place === 0 || place === rates.length - 1 || x + y < 1);
  const missed = new Map();
  const misses = (x) => {
    const key = Math.min(1, Math.ceil(x * 4096) / 4096);
    if (!missed.has(key)) missed.set(key, 1 - curve.tpr(key)[1]);
    return missed.get(key);
  };
  for (let k = 0; k < DIVISIONS; k += 1) {
    const [left, right] = [(q * k) / DIVISIONS, (q * (k + 1)) / DIVISIONS];
    // f falls: at a rate that is rounded up it is not larger.
    const proved = corners.some(([x, y]) => y + q - left < 1 && misses(x + right) > y + q - left);
    if (!proved) return false;
  }
  return true;
}

const NOT_SCORES = "This file holds no scores. Write JSON with two lists, inside and outside; or a "
  + "CSV file with the columns score and inside, where inside is 1 or 0.";

function readScores(text) {
  const found = text.trimStart().startsWith("{") ? scoresOfJson(text) : scoresOfCsv(text);
  const lists = [found.inside, found.outside];
  if (!lists.every((list) => Array.isArray(list) && list.every(Number.isFinite))) {
    throw new Error(NOT_SCORES);
  }
  if (lists.some((list) => list.length < 2)) {
    throw new Error("Each list must have at least 2 scores; "
      + `got ${lists[0].length} inside and ${lists[1].length} outside.`);
  }
  return found;
}

function scoresOfJson(text) {
  try {
    const { inside, outside } = JSON.parse(text);
    return { inside, outside };
  } catch {
    throw new Error(NOT_SCORES);
  }
}

function scoresOfCsv(text) {
  const [head, ...rows] = text.trim().split(/\r?\n/).map((line) =>
    line.replace(/^\uFEFF/, "").split(",").map((cell) => cell.trim().replace(/^"|"$/g, "")));
  const [score, mark] = [head.indexOf("score"), head.indexOf("inside")];
  if (score < 0 || mark < 0) throw new Error(NOT_SCORES);
  const found = { inside: [], outside: [] };
  for (const row of rows) {
    if (!["0", "1", "0.0", "1.0"].includes(row[mark]) || row[score] === "") {
      throw new Error(NOT_SCORES);
    }
    found[Number(row[mark]) ? "inside" : "outside"].push(Number(row[score]));
  }
  return found;
}
