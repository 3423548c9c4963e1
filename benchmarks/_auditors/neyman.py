"""neyman: exact joint tests, and one run with numbers of guesses fixed beforehand."""

from benchmarks._auditors import LEVEL, Scores, answers
from neyman import audit
from neyman.curves import gdp

PACKAGE, METHOD = "neyman", ""


def _mu(scores: Scores, delta: float) -> float:
    found = audit.mu(scores.inside, scores.outside, level=LEVEL, seed=1)
    return gdp(found.value).epsilon(delta)


def _epsilon(scores: Scores, delta: float) -> float:
    found = audit.epsilon(scores.inside, scores.outside, delta=delta, level=LEVEL, seed=1)
    return found.value


def _one_run(scores: Scores, delta: float) -> audit.OneRun:
    return audit.one_run(
        scores=scores.scores, included=scores.coins, delta=delta, level=LEVEL, seed=1
    )


def _one_epsilon(scores: Scores, delta: float) -> float:
    return _one_run(scores, delta).epsilon


def _one_mu(scores: Scores, delta: float) -> float:
    return gdp(_one_run(scores, delta).mu).epsilon(delta)


ANSWERS = answers(
    {
        "two samples, GDP": _mu,
        "two samples, (epsilon, delta)": _epsilon,
        "one run, GDP": _one_mu,
        "one run, (epsilon, delta)": _one_epsilon,
    }
)
