"""Formulas for Gaussian noise that are often quoted. Each is checked against the exact curve."""

from fractions import Fraction

from neyman.curves import gdp
from neyman.errors import InvalidParameter
from neyman.numerics import Interval, Real, exact, log, normal_quantile, text

__all__ = ["classic_gaussian_sigma", "hall_gaussian_sigma", "probabilistic_gaussian_sigma"]


def classic_gaussian_sigma(epsilon: Real, delta: Real, sensitivity: Real) -> float:
    """Return sqrt(2 ln(1.25/delta)) sensitivity / epsilon, if that noise is (epsilon, delta)-DP.

    For comparison with numbers of other authors. The proof needs epsilon < 1. In fact the formula
    holds up to epsilon = 3.78 (delta = 0.9), 8.41 (1e-5) or 10.24 (1e-12), and fails beyond. Where
    it holds, it gives too much noise: at (1, 1e-5) 4.845 times the sensitivity, against 3.731 by
    exact calibration, `calibrate(lambda s: gdp(sensitivity / s), EpsilonDelta(epsilon, delta))`.

    Args:
        epsilon: positive.
        delta: in (0, 1).
        sensitivity: in the L2 norm, positive.

    Raises:
        InvalidParameter: if a parameter is out of range, or if the exact delta of that noise is
            larger than delta.

    Guarantee: the noise returned is (epsilon, delta)-DP, by the exact profile.
    Error: rounded up.
    Source: Dwork and Roth (2014), "The algorithmic foundations of differential privacy", theorem
        A.1; Balle and Wang (2018) for the exact profile.

    >>> f"{classic_gaussian_sigma(1, 1e-5, 1):.6f}"
    '4.844805'
    """
    return _checked("sqrt(2 ln(1.25/delta)) / epsilon", 1.25, epsilon, delta, sensitivity)


def hall_gaussian_sigma(epsilon: Real, delta: Real, sensitivity: Real) -> float:
    """Return sqrt(2 ln(2/delta)) sensitivity / epsilon, if that noise is (epsilon, delta)-DP.

    Hall, Rinaldo and Wasserman state it without a bound on epsilon. It holds for every delta up to
    epsilon = 6.36 and for delta = 1e-5 up to 9.39, and fails beyond. At (1, 1e-5) it gives 4.941
    times the sensitivity, against 3.731 by exact calibration.

    Args:
        epsilon: positive.
        delta: in (0, 1).
        sensitivity: in the L2 norm, or the norm that the covariance defines; positive.

    Raises:
        InvalidParameter: if a parameter is out of range, or if the exact delta of that noise is
            larger than delta.

    Guarantee: the noise returned is (epsilon, delta)-DP, by the exact profile.
    Error: rounded up.
    Source: Hall, Rinaldo and Wasserman (2013), "Differential privacy for functions and functional
        data", proposition 3.

    >>> f"{hall_gaussian_sigma(1, 1e-5, 1):.6f}"
    '4.940865'
    """
    return _checked("sqrt(2 ln(2/delta)) / epsilon", 2.0, epsilon, delta, sensitivity)


def probabilistic_gaussian_sigma(epsilon: Real, delta: Real, sensitivity: Real) -> float:
    """Return the least noise whose loss exceeds epsilon with probability at most delta.

        P(L > epsilon) = Phi(mu/2 - epsilon/mu) <= delta,  mu = z + sqrt(z^2 + 2 epsilon),
        z = Phi^-1(delta),  sigma = sensitivity / mu

    This is probabilistic DP. Do not account in it: post-processing and composition do not preserve
    it. It implies (epsilon, delta)-DP, but not the reverse, because it leaves out the second term
    of delta = P(L > epsilon) - e^epsilon P(L' < -epsilon). At (1, 1e-5) it gives 4.379 times the
    sensitivity, against 3.731 by exact calibration.

    Args:
        epsilon: positive.
        delta: in (0, 1).
        sensitivity: in the L2 norm, positive.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: rounded up.
    Source: Machanavajjhala, Kifer, Abowd, Gehrke and Vilhuber (2008), "Privacy: theory meets
        practice on the map", definition 4, for the notion.

    >>> f"{probabilistic_gaussian_sigma(1, 1e-5, 1):.6f}"
    '4.379070'
    """
    loss, failure, reach = _parameters(epsilon, delta, sensitivity)
    z, twice = normal_quantile(Interval.of(failure)), Interval.of(2 * loss)
    root = (z.squared() + twice).sqrt()
    mu = twice / (root - z) if z.middle < 0 else root + z
    return float((Interval.of(reach) / mu).upper)


def _checked(formula: str, constant: float, epsilon: Real, delta: Real, sensitivity: Real) -> float:
    loss, failure, reach = _parameters(epsilon, delta, sensitivity)
    width = (2 * log(constant / Interval.of(failure))).sqrt()
    sigma = float((width * Interval.of(reach / loss)).upper)
    found = gdp(reach / exact(sigma, "sigma")).delta(float(loss))
    if found > failure:
        raise InvalidParameter(
            f"sigma = {formula} does not hold at epsilon={float(loss):g}, "
            f"delta={float(failure):g}: its noise has delta {found:.4g}. Write "
            "calibrate(lambda s: gdp(sensitivity / s), EpsilonDelta(epsilon, delta)), which is "
            "exact"
        )
    return sigma


def _parameters(
    epsilon: Real, delta: Real, sensitivity: Real
) -> tuple[Fraction, Fraction, Fraction]:
    loss, failure = exact(epsilon, "epsilon"), exact(delta, "delta")
    reach = exact(sensitivity, "sensitivity")
    if min(loss, reach) <= 0 or not 0 < failure < 1:
        raise InvalidParameter(
            "epsilon and sensitivity must be positive, and delta strictly between 0 and 1; got "
            f"epsilon={text(loss)}, delta={text(failure)}, sensitivity={text(reach)}"
        )
    return loss, failure, reach
