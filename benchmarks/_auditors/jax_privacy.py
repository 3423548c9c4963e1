"""jax_privacy: Clopper-Pearson with Bonferroni over thresholds, a GDP fit, one run."""

from jax_privacy.auditing import CanaryScoreAuditor

from benchmarks._auditors import LEVEL, Scores, answers

PACKAGE, METHOD = "jax_privacy", "Bonferroni"


def _of(scores: Scores) -> CanaryScoreAuditor:
    return CanaryScoreAuditor(scores.inside, scores.outside)


def _gdp(scores: Scores, delta: float) -> float:
    return _of(scores).epsilon_from_gdp(LEVEL, delta)


def _clopper_pearson(scores: Scores, delta: float) -> float:
    return _of(scores).epsilon_clopper_pearson(LEVEL, delta)


def _one_run(scores: Scores, delta: float) -> float:
    return _of(scores).epsilon_one_run(LEVEL, delta)


def _one_run_gdp(scores: Scores, delta: float) -> float:
    return _of(scores).epsilon_one_run_fdp(LEVEL, delta)


ANSWERS = answers(
    {
        "two samples, GDP": _gdp,
        "two samples, (epsilon, delta)": _clopper_pearson,
        "one run, GDP": _one_run_gdp,
        "one run, (epsilon, delta)": _one_run,
    }
)
