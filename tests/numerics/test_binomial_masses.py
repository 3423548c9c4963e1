"""Binomial probabilities, far from the mean as well."""

import numpy as np
import pytest

from neyman.numerics._distributions._binomial_masses import log_binomial

mpmath = pytest.importorskip("mpmath")


@pytest.mark.parametrize(("n", "p"), [(100, 1e-4), (1000, 0.3), (5000, 1e-6), (50, 0.99)])
def test_errors_hold_at_every_count(n: int, p: float) -> None:
    log, error = log_binomial(n, p, 1 - p)
    with mpmath.workdps(40):
        truth = [
            float(
                mpmath.log(mpmath.binomial(n, j))
                + j * mpmath.log(mpmath.mpf(p))
                + (n - j) * mpmath.log(1 - mpmath.mpf(p))
                - mpmath.mpf(float(value))
            )
            for j, value in enumerate(log)
        ]
    assert np.all(np.abs(truth) <= error)
