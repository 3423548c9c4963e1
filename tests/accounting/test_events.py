"""Event trees against the guarantees that their definitions spell out."""

import math
from collections import namedtuple
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting._event_table import _ROWS
from neyman.accounting._events import from_dp_event
from neyman.curves import (
    TradeOff,
    approx_dp,
    bounded_range,
    discrete,
    discrete_gaussian,
    dominated_by,
    gaussian_mixture,
    gdp,
    group,
    identity,
    laplace,
    poisson,
    poisson_replace,
    pure_dp,
    subsample,
    zcdp,
)
from neyman.errors import InvalidParameter, RelationMismatch

# Same names and fields as dp_accounting's, by definition of the reader.
NoOp = namedtuple("NoOpDpEvent", "")
NonPrivate = namedtuple("NonPrivateDpEvent", "")
Unsupported = namedtuple("UnsupportedDpEvent", "")
Gaussian = namedtuple("GaussianDpEvent", "noise_multiplier")
Laplace = namedtuple("LaplaceDpEvent", "noise_multiplier")
DiscreteLaplace = namedtuple("DiscreteLaplaceDpEvent", "noise_parameter sensitivity")
DiscreteGaussian = namedtuple(
    "DiscreteGaussianDpEvent", "sigma sensitivity dimension", defaults=(1.0, None)
)
RandomizedResponse = namedtuple("RandomizedResponseDpEvent", "noise_parameter num_buckets")
Poisson = namedtuple("PoissonSampledDpEvent", "sampling_probability event")
WithoutReplacement = namedtuple(
    "SampledWithoutReplacementDpEvent", "source_dataset_size sample_size event"
)
WithReplacement = namedtuple(
    "SampledWithReplacementDpEvent", "source_dataset_size sample_size event"
)
SelfComposed = namedtuple("SelfComposedDpEvent", "event count")
Composed = namedtuple("ComposedDpEvent", "events")
Mixture = namedtuple("MixtureOfGaussiansDpEvent", "standard_deviation sensitivities sampling_probs")
ZCDp = namedtuple("ZCDpEvent", "rho xi", defaults=(0.0,))
EpsilonDelta = namedtuple("EpsilonDeltaDpEvent", "epsilon delta")
Exponential = namedtuple("ExponentialMechanismDpEvent", "epsilon")
PermuteAndFlip = namedtuple("PermuteAndFlipDpEvent", "epsilon")
Tree = namedtuple("SingleEpochTreeAggregationDpEvent", "noise_multiplier step_counts")

NON_PRIVATE = approx_dp(0, 1)
BOTH = pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])


def read(event: object, neighbors: str = "add_remove") -> TradeOff:
    return from_dp_event(event, neighbors=neighbors)


@BOTH
@pytest.mark.parametrize(
    ("event", "curve"),
    [
        (NoOp(), identity()),
        (NonPrivate(), NON_PRIVATE),
        (Gaussian(0), NON_PRIVATE),
        (Laplace(0.0), NON_PRIVATE),
        (DiscreteGaussian(0.0), NON_PRIVATE),
        (DiscreteGaussian(3.0, 0), identity()),
        (ZCDp(0.0, 0.5), pure_dp(0.5)),
        (SelfComposed(Gaussian(math.inf), 3), identity()),
        (Laplace(float("inf")), identity()),
        (DiscreteGaussian(math.inf), identity()),
        (Poisson(0.1, Gaussian(math.inf)), identity()),
        (Tree(math.inf, 5), identity()),
        (DiscreteLaplace(0.3, 0), identity()),
        (EpsilonDelta(0.5, 1e-6), approx_dp(0.5, 1e-6)),
        (EpsilonDelta(3, 1), NON_PRIVATE),
        (Exponential(0.25), dominated_by(bounded_range(0.25))),
        (PermuteAndFlip(0.25), dominated_by(laplace(0.25))),
        (ZCDp(0.0), identity()),
        (Composed([]), identity()),
        (SelfComposed(NonPrivate(), 0), identity()),
        (SelfComposed(NonPrivate(), 2), NON_PRIVATE),
        (Composed([EpsilonDelta(1, 0), NonPrivate(), NoOp()]), NON_PRIVATE),
    ],
)
def test_stated_outright(event: object, curve: TradeOff, neighbors: str) -> None:
    assert read(event, neighbors) == curve


@pytest.mark.parametrize(("neighbors", "change"), [("add_remove", 1), ("replace_one", 2)])
def test_noise_is_in_units_of_the_largest_record(neighbors: str, change: int) -> None:
    """Two records of norm 1 differ by 2, so replacing one doubles what the noise must hide."""
    assert read(Gaussian(0.7), neighbors) == gdp(change / Fraction(7, 10))
    assert read(Laplace(4), neighbors) == laplace(Fraction(change, 4))


def test_counts_multiply_down_and_add_up() -> None:
    once = Composed([Gaussian(10.0), SelfComposed(Gaussian(10.0), 11), NoOp()])
    tree = Composed([SelfComposed(once, 8), SelfComposed(SelfComposed(Gaussian(10), 2), 2)])
    assert read(tree) == gdp(1)


def test_exponential_mechanisms_are_counted() -> None:
    """100 runs at epsilon = 0.1 are not one run at epsilon = 0.1."""
    many = SelfComposed(EpsilonDelta(0.0, 1e-3), 100)
    assert float(read(many).delta(0)) == pytest.approx(1 - (1 - 1e-3) ** 100, rel=1e-12)
    assert read(SelfComposed(Exponential(0.0), 3)) == identity()
    whole = SelfComposed(Composed([Exponential(0.1)] * 10), 10)
    assert read(whole) == dominated_by(bounded_range(0.1, times=100))
    both = read(Composed([SelfComposed(Exponential(0.1), 100), Gaussian(2), Exponential(0.2)]))
    apart = bounded_range(0.1) ** 100 @ gdp(0.5) @ bounded_range(0.2)
    assert both.epsilon(1e-6) <= apart.epsilon(1e-6)


def test_wide_and_deep() -> None:
    """10^4 children of two kinds, and a chain far beyond Python's recursion limit."""
    children = [Gaussian(100.0), EpsilonDelta(0, 1e-9)] * 5_000
    wide = read(Composed(children))
    assert wide == gdp(squared=Fraction(1, 2)) @ approx_dp(0, 1e-9) ** 5_000
    deep: object = NoOp()
    for _ in range(20_000):
        deep = Composed([Gaussian(100), deep])
    assert read(deep) == gdp(squared=2)


def test_unequal_children_compose() -> None:
    scales = range(20, 1020)
    expected = sum(Fraction(1, scale**2) for scale in scales)
    assert read(Composed([Gaussian(scale) for scale in scales])) == gdp(squared=expected)


def test_many_unlike_children_are_rounded_up_a_little() -> None:
    """The exact sum of these squares has tens of thousands of bits."""
    scales = [Fraction(2000 + 8 * i + 1, 100) for i in range(2_000)]
    exactly = sum(1 / scale**2 for scale in scales)
    curve = read(Composed([Gaussian(scale) for scale in scales]))
    square = curve.outer_gaussian()
    assert square is not None
    assert exactly < square < exactly * (1 + Fraction(1, 2**400))


def test_equal_steps_are_composed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    power = TradeOff.__pow__

    def watched(curve: TradeOff, times: int) -> TradeOff:
        seen.append(times)
        return power(curve, times)

    monkeypatch.setattr(TradeOff, "__pow__", watched)
    steps = [EpsilonDelta(0, 1e-3)] * 7 + [NoOp()] * 5 + [Gaussian(1), Gaussian(2)]
    assert read(Composed(steps)) == approx_dp(0, 1e-3) ** 7 @ gdp(squared=1.25)
    assert seen == [7, 7]


def test_all_or_nothing_sampled_needs_no_amplification() -> None:
    assert read(Poisson(1, Gaussian(2))) == gdp(0.5)
    assert read(Poisson(0.0, NonPrivate())) == identity()
    assert read(Poisson(0.5, Composed([NonPrivate(), Gaussian(1)]))) == NON_PRIVATE


@pytest.mark.parametrize(
    ("event", "neighbors"),
    [
        (RandomizedResponse(0.5, 4), "add_remove"),
        (WithoutReplacement(100, 10, Gaussian(1)), "add_remove"),
        (Mixture(1.0, [0.0, 1.0], [0.9, 0.1]), "replace_one"),
    ],
)
def test_relations_do_not_mix(event: object, neighbors: str) -> None:
    other = {"add_remove": "replace_one", "replace_one": "add_remove"}[neighbors]
    message = f"of a {type(event).__name__} is known.*'{neighbors}'.*rite neighbors='{other}'"
    with pytest.raises(RelationMismatch, match=message):
        read(Composed([Gaussian(1), event]), neighbors)


@pytest.mark.parametrize("event", [Unsupported(), [1]])
def test_unknown_events_are_refused(event: object) -> None:
    with pytest.raises(
        InvalidParameter, match=f"an event must be one of .*; got a {type(event).__name__}"
    ):
        read(SelfComposed(Composed([NoOp(), event]), 3))


def test_one_record_replaced_in_a_sample_is_two_opposite_ones() -> None:
    step = Poisson(0.01, Composed([Gaussian(2), Gaussian(2)]))
    base = gdp(0.5) ** 2
    assert read(SelfComposed(step, 10), "replace_one") == poisson_replace(base, 0.01) ** 10
    assert read(SelfComposed(step, 10)) == poisson(base, 0.01) ** 10
    twice = Poisson(0.1, Poisson(0.1, Gaussian(2)))
    assert read(twice, "replace_one") == poisson_replace(gdp(0.5), 0.01)


def laplace_sample(noise: float, q: float, epsilon: float) -> float:
    """Hockey-stick of (1-q) Lap(0) + q Lap(1) from (1-q) Lap(0) + q Lap(-1), by a fine sum."""
    x = np.linspace(-60, 60, 1_200_001)

    def density(shift: float) -> np.ndarray:
        return np.exp(-np.abs(x - shift) / noise) / (2 * noise)

    first, second = ((1 - q) * density(0) + q * density(shift) for shift in (1.0, -1.0))
    return float(np.sum(np.maximum(first - math.exp(epsilon) * second, 0)) * (x[1] - x[0]))


def test_any_noise_on_a_sample_is_bounded_for_one_record_replaced() -> None:
    """Never less than opposite records of a Laplace sum lose, and C_q of what both together do."""
    found = read(Poisson(0.1, Laplace(1)), "replace_one")
    assert found == dominated_by(subsample(laplace(2), 0.1))
    for epsilon in (0.0, 0.05, 0.2, 0.5):
        assert found.delta(epsilon) >= laplace_sample(1, 0.1, epsilon) * (1 - 1e-6)
    # What is asked of the sample of one removed is far too little.
    assert poisson(laplace(1), 0.1).delta(0.05) < laplace_sample(1, 0.1, 0.05)
    assert found.delta(0.05, bracket=True).of == "class"
    several = [DiscreteGaussian(3.0), DiscreteLaplace(0.3, 1), ZCDp(0.1), EpsilonDelta(0.5, 1e-9)]
    for event in [*several, Exponential(0.5), PermuteAndFlip(0.5), Poisson(0.5, Laplace(1))]:
        bound = read(Poisson(0.01, event), "replace_one").delta(0.003)
        assert 0 < read(Poisson(0.01, event)).delta(0.003) <= bound < 0.01
    once = read(Poisson(0.2, Poisson(0.5, Laplace(1))), "replace_one")
    assert once == found


@pytest.mark.parametrize(("counts", "levels"), [(1, 1), (5, 3), ([3, 8], 4), (0, 0)])
def test_a_tree_holds_a_record_once_a_level(counts: object, levels: int) -> None:
    assert read(Tree(2.0, counts)) == gdp(squared=Fraction(levels, 4))
    assert read(Tree(2.0, counts), "replace_one") == gdp(squared=levels)
    assert read(Tree(0.0, counts)) == NON_PRIVATE


def test_the_relation_may_be_told_by_an_enum() -> None:
    relation = Enum("NeighboringRelation", "ADD_OR_REMOVE_ONE REPLACE_ONE REPLACE_SPECIAL")
    found = [from_dp_event(Gaussian(1), neighbors=member) for member in relation]
    assert found == [gdp(1), gdp(2), gdp(1)]
    with pytest.raises(InvalidParameter, match="must be a neighbouring relation; got"):
        from_dp_event(Gaussian(1), neighbors=None)


def test_a_mixture_is_the_poisson_sample_it_describes() -> None:
    mixture = read(Mixture(2.0, [0.0, 1.0], [0.99, 0.01]))
    assert mixture.delta(0.1) == pytest.approx(poisson(gdp(0.5), 0.01).delta(0.1), rel=1e-9)
    for weights in ([0.9, 0.2], [1.0], [], [1.1, -0.1]):
        with pytest.raises(InvalidParameter, match=r"with (the )?sum 1"):
            read(Mixture(2.0, [0.0, 1.0], weights))


def test_the_weights_of_a_mixture_may_be_computed() -> None:
    """[1/3] * 3 sums to less than 1 as decimals; a binomial's masses sum to 1 nearly."""
    thirds = read(Mixture(2.0, [0.0, 1.0, 2.0], [1 / 3] * 3))
    exactly = gaussian_mixture({change: Fraction(1, 3) for change in range(3)}, noise_multiplier=2)
    assert exactly.delta(1, bracket=True).lower <= thirds.delta(1)
    assert thirds.delta(1) == pytest.approx(exactly.delta(1), rel=1e-12)
    masses = [math.comb(8, j) * 0.1**j * 0.9 ** (8 - j) for j in range(9)]
    binomial = read(SelfComposed(Mixture(4.0, list(range(9)), masses), 50))
    grouped = group(poisson(gdp(0.25), 0.1), 8) ** 50
    assert binomial.epsilon(1e-6) == pytest.approx(grouped.epsilon(1e-6), rel=1e-9)
    assert read(Mixture(math.inf, [0.0, 1.0], [0.5, 0.5])) == identity()


def test_a_batch_of_all_records_is_no_sample() -> None:
    whole = read(WithoutReplacement(10, 10, Gaussian(2)), "replace_one")
    assert whole == gdp(1)
    some = read(WithoutReplacement(10, 5, Gaussian(2)), "replace_one")
    assert some.delta(0.5) < whole.delta(0.5)


def test_a_batch_may_hold_a_record_several_times() -> None:
    """Each batch of 3 draws out of 3 records, one of which is -1 or 1 and the others 0."""
    event = WithReplacement(3, 3, Gaussian(2))
    found = read(event, "replace_one")
    x = np.linspace(-30, 30, 600_001)
    weights = [math.comb(3, j) * (1 / 3) ** j * (2 / 3) ** (3 - j) for j in range(4)]

    def density(sign: int) -> np.ndarray:
        parts = (w * np.exp(-((x - sign * j) ** 2) / 8) for j, w in enumerate(weights))
        return sum(parts) / math.sqrt(8 * math.pi)

    for epsilon in (0.0, 0.5, 1.0, 2.0):
        gain = np.maximum(density(1) - math.exp(epsilon) * density(-1), 0)
        attained = float(np.sum(gain) * (x[1] - x[0]))
        # Whoever is told how often it was drawn can do no less.
        told = sum(w * gdp(j).delta(epsilon) for j, w in enumerate(weights) if j)
        assert attained <= found.delta(epsilon) <= told * (1 + 1e-9)
    once = read(WithReplacement(3, 1, Gaussian(2)), "replace_one")
    assert (
        once.dominating() == read(WithoutReplacement(3, 1, Gaussian(2)), "replace_one").dominating()
    )
    assert read(WithReplacement(0, 0, Gaussian(2)), "replace_one") == identity()
    few = read(WithReplacement(1000, 10, Gaussian(2)), "replace_one").epsilon(1e-6)
    alike = read(WithoutReplacement(1000, 10, Gaussian(2)), "replace_one").epsilon(1e-6)
    assert alike < few < math.inf
    with pytest.raises(RelationMismatch):
        read(event)


@pytest.mark.parametrize("kind", [WithReplacement, WithoutReplacement])
def test_a_special_record_in_a_batch_of_a_fixed_size(kind) -> None:
    """Any other may take its place, so that it is one that is replaced."""
    event = kind(100, 10, Gaussian(2))
    found = from_dp_event(event, neighbors="REPLACE_SPECIAL")
    replaced = read(event, "replace_one")
    assert found == dominated_by(replaced.dominating())
    charged = found.epsilon(1e-5)
    assert charged == replaced.epsilon(1e-5)
    # One of -1 or 1 among zeros, of which half is a special record's.
    least = poisson(gdp(0.5), 0.1).epsilon(1e-5)
    assert least <= charged


@pytest.mark.parametrize(
    "event",
    [
        ZCDp(math.inf),
        ZCDp(0.1, math.inf),
        EpsilonDelta(math.inf, 0.0),
        Exponential(math.inf),
        PermuteAndFlip(math.inf),
        Poisson(0.1, ZCDp(math.inf)),
    ],
)
@BOTH
def test_an_infinite_loss_is_no_guarantee(event: object, neighbors: str) -> None:
    assert read(event, neighbors) == NON_PRIVATE


def test_refusals_list_only_what_works() -> None:
    with pytest.raises(InvalidParameter, match="must be one of") as refusal:
        read(Unsupported())
    listed = str(refusal.value).partition("must be one of ")[2].partition(";")[0].split(", ")
    assert listed == sorted(_ROWS)


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(-1.0),
        Gaussian(math.nan),
        Gaussian("1"),
        Laplace(-0.5),
        DiscreteLaplace(0, 1),
        DiscreteLaplace(0.1, 1.5),
        DiscreteLaplace(-0.1, 1),
        Poisson(1.5, NoOp()),
        Poisson(-0.1, NoOp()),
        SelfComposed(NoOp(), -1),
        SelfComposed(NoOp(), 1.5),
        SelfComposed(NoOp(), True),
        EpsilonDelta(-1, 0),
        EpsilonDelta(1, 2),
        Exponential(-1.0),
        PermuteAndFlip(-1.0),
        ZCDp(-0.1),
        ZCDp(0.1, -0.2),
        DiscreteGaussian(-1.0),
        DiscreteGaussian(1.0, -1.0),
        DiscreteGaussian(1.0, 1.0, 0),
    ],
)
def test_senseless_fields_are_refused(event: object) -> None:
    with pytest.raises(InvalidParameter):
        read(event)


@pytest.mark.parametrize("event", [RandomizedResponse(1.5, 3), RandomizedResponse(0.5, 0)])
def test_senseless_randomized_response_is_refused(event: object) -> None:
    with pytest.raises(InvalidParameter, match="num_buckets at least 1"):
        read(event, "replace_one")


def test_missing_fields_are_named() -> None:
    with pytest.raises(InvalidParameter, match="GaussianDpEvent must have the field 'noise_multi"):
        read(namedtuple("GaussianDpEvent", "sigma")(1.0))


def test_unknown_relations_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="neighbors must be"):
        read(NoOp(), "replace_special")


# -- with the other rooms of the catalogue --------------------------------------------------------


def test_randomized_response_spells_out_its_law() -> None:
    """k buckets: the true one with 1 - p + p/k, each other with p/k; the rest tells nothing."""
    noise, buckets = 0.4, 5
    wrong = noise / buckets
    right = 1 - noise + wrong
    curve = read(RandomizedResponse(noise, buckets), "replace_one")
    assert float(curve.delta(0.0)) == pytest.approx(right - wrong, rel=1e-12)
    assert float(curve.delta(1.0)) == pytest.approx(right - math.e * wrong, rel=1e-12)
    bound = math.log(right / wrong)
    assert float(curve.delta(bound + 1e-9)) == 0
    assert float(curve.tpr(wrong)) == pytest.approx(right, rel=1e-12)
    assert read(RandomizedResponse(1, 5), "replace_one") == identity()
    assert read(RandomizedResponse(0.0, 1), "replace_one") == identity()
    assert read(RandomizedResponse(0.0, 2), "replace_one") == NON_PRIVATE


@pytest.mark.parametrize("relation", ["REPLACE_SPECIAL", Enum("N", "REPLACE_SPECIAL")(1)])
def test_a_special_record_answers_at_random(relation: object) -> None:
    noise, buckets = Fraction(2, 5), 5
    right = 1 - noise + noise / buckets
    found = from_dp_event(RandomizedResponse(0.4, 5), neighbors=relation)
    special = Fraction(1, buckets)
    assert found == discrete((special, 1 - special), (right, 1 - right))
    # One answer of five at random, against the laws of both, summed over all five.
    truth = max(
        sum(max(q - math.e**0.5 * p, 0) for p, q in pairs)
        for pairs in (
            [(0.2, float(right))] + [(0.2, float(noise / 5))] * 4,
            [(float(right), 0.2)] + [(float(noise / 5), 0.2)] * 4,
        )
    )
    assert found.delta(0.5) == pytest.approx(truth, rel=1e-12)
    silent = from_dp_event(RandomizedResponse(0.0, 4), neighbors=relation)
    assert silent.delta(0) == pytest.approx(0.75)
    assert from_dp_event(Gaussian(2), neighbors=relation) == gdp(0.5)
    with pytest.raises(RelationMismatch):
        from_dp_event(Poisson(0.1, RandomizedResponse(0.4, 5)), neighbors=relation)


@pytest.mark.parametrize(("neighbors", "change"), [("add_remove", 1), ("replace_one", 2)])
def test_discrete_gaussian_noise_on_one_coordinate(neighbors: str, change: int) -> None:
    """A change of length below sqrt(2) moves one coordinate; longer ones may move several."""
    found = read(DiscreteGaussian(5.0, 1.4, 1), neighbors)
    assert found == discrete_gaussian(5, sensitivity=change)
    assert read(DiscreteGaussian(5.0, 3, 1)) == discrete_gaussian(5, sensitivity=3)
    assert read(DiscreteGaussian(5.0)) == discrete_gaussian(5)
    assert read(DiscreteGaussian(5.0, 1.4, 7)) == discrete_gaussian(5)
    assert read(DiscreteGaussian(5.0, 2)) == zcdp(Fraction(4, 50))
    assert read(DiscreteGaussian(5.0, 1.5, 7)) == zcdp(Fraction(2, 50))


def test_two_buckets_are_pure() -> None:
    """p = 1/2, k = 2: 3/4 against 1/4, epsilon = log 3."""
    curve = read(RandomizedResponse(0.5, 2), "replace_one")
    assert float(curve.delta(0.0)) == pytest.approx(0.5, rel=1e-12)
    assert float(curve.epsilon(0.0)) == pytest.approx(math.log(3), rel=1e-12)


@pytest.mark.parametrize(("neighbors", "change"), [("add_remove", 3), ("replace_one", 6)])
def test_discrete_laplace_spells_out_its_law(neighbors: str, change: int) -> None:
    """Masses e^(-a|x|) tanh(a/2), moved by the change, summed at epsilon = 0 and 0.1."""
    a = 0.1
    curve = read(DiscreteLaplace(a, 3), neighbors)
    for epsilon in (0.0, 0.1):
        total = sum(
            max(
                math.exp(-a * abs(x - change)) - math.exp(epsilon - a * abs(x)),
                0.0,
            )
            * math.tanh(a / 2)
            for x in range(-600, 600)
        )
        assert float(curve.delta(epsilon)) == pytest.approx(total, rel=1e-9)
    assert float(curve.epsilon(0.0)) == pytest.approx(a * change, rel=1e-9)


def test_sampling_mixes_the_worst_pair() -> None:
    """delta(x) = q delta_parts(log(1 + (e^x - 1)/q)), for all the parts at once."""
    q, x = 0.25, 0.7
    curve = read(Poisson(q, Composed([Gaussian(2.0)] * 4)))
    inner = math.log1p(math.expm1(x) / q)
    assert float(curve.delta(x)) == pytest.approx(q * float(gdp(1).delta(inner)), rel=1e-9)


def test_zcdp_is_the_statement_itself() -> None:
    assert read(SelfComposed(ZCDp(0.125), 4)) == zcdp(Fraction(1, 8)) ** 4


@pytest.mark.parametrize(("rho", "xi"), [(0.05, 0.02), (1e-4, 1.0), (30.0, 2.0)])
def test_zcdp_with_a_constant_is_kept_at_many_orders(rho: float, xi: float) -> None:
    """At no order between does the bound grow by more than the grid is coarse."""
    found = read(SelfComposed(ZCDp(rho, xi), 3))
    for order in (1.02, 1.37, 2.0, 2.9, 17.0, 120.0):
        truth = 3 * (xi + rho * order)
        assert truth * (1 - 1e-12) <= found.renyi(order) <= truth * 1.01
    answer = found.epsilon(1e-6, bracket=True)
    assert answer.of == "class"
    assert answer.upper <= min(
        3 * (xi + rho * a) + math.log(1e6) / (a - 1) for a in np.geomspace(1.01, 300, 2000)
    )


def test_a_sampled_statement_composes() -> None:
    """Noise that is known by its zCDP only, as that of jax_privacy's discrete Gaussian."""
    found = read(SelfComposed(Poisson(0.01, ZCDp(0.5)), 16))
    assert found == poisson(zcdp(0.5), 0.01) ** 16
    batch = SelfComposed(WithoutReplacement(1000, 10, ZCDp(0.5)), 16)
    assert read(batch, "replace_one").dominating() == subsample(zcdp(0.5), 0.01) ** 16
    answer = read(batch, "replace_one").epsilon(1e-5, bracket=True)
    assert answer.of == "class"
    assert answer.lower == 0 < answer.upper < zcdp(8).epsilon(1e-5) / 10


# -- and with dp_accounting's own classes ---------------------------------------------------------


def test_reads_the_real_ones() -> None:
    """Every event class there is: read, or refused by name."""
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    tree = dp_event.ComposedDpEvent(
        [
            dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(2.0), 3),
            dp_event.NoOpDpEvent(),
            dp_event.PoissonSampledDpEvent(1.0, dp_event.GaussianDpEvent(2.0)),
        ]
    )
    assert read(tree) == gdp(1)
    assert read(dp_event.LaplaceDpEvent(2.0)) == laplace(0.5)
    assert read(dp_event.NonPrivateDpEvent()) == NON_PRIVATE
    fields = {name: getattr(dp_event, name, None) for name in _ROWS}
    newer = {"EpsilonDeltaDpEvent", "ExponentialMechanismDpEvent", "PermuteAndFlipDpEvent"}
    newer |= {"DiscreteGaussianDpEvent", "RandomAllocationDpEvent"}
    assert {name for name, found in fields.items() if found is None} <= newer
    with pytest.raises(InvalidParameter, match="got a UnsupportedDpEvent"):
        read(dp_event.UnsupportedDpEvent())


Truncated = namedtuple(
    "TruncatedSubsampledGaussianDpEvent",
    "dataset_size sampling_probability truncated_batch_size noise_multiplier",
)


def test_a_largest_batch_is_charged_for_being_full():
    curve = read(Truncated(1000, 0.01, 60, 2))
    plain = poisson(gdp(Fraction(1, 2)), Fraction(1, 100))
    assert plain.delta(0.1) < curve.delta(0.1) < plain.delta(0.1) + 1e-20 + 1e-12 * plain.delta(0.1)
    assert read(Truncated(1000, 0.01, 1001, 2)) == plain
    assert read(Truncated(1000, 0.01, 60, 0)) == NON_PRIVATE
    for empty in ((0, 0.01, 60, 2), (1000, 0, 60, 2), (1000, 0.01, 0, 2), (1000, 0.1, 9, math.inf)):
        assert read(Truncated(*empty)) == identity()


# What dp_accounting 0.6.0's PLDAccountant proves of the same events at delta = 1e-5.
PLD = {
    ("add_remove", 1000, 0.01, 16, 1.0, 128): 3.933556994476602,
    ("add_remove", 1000, 0.01, 30, 1.0, 1): 0.19945239454293637,
    ("add_remove", 1000, 0.01, 10, 1.0, 128): 5.4118760478981445,
    ("add_remove", 100, 1.0, 10, 1.0, 10): 12.985320652646221,
    ("add_remove", 1000, 0.01, 30, 1.0, 128): 0.7789309624077639,
    ("replace_one", 1000, 0.01, 30, 1.0, 128): 0.9975413212145614,
    ("replace_one", 1000, 0.01, 16, 1.0, 128): 3.9808919094976383,
    ("replace_one", 100, 1.0, 10, 1.0, 10): 12.985320652646221,
}


# The last two take ten seconds or more each.
@pytest.mark.parametrize(
    "setting", [pytest.param(s, marks=[pytest.mark.soak] * (s in list(PLD)[6:])) for s in PLD]
)
def test_truncated_batches_lose_no_more_than_pld_proves(setting):
    """Batches that are seldom, often and always full; jax_privacy's own test is the first."""
    neighbors, *fields, steps = setting
    run = read(SelfComposed(Truncated(*fields), steps), neighbors)
    answer = run.dominating().epsilon(1e-5, bracket=True)
    assert run.epsilon(1e-5) == answer.upper
    assert 0.85 * PLD[setting] <= answer.upper <= PLD[setting]
    assert answer.upper - answer.lower <= 1e-4 * answer.upper


@pytest.mark.soak
def test_truncated_batches_against_dp_accounting_itself() -> None:
    """Its own classes, where it is installed; its own numbers stand above."""
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    pld = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
    for relation in (pld.NeighborRel.ADD_OR_REMOVE_ONE, pld.NeighborRel.REPLACE_ONE):
        step = dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 16, 1.0)
        event = dp_event.SelfComposedDpEvent(step, 128)
        peer = pld.PLDAccountant(relation).compose(event).get_epsilon(1e-5)
        found = from_dp_event(event, neighbors=relation).epsilon(1e-5)
        assert 0.99 * peer <= found <= peer


@pytest.mark.soak
def test_other_events_against_dp_accounting_itself() -> None:
    """Computed weights by its loss distributions; what has none there by its divergences."""
    dp_event = pytest.importorskip("dp_accounting.dp_event")
    pld = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant").PLDAccountant
    rdp = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant").RdpAccountant
    relations = pytest.importorskip("dp_accounting").NeighboringRelation
    weights = [float(math.comb(8, j) * 0.1**j * 0.9 ** (8 - j)) for j in range(9)]
    gaussian, adding = dp_event.GaussianDpEvent(2.0), relations.ADD_OR_REMOVE_ONE
    cases = [
        (pld, adding, dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0], [1 / 3] * 3), 1e-6),
        (pld, adding, dp_event.MixtureOfGaussiansDpEvent(8.0, list(range(9)), weights), 1e-6),
        (rdp, relations.REPLACE_SPECIAL, dp_event.RandomizedResponseDpEvent(0.4, 5), 1e-3),
        (rdp, adding, dp_event.ZCDpEvent(0.05, 0.02), 1e-3),
        (rdp, adding, dp_event.RepeatAndSelectDpEvent(gaussian, 10, 1.0), 1e-3),
    ]
    for accountant, relation, step, close in cases:
        event = dp_event.SelfComposedDpEvent(step, 5)
        peer = accountant(neighboring_relation=relation).compose(event).get_epsilon(1e-5)
        found = from_dp_event(event, neighbors=relation).epsilon(1e-5)
        assert found == pytest.approx(peer, rel=close)
