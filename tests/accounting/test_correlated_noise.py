"""Toeplitz, buffered and optimised strategies, their noise, and banded noise on samples."""

import weakref
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import ClassVar

import numpy as np
import pytest

from neyman.accounting import (
    BufferedStrategy,
    FixedEpochs,
    MinimumSeparation,
    Once,
    Strategy,
    ToeplitzStrategy,
    banded_strategy,
    buffered_strategy,
    optimised_strategy,
    square_root_strategy,
    tree_strategy,
)
from neyman.accounting._optimised import _log_cost
from neyman.curves import gdp, poisson
from neyman.errors import InvalidParameter

STEPS = 9
RNG = np.random.default_rng(5)
STRATEGIES = {
    "banded": banded_strategy(STEPS, 3),
    "square root": square_root_strategy(STEPS),
    "rising": ToeplitzStrategy([0.5, 2, 1, 0, 0, 0, 0, 0, 0]),
    "buffered": BufferedStrategy(length=STEPS, weights=(0.3, 0.4), decays=(0.9, 0.25)),
    "optimised": optimised_strategy(STEPS, 4, FixedEpochs(3)),
    "dense": Strategy(np.tril(RNG.random((STEPS, STEPS))) + np.eye(STEPS)),
}
ALL = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
PARTICIPATIONS = [
    Once(),
    FixedEpochs(3),
    FixedEpochs(4),
    FixedEpochs(20),
    *(
        MinimumSeparation(separation=b, times=k)
        for b, k in ((1, 2), (2, 3), (3, 3), (3, 9), (4, 2))
    ),
]


def patterns(participation):
    match participation:
        case Once():
            return [(t,) for t in range(STEPS)]
        case FixedEpochs(period=period):
            return [tuple(range(p, STEPS, period)) for p in range(min(period, STEPS))]
        case MinimumSeparation(separation=apart, times=times):
            return [
                p
                for k in range(1, times + 1)
                for p in combinations(range(STEPS), k)
                if all(b - a >= apart for a, b in pairwise(p))
            ]


def exact_matrix(strategy):
    if not isinstance(strategy, BufferedStrategy):
        return [[Fraction(float(x)) for x in row] for row in strategy.matrix]
    weights, decays = (list(map(Fraction, x)) for x in (strategy.weights, strategy.decays))
    first = [Fraction(1)] + [
        sum(w * d**k for w, d in zip(weights, decays, strict=True)) for k in range(STEPS - 1)
    ]
    return [[first[t - s] if t >= s else Fraction(0) for s in range(STEPS)] for t in range(STEPS)]


@ALL
@pytest.mark.parametrize("participation", PARTICIPATIONS, ids=str)
def test_the_sensitivity_is_the_largest_of_all_patterns(strategy, participation):
    matrix = exact_matrix(strategy)
    truth = max(sum(sum(row[t] for t in p) ** 2 for row in matrix) for p in patterns(participation))
    found = strategy.sensitivity_squared(participation)
    assert truth <= found <= truth * (1 + Fraction(1, 10**12))


def test_the_coefficients_of_buffers_are_rounded_up():
    strategy = BufferedStrategy(length=4000, weights=(0.3, 0.01), decays=(0.6, 0.9999))
    exact = [
        Fraction(0.3) * Fraction(0.6) ** k + Fraction(0.01) * Fraction(0.9999) ** k
        for k in (0, 1, 7, 300)
    ]
    for k, truth in zip((0, 1, 7, 300), exact, strict=True):
        found = Fraction(float(strategy.coefficients[k + 1]))
        assert truth <= found <= truth * (1 + Fraction(1, 10**12))
    assert np.all(np.diff(strategy.coefficients) <= 0)


@pytest.mark.shows("correlated-noise")
@ALL
def test_the_noise_solves_for_the_measured_noise(strategy):
    z = RNG.normal(size=(STEPS, 2, 3))
    rows = list(strategy.correlated(z))
    assert [row.shape for row in rows] == [(2, 3)] * STEPS
    matrix = np.asarray(exact_matrix(strategy), dtype=float)
    assert np.allclose(np.einsum("ts,sij->tij", matrix, np.stack(rows)), z, atol=1e-12)


@ALL
def test_the_error_is_that_of_its_noise(strategy):
    noise = np.stack(list(strategy.correlated(np.eye(STEPS))))
    norms = np.sum(np.cumsum(noise, axis=0) ** 2, axis=1)
    expected = np.sqrt(norms.max()), np.sqrt(norms.mean())
    assert strategy.error() == pytest.approx(expected, rel=1e-9)


class Row:
    """A row whose life can be watched."""

    alive: ClassVar = weakref.WeakSet()

    def __init__(self, value):
        self.value = value
        Row.alive.add(self)

    def __add__(self, other):
        return Row(self.value + other.value)

    def __sub__(self, other):
        return Row(self.value - other.value)

    def __mul__(self, factor):
        return Row(self.value * factor)


@pytest.mark.parametrize(
    ("strategy", "most"),
    [
        (banded_strategy(200, 3), 5),
        (BufferedStrategy(length=200, weights=(0.3, 0.4), decays=(0.9, 0.25)), 6),
        (Strategy(banded_strategy(200, 3).matrix), 5),
    ],
)
def test_noise_is_made_in_bounded_memory(strategy, most):
    Row.alive.clear()
    largest = max(len(Row.alive) for _ in strategy.correlated(Row(float(t)) for t in range(200)))
    assert largest <= most


@ALL
def test_more_noise_than_steps_is_refused(strategy):
    with pytest.raises(InvalidParameter, match="more than 9 rows"):
        list(strategy.correlated(np.zeros((STEPS + 1, 1))))


def test_trees_have_no_row_for_each_step():
    with pytest.raises(InvalidParameter, match="lower triangular"):
        next(tree_strategy(4).correlated(np.zeros((4, 1))))


# -- the search -----------------------------------------------------------------------------------


def cost(strategy, participation):
    return strategy.error()[1] * float(strategy.sensitivity_squared(participation)) ** 0.5


@pytest.mark.parametrize("participation", PARTICIPATIONS[:5], ids=str)
def test_the_slope_of_the_cost(participation):
    first = np.sort(RNG.random(STEPS))[::-1]
    slope = _log_cost(first, participation)[1]
    for k, step in enumerate(1e-6 * np.eye(STEPS)):
        change = (
            _log_cost(first + step, participation)[0] - _log_cost(first - step, participation)[0]
        )
        assert slope[k] == pytest.approx(change / 2e-6, abs=1e-7)


@pytest.mark.parametrize("participation", PARTICIPATIONS, ids=str)
@pytest.mark.parametrize("bands", [1, 3, STEPS])
def test_no_falling_coefficients_do_better(participation, bands):
    best = cost(optimised_strategy(STEPS, bands, participation), participation)
    assert best <= cost(banded_strategy(STEPS, bands), participation) * (1 + 1e-9)
    near = optimised_strategy(STEPS, bands, participation).coefficients[:bands]
    for trial in range(300):
        first = np.zeros(STEPS)
        wide = RNG.random(bands) if trial % 2 else near * np.exp(0.05 * RNG.normal(size=bands))
        first[:bands] = np.sort(wide)[::-1] + 1e-9
        assert cost(ToeplitzStrategy(first), participation) >= best * (1 - 1e-7)


def test_buffers_come_close_to_every_row():
    steps, twice = 512, MinimumSeparation(separation=128, times=4)
    best = cost(optimised_strategy(steps, steps, twice), twice)
    costs = [cost(buffered_strategy(steps, d, twice), twice) for d in (1, 2, 3)]
    assert costs[0] >= costs[1] >= costs[2] * (1 - 1e-9)
    assert best <= costs[2] <= best * 1.06
    assert costs[2] < cost(square_root_strategy(steps), twice)


@pytest.mark.parametrize("steps", [8, 64])
def test_no_matrix_at_all_does_much_better_than_shifts(steps):
    """Of every C, the error times the sensitivity is at least the nuclear norm of A over steps."""
    prefix = np.tril(np.ones((steps, steps)))
    least = np.sum(np.linalg.svd(prefix, compute_uv=False)) / steps
    found = cost(optimised_strategy(steps, steps, Once()), Once())
    assert least <= found * (1 + 1e-12)
    assert found <= least * 1.08


# -- samples --------------------------------------------------------------------------------------


def lost(columns, probability, sigma, epsilon):
    """Return delta(epsilon) of samples of these columns, on a grid in as many dimensions."""
    gram = np.asarray([[a @ b for b in columns] for a in columns])
    root = np.linalg.cholesky(gram + 1e-12 * np.eye(len(columns)))
    axis, h = np.linspace(-8, 11, 400, retstep=True)
    points = np.stack(np.meshgrid(*[axis] * len(columns), indexing="ij"), axis=-1)

    def density(mean):
        return np.exp(-np.sum((points - mean) ** 2, axis=-1) / 2) / (2 * np.pi) ** (len(gram) / 2)

    without, whole = density(np.zeros(len(gram))), 0.0
    for taken in product((0, 1), repeat=len(gram)):
        chance = np.prod([probability if t else 1 - probability for t in taken])
        whole = whole + chance * density(np.asarray(taken) @ root / sigma)
    cell = h ** len(gram)
    return max(
        cell * np.sum(np.maximum(a - np.exp(epsilon) * b, 0))
        for a, b in ((whole, without), (without, whole))
    )


@pytest.mark.parametrize("steps", [3, 4])
def test_bands_make_sampled_steps_independent(steps):
    strategy, sigma, p = ToeplitzStrategy([1, 0.75] + [0] * (steps - 2)), 1.2, 0.3
    f = strategy.cyclic_poisson(noise_multiplier=1.2, sampling_probability=0.3)
    for epsilon in (0.0, 0.5, 1.0):
        truth = lost([strategy.matrix[:, t] for t in (0, 2)], p, sigma, epsilon)
        found = f.delta(epsilon, bracket=True)
        assert found.of == "class"
        assert found.lower - 1e-6 <= truth <= found.upper + 1e-6
        if steps == 4:
            assert found.upper - found.lower < 1e-8
    whole = poisson(gdp(squared=strategy.sensitivity_squared(Once()) / Fraction(36, 25)), 0.3)
    assert f.delta(0.5) == pytest.approx((whole**2).delta(0.5), rel=1e-12)


def test_steps_that_share_a_measurement_are_not_independent():
    """The twin: what would be claimed of fewer groups than bands is too little."""
    strategy, p = ToeplitzStrategy([1, 0.75]), 0.3
    claimed = poisson(gdp(squared=strategy.sensitivity_squared(Once())), 0.3) ** 2
    truth = lost([strategy.matrix[:, t] for t in (0, 1)], p, 1.0, 1.0)
    shared = ToeplitzStrategy([1, 0.75, 0])
    overlapping = lost([shared.matrix[:, t] for t in (0, 1)], p, 1.0, 1.0)
    assert overlapping > truth
    assert overlapping > claimed.delta(1.0) * 1.05
    with pytest.raises(InvalidParameter, match="share no measurement"):
        shared.cyclic_poisson(noise_multiplier=1, sampling_probability=0.3, groups=1)


def test_samples_of_one_record_replaced_lose_more():
    strategy = banded_strategy(64, 8)
    one, other = (
        strategy.cyclic_poisson(
            noise_multiplier=2, sampling_probability=0.1, neighbors=neighbors, groups=16
        )
        for neighbors in ("add_remove", "replace_one")
    )
    assert one.epsilon(1e-5) < other.epsilon(1e-5)
    assert other.remove.neighbors == "replace_one"
    everybody = strategy.cyclic_poisson(noise_multiplier=2, sampling_probability=1, groups=16)
    whole = strategy.tradeoff(noise_multiplier=2, participation=FixedEpochs(16))
    assert everybody.mu() == pytest.approx(whole.mu(), rel=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ToeplitzStrategy([]),
        lambda: ToeplitzStrategy([0, 1]),
        lambda: ToeplitzStrategy([1, -1]),
        lambda: ToeplitzStrategy([1, np.nan]),
        lambda: ToeplitzStrategy([1, 2.0**-200]),
        lambda: BufferedStrategy(length=0, weights=(0.5,), decays=(0.5,)),
        lambda: BufferedStrategy(length=9, weights=(0.5, 0.6), decays=(0.5, 0.5)),
        lambda: BufferedStrategy(length=9, weights=(0.5,), decays=(1.0,)),
        lambda: BufferedStrategy(length=9, weights=(), decays=()),
        lambda: BufferedStrategy(length=9, weights=(0.5,), decays=(0.5, 0.5)),
        lambda: optimised_strategy(9, 10, Once()),
        lambda: optimised_strategy(0, 1, Once()),
        lambda: buffered_strategy(9, 0, Once()),
        lambda: square_root_strategy(2**30),
        lambda: banded_strategy(9, 3).cyclic_poisson(noise_multiplier=0, sampling_probability=0.1),
        lambda: tree_strategy(4).cyclic_poisson(noise_multiplier=1, sampling_probability=0.1),
    ],
)
def test_what_makes_no_sense_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()
