"""What answers are of: the worst data of what was run, or a bound of it."""

from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import (
    DOUBLED_POISSON,
    FixedEpochs,
    banded_strategy,
    dp_sgd,
    from_dp_event,
    gaussian_votes,
    last_iterate,
    last_iterate_bounded,
    last_iterate_cyclic,
    propose_test_release,
    random_allocation,
    repeat_and_select,
    shuffled,
    truncated_poisson,
    without_replacement,
)
from neyman.curves import (
    compare,
    gaussian_mixture,
    gdp,
    group,
    laplace,
    levy_distance,
    poisson,
    pure_dp,
    roc_area,
    subgaussian,
    sup_distance,
    truncated_rho,
    zcdp,
)
from neyman.mechanisms import (
    AboveThreshold,
    ExponentialMechanism,
    PermuteAndFlip,
    ReportNoisyMax,
)
from neyman.testing import SeededBits


def truncated(p, most, dropped="at_random"):
    return truncated_poisson(
        gdp(1),
        sampling_probability=p,
        most=most,
        records=40,
        neighbors="add_remove",
        dropped=dropped,
    )


class ExponentialMechanismDpEvent:
    epsilon = 0.5


class PermuteAndFlipDpEvent:
    epsilon = 0.5


CHOICE = {"epsilon": 1, "sensitivity": 1}
EXACT = {
    "Poisson sampling": dp_sgd(2, 0.1, 5),
    "Poisson sampling of a record replaced": dp_sgd(2, 0.1, 5, neighbors="replace_one"),
    "Poisson batches that are never full": truncated(Fraction(1, 10), 40),
    "Poisson batches that are always full": truncated(1, 10),
    "random allocation": random_allocation(noise_multiplier=2, steps=3),
    "batches of a fixed size by an assumption": without_replacement(
        gdp(1), records=10, batch=2, assume=DOUBLED_POISSON
    ).curve,
    "groups under Gaussian noise": group(gdp(1), 3),
    "groups under Laplace noise": group(laplace(1), 3),
    "sampled groups under Gaussian noise": group(poisson(gdp(1), 0.1), 3),
    "sums that change by a random amount": gaussian_mixture(
        {0: Fraction(1, 2), 1: Fraction(1, 2)}, noise_multiplier=1
    ),
    "the matrix mechanism": banded_strategy(16, 4).tradeoff(
        noise_multiplier=2, participation=FixedEpochs(4)
    ),
    "the last iterate of full batches": last_iterate(step_mu=1, contraction=0.5, steps=5),
}
BOUNDS = {
    "Poisson batches that are full at times": truncated(Fraction(1, 10), 5),
    "Poisson batches cut by any rule": truncated(Fraction(1, 10), 20, "by_any_rule"),
    "batches of a fixed size": without_replacement(gdp(1), records=10, batch=2).curve,
    "shuffled reports": shuffled(1, reports=10).curve,
    "sampled groups under Laplace noise": group(poisson(laplace(1), 0.1), 3),
    "the best of several runs": repeat_and_select(gdp(0.5), mean=10, shape=1),
    "the exponential mechanism": ExponentialMechanism(**CHOICE).tradeoff,
    "permute-and-flip": PermuteAndFlip(**CHOICE).tradeoff,
    "noisy max": ReportNoisyMax(**CHOICE).tradeoff,
    "sparse vectors": AboveThreshold(**CHOICE, hits=1, source=SeededBits(1)).tradeoff,
    "an exponential mechanism's event": from_dp_event(
        ExponentialMechanismDpEvent(), neighbors="add_remove"
    ),
    "a permute-and-flip's event": from_dp_event(PermuteAndFlipDpEvent(), neighbors="add_remove"),
    "propose-test-release": propose_test_release(laplace(0.5), gdp(1), failure=1e-6),
    "votes": gaussian_votes(queries=200, noise_scale=40),
    "the last iterate in a bounded set": last_iterate_bounded(
        step_mu=0.5, contraction=1, steps=100, diameter=3
    ),
    "the last iterate of cyclic batches": last_iterate_cyclic(
        step_mu=1, contraction=1, batches=4, epochs=13
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_worst_cases_are_of_a_mechanism(name):
    found = EXACT[name].delta(0.3, bracket=True)
    assert found.of == "mechanism"
    assert found.upper - found.lower <= 1e-3 * found.upper


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_are_of_a_class_alone_and_beside_others(name):
    found = BOUNDS[name].delta(0.3, bracket=True)
    assert found.of == "class"
    assert found.lower <= found.upper
    assert (BOUNDS[name] @ gdp(0.1)).of_class


def test_no_lower_end_is_above_what_the_exponential_mechanism_loses():
    """All outcomes of n choices among k candidates, of which one score rises and others fall."""
    choice = ExponentialMechanism(epsilon=2, sensitivity=1)
    found = (choice.tradeoff**2).delta(0.5, bracket=True)
    lost = 0.0
    for k in (2, 3, 6):
        for gap in range(-4, 5):
            scores = np.zeros(k, dtype=np.int64)
            scores[0] = gap
            moved = scores - 1
            moved[0] += 2
            p, q = choice.probabilities(scores), choice.probabilities(moved)
            p2, q2 = np.outer(p, p), np.outer(q, q)
            lost = max(lost, float(np.sum(np.maximum(q2 - np.exp(0.5) * p2, 0.0))))
    assert found.lower <= lost <= found.upper
    # The curve composed is more than any of these lose: it is no worst pair.
    assert (choice.tradeoff.dominating() ** 2).delta(0.5, bracket=True).lower > lost


def test_no_lower_end_is_above_what_two_cyclic_epochs_lose():
    """A quadratic loss in one dimension; whatever batch the record is in."""
    curve = last_iterate_cyclic(step_mu=1, contraction=Fraction(1, 2), batches=3, epochs=2)
    found = curve.mu(bracket=True)
    # The last point is normal; the record moves its mean each time by one step that then shrinks.
    spread = np.sqrt(sum(0.25**k for k in range(6)))
    lost = [sum(0.5 ** (5 - k) for k in (place, place + 3)) / spread for place in range(3)]
    assert found.lower <= max(lost) <= found.upper


@pytest.mark.parametrize(
    "view",
    [
        lambda f: levy_distance(f, gdp(1)),
        lambda f: sup_distance(gdp(1), f),
        lambda f: compare(f, gdp(1)).above,
        lambda f: compare(gdp(1), f).below,
        roc_area,
        lambda f: truncated_rho(f, 10, bracket=True),
    ],
)
def test_numbers_made_of_several_views_are_of_a_class_too(view):
    assert view(BOUNDS["votes"]).of == "class"
    assert view(gdp(2)).of == "mechanism"


def test_the_loss_of_a_statement_is_of_a_class():
    assert subgaussian(zcdp(1)).parameter.of == "class"
    assert subgaussian(pure_dp(1)).parameter.of == "mechanism"


def test_an_attack_on_one_direction_attains_no_more_than_the_power_of_both():
    """Between the corners of the hull none attains it; advantage and errors are attained."""
    f = poisson(gdp(3), 0.2)
    rates = np.linspace(0.01, 0.9, 30)
    both, sides = f.tpr(rates), np.maximum(f.remove.tpr(rates), f.add.tpr(rates))
    shown = [side.tpr(rates, bracket=True).lower for side in (f.remove, f.add)]
    assert np.all(np.maximum(*shown) <= both)
    assert np.all(sides <= both + 1e-14)
    assert np.max(both - sides) > 1e-3
    assert f.advantage() == max(f.remove.advantage(), f.add.advantage())
    for prior in (0.1, 0.5, 0.8):
        errors = [side.bayes_error(prior) for side in (f.remove, f.add)]
        assert f.bayes_error(prior) == pytest.approx(min(errors), rel=1e-12)
