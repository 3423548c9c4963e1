"""Event trees against the guarantees that their definitions spell out."""

import math
from collections import namedtuple
from enum import Enum
from fractions import Fraction

import pytest

from neyman.accounting._event_table import _ROWS
from neyman.accounting._events import from_dp_event
from neyman.curves import (
    TradeOff,
    approx_dp,
    bounded_range,
    gdp,
    identity,
    laplace,
    poisson,
    poisson_replace,
)
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition

# Same names and fields as dp_accounting's, by definition of the reader.
NoOp = namedtuple("NoOpDpEvent", "")
NonPrivate = namedtuple("NonPrivateDpEvent", "")
Unsupported = namedtuple("UnsupportedDpEvent", "")
Gaussian = namedtuple("GaussianDpEvent", "noise_multiplier")
Laplace = namedtuple("LaplaceDpEvent", "noise_multiplier")
DiscreteLaplace = namedtuple("DiscreteLaplaceDpEvent", "noise_parameter sensitivity")
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
        (DiscreteLaplace(0.3, 0), identity()),
        (EpsilonDelta(0.5, 1e-6), approx_dp(0.5, 1e-6)),
        (EpsilonDelta(3, 1), NON_PRIVATE),
        (Exponential(0.25), bounded_range(0.25)),
        (PermuteAndFlip(0.25), laplace(0.25)),
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
    assert read(SelfComposed(Exponential(0.1), 100)) == bounded_range(0.1) ** 100


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
    message = f"a {type(event).__name__} was read under '{neighbors}'.*write neighbors='{other}'"
    with pytest.raises(RelationMismatch, match=message):
        read(Composed([Gaussian(1), event]), neighbors)


@pytest.mark.parametrize("event", [Unsupported(), WithReplacement(9, 3, NoOp()), [1]])
def test_unknown_events_are_refused(event: object) -> None:
    with pytest.raises(InvalidParameter, match=f"a {type(event).__name__} was found.*known are"):
        read(SelfComposed(Composed([NoOp(), event]), 3))


def test_one_record_replaced_in_a_sample_is_two_opposite_ones() -> None:
    step = Poisson(0.01, Composed([Gaussian(2), Gaussian(2)]))
    base = gdp(0.5) ** 2
    assert read(SelfComposed(step, 10), "replace_one") == poisson_replace(base, 0.01) ** 10
    assert read(SelfComposed(step, 10)) == poisson(base, 0.01) ** 10
    with pytest.raises(UnsupportedComposition, match="Gaussians only"):
        read(Poisson(0.01, Laplace(1)), "replace_one")


@pytest.mark.parametrize(("counts", "levels"), [(1, 1), (5, 3), ([3, 8], 4), (0, 0)])
def test_a_tree_holds_a_record_once_a_level(counts: object, levels: int) -> None:
    assert read(Tree(2.0, counts)) == gdp(squared=Fraction(levels, 4))
    assert read(Tree(2.0, counts), "replace_one") == gdp(squared=levels)
    assert read(Tree(0.0, counts)) == NON_PRIVATE


def test_the_relation_may_be_told_by_an_enum() -> None:
    relation = Enum("NeighboringRelation", "ADD_OR_REMOVE_ONE REPLACE_ONE REPLACE_SPECIAL")
    found = [from_dp_event(Gaussian(1), neighbors=member) for member in relation]
    assert found == [gdp(1), gdp(2), gdp(1)]
    with pytest.raises(InvalidParameter, match="no neighbouring relation"):
        from_dp_event(Gaussian(1), neighbors=None)


def test_a_mixture_is_the_poisson_sample_it_describes() -> None:
    mixture = read(Mixture(2.0, [0.0, 1.0], [0.99, 0.01]))
    assert mixture.delta(0.1) == pytest.approx(poisson(gdp(0.5), 0.01).delta(0.1), rel=1e-9)
    with pytest.raises(InvalidParameter, match="sum exactly 1"):
        read(Mixture(2.0, [0.0, 1.0], [0.9, 0.2]))


def test_a_batch_of_all_records_is_no_sample() -> None:
    whole = read(WithoutReplacement(10, 10, Gaussian(2)), "replace_one")
    assert whole == gdp(1)
    some = read(WithoutReplacement(10, 5, Gaussian(2)), "replace_one")
    assert some.delta(0.5) < whole.delta(0.5)


def test_refusals_list_only_what_works() -> None:
    with pytest.raises(InvalidParameter, match="known are") as refusal:
        read(Unsupported())
    listed = str(refusal.value).partition("known are ")[2].partition(".")[0].split(", ")
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
        ZCDp(0.1, 0.2),
    ],
)
def test_senseless_fields_are_refused(event: object) -> None:
    with pytest.raises(InvalidParameter):
        read(event)


@pytest.mark.parametrize("event", [RandomizedResponse(1.5, 3), RandomizedResponse(0.5, 0)])
def test_senseless_randomized_response_is_refused(event: object) -> None:
    with pytest.raises(InvalidParameter, match="at least one bucket"):
        read(event, "replace_one")


def test_missing_fields_are_named() -> None:
    with pytest.raises(InvalidParameter, match="GaussianDpEvent without the field 'noise_multi"):
        read(namedtuple("GaussianDpEvent", "sigma")(1.0))


def test_unknown_relations_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="neighbouring relation"):
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
    from neyman.curves import zcdp

    assert read(SelfComposed(ZCDp(0.125), 4)) == zcdp(Fraction(1, 8)) ** 4


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
    assert {name for name, found in fields.items() if found is None} <= newer
    with pytest.raises(InvalidParameter, match="a UnsupportedDpEvent was found"):
        read(dp_event.UnsupportedDpEvent())


def test_a_largest_batch_is_charged_for_being_full():
    fields = "dataset_size sampling_probability truncated_batch_size noise_multiplier"
    event = namedtuple("TruncatedSubsampledGaussianDpEvent", fields)
    curve = read(event(1000, 0.01, 60, 2), "add_remove")
    plain = poisson(gdp(Fraction(1, 2)), Fraction(1, 100))
    assert plain.delta(0.1) < curve.delta(0.1) < plain.delta(0.1) + 1e-20 + 1e-12 * plain.delta(0.1)
    assert read(event(1000, 0.01, 1001, 2), "add_remove") == plain
    assert read(event(1000, 0.01, 60, 0), "add_remove") == NON_PRIVATE
    with pytest.raises(RelationMismatch):
        read(event(1000, 0.01, 60, 2), "replace_one")
