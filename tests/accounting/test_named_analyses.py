"""Propose-test-release and votes of teachers."""

import numpy as np
import pytest

from neyman.accounting import gaussian_votes, propose_test_release
from neyman.curves import approx_dp, dominated_by, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter


def test_propose_test_release_is_a_composition():
    f = propose_test_release(gdp(3), gdp(4), failure=1e-6)
    assert f == dominated_by(gdp(5) @ approx_dp(0, 1e-6))
    assert f.delta(1, bracket=True).of == "class"
    alone = propose_test_release(laplace(1), identity(), failure=0)
    assert alone == dominated_by(laplace(1))


def test_propose_test_release_against_exact_laws():
    """A toy: the answer moves by 9 on data at distance 0, by 1 elsewhere; all is discrete here."""
    epsilon, reach = 0.7, 60
    k = np.arange(-reach, reach + 1)
    noise = np.exp(-epsilon * np.abs(k))
    noise /= noise.sum()
    # The test says yes where distance + noise >= 8.
    yes = [noise[k >= 8 - distance].sum() for distance in (0, 1, 12, 13)]
    failure = max(yes[0], yes[1])

    def output(says, answer):
        law = np.roll(noise, answer) * says
        return np.append(law, 1 - says)

    x = np.linspace(-2, 2, 41)
    # The discrete Laplace moved by one step is randomized response.
    part = pure_dp(epsilon)
    limit = propose_test_release(part, part, failure=failure).delta(x)
    pairs = [((yes[0], 0), (yes[1], 9)), ((yes[2], 0), (yes[3], 1)), ((yes[0], 9), (yes[1], 0))]
    for first, second in pairs:
        p, q = output(*first), output(*second)
        seen = np.sum(np.maximum(q - np.exp(x)[:, None] * p, 0), axis=1)
        assert np.all(seen <= limit + 1e-9)


def test_votes():
    assert gaussian_votes(queries=0, noise_scale=3) == identity()
    assert gaussian_votes(queries=8, noise_scale=2) == dominated_by(gdp(2))
    for wrong in ({"queries": -1}, {"noise_scale": 0}, {"queries": 1.5}):
        with pytest.raises(InvalidParameter):
            gaussian_votes(**{"queries": 1, "noise_scale": 1} | wrong)
    with pytest.raises(InvalidParameter, match="failure"):
        propose_test_release(gdp(1), gdp(1), failure=1)
