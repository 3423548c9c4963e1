// The choice, for a text, a shell, a spec and Python.

function decimalOf(x) {
  return String(Number(x.toPrecision(15)));
}

function expression(choice, prefix = "ny.") {
  const { kind, mu, epsilon, failure, count, group, phases } = choice;
  const times = count > 1 ? ` ** ${count}` : "";
  const curve = {
    gaussian: () => `${prefix}gdp(${mu})${times}`,
    laplace: () => `${prefix}laplace(${epsilon})${times}`,
    pure: () => `${prefix}pure_dp(${epsilon})${times}`,
    approx: () => `${prefix}approx_dp(${epsilon}, ${failure})${times}`,
    training: () => phases.map((phase) => `${prefix}dp_sgd(${phase.join(", ")})`).join(" @ "),
  }[kind]();
  return group > 1 ? `group(${curve}, ${group})` : curve;
}

function asPython(choice) {
  return [
    "import neyman as ny",
    ...(choice.group > 1 ? ["from neyman.curves import group"] : []),
    "",
    `f = ${expression(choice)}`,
    `print("epsilon", f.epsilon(${choice.delta}, bracket=True))`,
    `print("true positive rate", f.tpr(${choice.alpha}, bracket=True))`,
    `print(ny.report.explain(f, language="en", priors=[${choice.prior}]))`,
  ].join("\n");
}

function asCommand(choice) {
  const { kind, mu, count, group, phases, delta, alpha, prior } = choice;
  if (kind === "training" && group === 1) {
    const words = phases.map(([noise, rate, steps]) => `--phase noise=${noise},q=${rate},steps=${steps}`);
    return [
      `neyman account ${words.join(" ")} --delta ${delta} --fpr ${alpha}`,
      `neyman explain ${words.join(" ")} --prior ${prior} --fpr ${alpha} --delta ${delta}`,
    ].join("\n");
  }
  if (kind === "gaussian") {
    return count === 1
      ? `neyman convert --mu ${decimalOf(mu * group)} --delta ${delta}`
      : `neyman convert --rho ${decimalOf((count * (mu * group) ** 2) / 2)} --delta ${delta}`;
  }
  const claim = phases.length > 1 && kind === "training" ? null : expression(choice, "");
  return claim === null
    ? "# No command takes a group of records in several phases. Use Python."
    : `neyman audit scores.csv --claim '${claim}' --delta ${delta}`;
}

function asSpec(choice) {
  const { kind, mu, epsilon, failure, count } = choice;
  if (kind === "training") {
    return [
      "# A spec says which statistics of a table are released. A training has a run record:",
      "# neyman.training writes it, and `neyman account model.run.json` says what it costs.",
    ].join("\n");
  }
  const lines = {
    gaussian: [`mu = ${decimalOf(mu * Math.sqrt(count))}`],
    laplace: [`epsilon = ${decimalOf(epsilon * count)}`],
    pure: [`epsilon = ${decimalOf(epsilon * count)}`],
    approx: [`epsilon = ${decimalOf(epsilon * count)}`, `delta = ${decimalOf(failure * count)}`],
  }[kind];
  const price = kind === "gaussian" ? `mu = ${mu}` : `epsilon = ${epsilon}`;
  return [
    "# Part of a spec; `neyman init FILE` writes the rest.",
    "[budget]",
    ...lines,
    "",
    "[[query]]",
    'entry = "count"',
    'statistic = "count"',
    price,
  ].join("\n");
}

function asSentence(choice, curve, grid) {
  const epsilon = curve.epsilon(choice.delta);
  const guess = headlineOf(guessOf(curve, choice.prior, grid), choice.prior).join("");
  const limit = Number.isFinite(epsilon[1])
    ? `The release is (${atMost(epsilon[1])}, ${plainly(choice.delta)})-differentially private.`
    : `At delta = ${plainly(choice.delta)} there is no epsilon.`;
  return `${capital(nameOf(choice))}. ${guess} ${powerSentence(choice.alpha, curve.tpr(choice.alpha))} ${limit}`;
}

const FORMS = {
  sentence: ["Sentences", (choice, curve, grid) => asSentence(choice, curve, grid)],
  command: ["Command", asCommand],
  spec: ["Spec (TOML)", asSpec],
  python: ["Python", asPython],
};
