"""Guarantees of samplers: composed, written down, and never below what is lost on small cases."""

import json
from collections import Counter
from fractions import Fraction
from math import prod

import numpy as np
import pytest

from neyman.accounting import (
    dp_sgd,
    random_allocation,
    shuffled_attack,
    truncated_poisson,
    truncated_poisson_places,
)
from neyman.curves import TradeOff, gdp, poisson
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.training import (
    BallsInBins,
    CyclicPoisson,
    FixedBatches,
    PoissonBatches,
    ShuffledBatches,
    TruncatedPoissonBatches,
    UserBatches,
)
from training.small_laws import SMALL, seed

RELATIONS = ("add_remove", "replace_one")
SIGMA = Fraction(4, 5)
EPSILONS = np.array([0.0, 0.1, 0.3, 0.7, 1.2, 2.0])


def proved_for(kind, parameters, neighbors):
    """Say whether something is proved; what is not is refused with a sentence."""
    try:
        kind(**parameters).guarantee(noise_multiplier=1, neighbors=neighbors)
    except RelationMismatch as refused:
        return "Write" not in str(refused)
    return True


CASES = [
    pytest.param(
        kind(**parameters, seed=seed("law")), law, neighbors, id=f"{kind.__name__}-{neighbors}"
    )
    for kind, (parameters, law) in SMALL.items()
    for neighbors in RELATIONS
    if proved_for(kind, parameters, neighbors)
]


# -- brute force ----------------------------------------------------------------------------------


def loss_of(law, one, others, sigma, each=1.0):
    """Return delta at EPSILONS, for data where the first record adds `one[0]` or `one[1]`.

    One or two steps, y_t = sum over the batch + sigma Z_t, by the trapezoidal rule on a line or a
    plane. `others` is what all other records add.
    """
    axis = np.arange(-9.5, 6.5, 0.03) * each
    densities = []
    for added in one:
        total = np.zeros(())
        for batches, chance in law.items():
            means = [each * sum(added if i == 0 else others for i in batch) for batch in batches]
            parts = [np.exp(-((axis - m) ** 2) / 2 / sigma**2) for m in means]
            total = total + float(chance) * prod(np.ix_(*parts))
        cell = (axis[1] - axis[0]) / np.sqrt(2 * np.pi) / sigma
        densities.append(total * cell**total.ndim)
    p, q = densities
    assert abs(p.sum() - 1) < 1e-6
    return np.array([np.sum(np.maximum(q - np.exp(e) * p, 0)) for e in EPSILONS])


def most_lost(law, neighbors, sigma, each=1.0):
    """Return the largest delta over a few datasets and both orders."""
    couples = {"add_remove": [(0, 1), (1, 0)], "replace_one": [(-1, 1)]}[neighbors]
    return np.max(
        [loss_of(law, one, others, sigma, each) for one in couples for others in (0, -1)], axis=0
    )


def scale_of(sampler):
    """A record of these data moves the sum by this much: of users, by all of their examples."""
    return float(getattr(sampler, "most", 1)) if isinstance(sampler, UserBatches) else 1.0


def first_step(law):
    """Return the law of the first step alone."""
    marginal = Counter()
    for batches, chance in law.items():
        marginal[batches[:1]] += chance
    return marginal


def check_loss(sampler, law, neighbors, steps):
    each = scale_of(sampler)
    noise = SIGMA * int(each)
    curve = sampler.guarantee(noise_multiplier=noise, neighbors=neighbors, steps=steps)
    found = curve.delta(EPSILONS, bracket=True)
    lost = most_lost(law, neighbors, float(noise), each)
    # The rule's error at kinks is below 1e-3 of what is found.
    assert np.all(found.upper >= lost * (1 - 1e-3) - 1e-9)
    if found.of == "mechanism":
        # Exact: no slack, so that a guarantee for more noise is refuted.
        louder = sampler.guarantee(
            noise_multiplier=noise * Fraction(21, 20), neighbors=neighbors, steps=steps
        )
        assert np.any(louder.delta(EPSILONS) < lost * (1 - 1e-3))


@pytest.mark.parametrize(("sampler", "law", "neighbors"), CASES)
def test_no_guarantee_of_a_step_is_below_what_is_lost(sampler, law, neighbors):
    check_loss(sampler, first_step(law), neighbors, 1)


# Few steps of what is symmetrised are composed in half a minute.
@pytest.mark.parametrize(
    ("sampler", "law", "neighbors"),
    [
        pytest.param(*case.values, id=case.id, marks=pytest.mark.soak if slow else ())
        for case in CASES
        for slow in [
            case.values[2] == "replace_one"
            and isinstance(case.values[0], TruncatedPoissonBatches | FixedBatches)
        ]
    ],
)
def test_no_guarantee_of_two_steps_is_below_what_is_lost(sampler, law, neighbors):
    check_loss(sampler, law, neighbors, 2)


def test_what_a_poisson_guarantee_would_say_of_shuffled_batches_is_refuted():
    parameters, law = SMALL[ShuffledBatches]
    sampler = ShuffledBatches(**parameters)
    lost = most_lost(law, "add_remove", float(SIGMA))
    hoped = dp_sgd(SIGMA, Fraction(3, 5), sampler.steps)
    assert np.any(hoped.delta(EPSILONS) < lost)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(("steps", "sigma"), [(2, 0.5), (3, 1.0)])
def test_the_attack_on_shuffled_batches_by_simulation(neighbors, steps, sigma):
    """Its rate of hits is that of real batches of a sampler: 400,000 epochs, 6 deviations."""
    rng, epochs = np.random.default_rng(3), 20_000
    moved = 0 if neighbors == "replace_one" else 1
    sampler = ShuffledBatches(
        records=2 * steps, batch_size=2, epochs=epochs, seed=seed(f"{steps}{sigma}")
    )
    assert sampler.steps == steps * epochs
    inside = np.array([0 in sampler.batch(t) for t in range(sampler.steps)]).reshape(-1, steps)
    curve = shuffled_attack(noise_multiplier=sigma, steps=steps, neighbors=neighbors)
    place = 1.6
    hits = []
    for added in (2, moved):
        noise = rng.normal(scale=sigma, size=(20, *inside.shape))
        hits.append(np.mean((added * inside + noise).max(axis=-1) > place))
    # A test of the attack's size has at most the curve's power, but for chance.
    alpha, power = hits[1], hits[0]
    assert curve.beta(alpha) == pytest.approx(1 - power, abs=6 * 0.5 / np.sqrt(20 * epochs) + 2e-3)


# -- laws -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sampler", "law", "neighbors"), CASES)
def test_guarantees_compose_and_are_written(sampler, law, neighbors):
    del law
    curve = sampler.guarantee(noise_multiplier=SIGMA, neighbors=neighbors)
    assert curve @ curve == curve**2
    assert TradeOff.from_json(json.loads(json.dumps(curve.to_json()))) == curve
    assert sampler.guarantee(noise_multiplier=SIGMA, neighbors=neighbors, steps=2) == curve
    none = sampler.guarantee(noise_multiplier=SIGMA, neighbors=neighbors, steps=0)
    assert none.delta(0) == 0


@pytest.mark.parametrize(("sampler", "law", "neighbors"), CASES)
def test_noise_that_is_none_is_refused(sampler, law, neighbors):
    del law
    for noise in (0, -1, float("nan")):
        with pytest.raises(InvalidParameter, match="noise_multiplier"):
            sampler.guarantee(noise_multiplier=noise, neighbors=neighbors)
    with pytest.raises(InvalidParameter, match="neighbouring relation"):
        sampler.guarantee(noise_multiplier=1, neighbors="substitute")


def test_which_relations_are_proved():
    proved = {(case.values[0].__class__, case.values[2]) for case in CASES}
    every = {(kind, neighbors) for kind in SMALL for neighbors in RELATIONS}
    assert every - proved == {(FixedBatches, "add_remove"), (BallsInBins, "replace_one")}


def test_guarantees_are_those_of_accounting():
    n, q, steps = 60_000, Fraction(1, 250), 100
    assert PoissonBatches(records=n, rate=q, steps=steps).guarantee(noise_multiplier=1) == dp_sgd(
        1, q, steps
    )
    bins = BallsInBins(records=n, steps=30, epochs=3)
    assert bins.guarantee(noise_multiplier=2) == random_allocation(
        noise_multiplier=2, steps=10, epochs=3
    )
    cyclic = CyclicPoisson(records=n, rate=q, bands=8, steps=steps)
    assert cyclic.guarantee(noise_multiplier=1) == dp_sgd(1, q, 13)
    users = UserBatches(users=n, most=4, rate=q, steps=steps)
    assert users.guarantee(noise_multiplier=8) == dp_sgd(2, q, steps)
    cut = TruncatedPoissonBatches(records=n, rate=q, most=300, steps=steps)
    assert cut.guarantee(noise_multiplier=1, neighbors="replace_one") == (
        truncated_poisson(
            gdp(1),
            sampling_probability=q,
            most=300,
            records=n,
            neighbors="replace_one",
            dropped="at_random",
        )
        ** steps
    )


def test_shuffled_batches_have_two_numbers():
    sampler = ShuffledBatches(records=10_000, batch_size=100, epochs=1)
    found = sampler.guarantee(noise_multiplier=1).epsilon(1e-5, bracket=True)
    low = sampler.lower_bound(noise_multiplier=1).epsilon(1e-5, bracket=True).lower
    assert found.of == "class"
    assert found.value == gdp(1).epsilon(1e-5)
    assert found.lower == pytest.approx(low)
    # What Poisson sampling would be worth, which shuffling must not be taken for.
    assert dp_sgd(1, Fraction(1, 100), 100).epsilon(1e-5) < low / 5


# -- places ---------------------------------------------------------------------------------------


def test_places_that_no_batch_can_overfill_are_plain():
    f = gdp(1)
    for most in (20, 30):
        assert truncated_poisson_places(
            f, sampling_probability=0.3, most=most, places=20
        ) == poisson(f, 0.3)
    with pytest.raises(InvalidParameter, match="probability"):
        truncated_poisson_places(f, sampling_probability=0, most=2, places=20)


@pytest.mark.parametrize(
    ("p", "most", "places"), [(0.3, 2, 4), (0.9, 1, 5), (1, 3, 5), (0.01, 4, 5)]
)
def test_chances_of_places_by_going_through_all_samples(p, most, places):
    """Given the others in the batch, the one is in it with the chances that the mixture has."""
    from training.small_laws import poisson_law

    rate = Fraction(str(p))
    law = poisson_law(range(places), rate, most)
    seen = {}
    for batch, chance in law.items():
        others = seen.setdefault(batch - {0}, [Fraction(0), Fraction(0)])
        others[0 in batch] += chance
    f, parts = gdp(1), {}
    for out, within in seen.values():
        share = within / (out + within) if out + within else Fraction(0)
        parts[share] = parts.get(share, 0) + out + within
    found = truncated_poisson_places(f, sampling_probability=rate, most=most, places=places)
    for epsilon in (0.0, 0.4, 1.0):
        exact = sum(float(w) * poisson(f, s).delta(epsilon) for s, w in parts.items() if s)
        assert exact * (1 - 1e-12) <= found.delta(epsilon) <= exact * (1 + 1e-9)
