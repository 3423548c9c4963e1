// What is chosen, and what follows, in sentences.

const NAMES = {
  gaussian: ({ mu }) => `Gaussian noise with mu = ${plainly(mu)}`,
  laplace: ({ epsilon }) => `Laplace noise with epsilon = ${plainly(epsilon)}`,
  pure: ({ epsilon }) => `pure DP with epsilon = ${plainly(epsilon)}`,
  approx: ({ epsilon, failure }) => `(${plainly(epsilon)}, ${plainly(failure)})-DP`,
  training: ({ phases }) => phases.map(([noise, rate, steps]) =>
    `DP-SGD with noise multiplier ${noise}, sampling rate ${plainly(rate)} and ${grouped(steps)} steps`).join(", then "),
};

const METHODS = {
  renyi: ["Rényi DP", "conversion of Canonne, Kamath and Steinke (2020)"],
  moments: ["Moments accountant", "Abadi et al. (2016)"],
  classic: ["Classic Gaussian formula", "sqrt(2 log(1.25/delta)); proved up to epsilon = 1 only"],
  basic: ["Basic composition", "the losses are added up"],
  advanced: ["Advanced composition", "Dwork, Rothblum and Vadhan (2010)"],
  limit: ["Central limit theorem", "an estimate, which proves nothing"],
  unsampled: ["Without amplification", "as if every record were in every batch"],
};

function nameOf(choice) {
  const several = choice.kind !== "training" && choice.count > 1 ? `${choice.count} releases, each with ` : "";
  const of = choice.group > 1 ? `, for a group of ${choice.group} records` : "";
  return several + NAMES[choice.kind](choice) + of;
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// Counts of guesses: [base, true ones, right at most, right without the release].
function guessesOf(found, prior) {
  const share = Number(prior);
  const base = baseOf(share);
  const chance = Math.round(Math.max(share, 1 - share) * base);
  return { base, inside: Math.round(share * base), right: Math.max(chance, upTo(found[1], base)), chance };
}

function headlineOf(found, prior) {
  const { base, inside, right, chance } = guessesOf(found, prior);
  const coin = prior === "0.5" ? `a coin: ${grouped(chance)}` : `the best guess without the release: ${grouped(chance)}`;
  return [
    `An attacker suspects ${grouped(base)} people of being in the data, and ${grouped(inside)} of them are. `
      + "Whatever the attacker computes from the release, on average ",
    `at most ${grouped(right)} of ${grouped(base)} guesses are right`,
    ` (${coin}).`,
  ];
}

function powerSentence(alpha, power) {
  const base = baseOf(alpha);
  return `Whoever wrongly accuses at most ${grouped(Math.round(alpha * base))} of ${grouped(base)} people who are not in `
    + `the data finds at most ${grouped(upTo(power[1], base))} of ${grouped(base)} who are.`;
}

function beliefSentence(alpha, power, prior) {
  const share = Number(prior);
  const found = (share * power[1]) / (share * power[1] + (1 - share) * alpha);
  return `If ${plainly(100 * share)} % of the suspicions were true before, at most ${percent(found)} of that attack's `
    + "accusations are right.";
}

function advantageSentence(advantage) {
  return `The most that any attack finds more often among those in the data than among the others: `
    + `${grouped(upTo(advantage[1], 1000))} of 1,000.`;
}

function certainSentence(curve) {
  const [, sure] = curve.tpr(0);
  if (sure === 0) return "No attack is ever certain.";
  return `An attack may be certain about at most ${grouped(upTo(sure, baseOf(Math.min(1, Number(sure.toPrecision(1))))))} of `
    + `${grouped(baseOf(Math.min(1, Number(sure.toPrecision(1)))))} people.`;
}
