"""Hiding among clones against the sum over all counts, to 50 digits."""

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from neyman.curves._pairs._clones import ClonesPair


def profile(epsilon0, reports, epsilon):
    """The definition: the sum of (Q - e^epsilon P)_+ over all totals and first counts."""
    w, turn = mp.exp(mp.mpf(epsilon0.numerator) / epsilon0.denominator), mp.exp(mp.mpf(epsilon))
    p, total = 1 / w, mp.mpf(0)
    for clones in range(reports):
        m = clones + 1
        row = mp.binomial(reports - 1, clones) * p**clones * (1 - p) ** (reports - 1 - clones)
        for a in range(m + 1):
            value = (m - a) * (w - turn) - a * (w * turn - 1)
            if value > 0:
                total += row * mp.binomial(m, a) / mp.mpf(2) ** m * 2 / m * value / (1 + w)
    return total


@pytest.mark.parametrize(
    ("epsilon0", "reports"),
    [(Fraction(1), 60), (Fraction(1, 10**4), 50), (Fraction(1, 10**9), 20), (Fraction(4), 40)],
    ids=str,
)
def test_the_profile_holds_the_sum_over_all_counts(epsilon0, reports):
    """Also where e^epsilon0 is next to 1, and w - e^epsilon cancels."""
    pair = ClonesPair(epsilon0, reports)
    places = [share * float(epsilon0) for share in (0.0, 0.01, 0.3, 0.7, 0.99)]
    with mp.workdps(50):
        for place in [*places, -places[2]]:
            truth = profile(epsilon0, reports, repr(place))
            lower, upper = pair.delta_bracket(np.asarray(place))
            assert mp.mpf(float(lower)) <= truth <= mp.mpf(float(upper))
            # What is left out by Bernstein's inequality is below 1e-28.
            assert upper - lower <= 1e-11 * float(truth) + 1e-28
