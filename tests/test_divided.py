"""A question and its companion share one budget: what each is drawn with, stored and read."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman.divided import SHARE, divided
from neyman.errors import BudgetExceeded, EntryConflict, InvalidParameter
from neyman.mechanisms import (
    Canonical,
    DiscreteGaussian,
    DiscreteLaplace,
    Staircase,
    Thresholded,
)
from neyman.tables import Bounds, Entity, Keys, Rows, UnknownKeys, col, open_table

KEYS = Keys({"g": ["a", "b"]})
# More groups than rows of a unit, so that limits can cut a unit's groups.
MORE = Keys({"g": ["a", "b", "c"]})
UNITS = 3000


def rows():
    """Each third unit has 8 rows, of which 2 are kept; all others have 1. Of x a fifth is 9."""
    units = [i for i in range(UNITS) for _ in range(1 if i % 3 else 8)]
    return pa.table(
        {
            "u": units,
            "g": ["a" if i % 2 else "b" for i in units],
            "x": [9.0 if i % 5 == 0 else 1.0 for i in units],
        }
    )


def table(unit=None):
    unit = unit or Entity("u", max_rows=2)
    return open_table(rows(), unit=unit, bounds={"x": Bounds(0, 2, grid=1)}, name="t")


TABLE = table()


@pytest.fixture
def ledger(tmp_path):
    return opened(tmp_path / "a.ledger", ny.gdp(4))


def opened(path, cap, **more):
    return ny.Ledger.open(path, cap=cap, unit=TABLE.protects, neighbors="add_remove", **more)


def gaussian(question, mu=1):
    return ny.Gaussian.calibrate(question.sensitivity, mu)


@pytest.mark.parametrize("share", [SHARE, Fraction(1, 3), 0.1])
@pytest.mark.parametrize("mu", [Fraction(1, 10), 1, Fraction(7, 3)])
def test_both_together_cost_exactly_what_gaussian_noise_alone_does(share, mu):
    for question in (TABLE.count(), TABLE.mean("x", KEYS), TABLE.count_units(MORE)):
        noise = gaussian(question, mu)
        (part,) = divided([(question, noise, share)])
        assert part.curve == noise.tradeoff(question.sensitivity) == ny.gdp(mu)
        taken = part.beside.tradeoff(question.companion.sensitivity)
        assert taken == ny.gdp(squared=Fraction(str(share)) * Fraction(mu) ** 2)
        assert part.noise.variance == noise.variance / (1 - Fraction(str(share)))


def epsilon_of(mechanism, sensitivity):
    return mechanism.tradeoff(sensitivity).pure_epsilon()


@pytest.mark.parametrize("kind", [ny.Laplace, DiscreteLaplace])
def test_both_together_cost_the_epsilon_of_laplace_noise_alone(kind):
    question = TABLE.count()
    noise = kind.calibrate(question.sensitivity, Fraction(1, 2))
    (part,) = divided([(question, noise, SHARE)])
    assert type(part.noise) is kind
    assert part.noise.scale == noise.scale / (1 - SHARE)
    moved = question.companion.sensitivity
    assert part.beside.scale == moved.l1 / (SHARE / 2)
    assert part.beside.tradeoff(moved) == ny.laplace(SHARE / 2)
    own = kind(scale=question.sensitivity.l1 / (Fraction(1, 2) * (1 - SHARE)))
    assert part.noise.tradeoff(question.sensitivity) == own.tradeoff(question.sensitivity)


def test_both_together_cost_the_rho_of_discrete_gaussian_noise_alone():
    question = TABLE.count()
    noise = DiscreteGaussian.calibrate(question.sensitivity, Fraction(1, 8))
    (part,) = divided([(question, noise, SHARE)])
    moved = question.companion.sensitivity
    left = question.sensitivity.l2_squared / (2 * part.noise.variance)
    assert left == Fraction(1, 8) * (1 - SHARE)
    assert moved.l2_squared / (2 * part.beside.variance) == Fraction(1, 8) * SHARE


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_a_threshold_rises_with_the_noise_and_fails_no_more_often(kind):
    question = TABLE.count(UnknownKeys("g"))
    moved = question.sensitivity
    inner = gaussian(question) if kind == "gaussian" else ny.Laplace.calibrate(moved, 1)
    noise = Thresholded.calibrate(moved, noise=inner, delta=Fraction(1, 10**6))
    (part,) = divided([(question, noise, SHARE)])
    own = divided([(TABLE.count(), inner, SHARE)])[0]
    assert part.noise.threshold >= noise.threshold
    assert part.noise.failure(moved) <= noise.failure(moved)
    assert type(part.beside) is type(inner)
    assert own.beside is not None
    if kind == "gaussian":
        kept = part.noise.noise.noise_tradeoff(moved)
        assert kept @ part.beside.tradeoff(question.companion.sensitivity) == ny.gdp(1)


def test_noise_that_cannot_be_divided_pays_for_the_question_alone(ledger):
    question = open_table(rows(), unit=Entity("u", max_rows=1), name="t").count()
    one = question.sensitivity
    assert question.companion is not None
    noises = [Staircase.calibrate(one, 1, power=1), Canonical.calibrate(one, ny.gdp(1))]
    for noise in noises:
        (part,) = divided([(question, noise, SHARE)])
        assert (part.noise, part.beside) == (noise, None)
        assert part.curve == noise.tradeoff(one)
    release = ny.release(question, noises[1], ledger, entry="a")
    assert release.companion is None


def test_where_each_row_is_a_unit_all_is_spent_on_the_question():
    question = table(Rows()).count()
    noise = gaussian(question)
    (part,) = divided([(question, noise, SHARE)])
    assert (part.noise, part.beside, part.curve) == (noise, None, ny.gdp(1))


def test_without_a_companion_all_is_spent_on_the_question(ledger):
    question = TABLE.count()
    noise = gaussian(question)
    release = ny.release(question, noise, ledger, entry="a", companion=0)
    assert release.companion is None
    assert release.mechanism == noise.describe()
    assert divided([(question, noise, 0)])[0].record().keys() == {"query", "mechanism"}
    with pytest.raises(EntryConflict):
        ny.release(question, noise, ledger, entry="a")
    again = ny.release(question, noise, ledger, entry="a", companion=0)
    assert again.replayed
    assert again == release


class Unread:
    """A question whose rows are never read."""

    def __call__(self):
        raise AssertionError("the rows were read")


@pytest.mark.parametrize("share", [-0.01, 1, 1.5, Fraction(-1, 10**9), "a half", float("nan")])
def test_a_share_outside_is_refused_before_any_charge(ledger, share):
    companion = replace(TABLE.count().companion, compute=Unread())
    question = replace(TABLE.count(), compute=Unread(), companion=companion)
    pair = (question, gaussian(question))
    with pytest.raises(InvalidParameter, match="companion"):
        ny.release(*pair, ledger, entry="a", companion=share)
    with pytest.raises(InvalidParameter, match="companion"):
        ny.release_batch([pair], ledger, entry="a", companion=share)
    assert ledger.spent() == 0
    assert ledger.entries() == ()


def test_what_is_charged_is_what_the_question_says_it_costs(tmp_path):
    ledger = opened(tmp_path / "b.ledger", ny.gdp(1))
    question = TABLE.count()
    release = ny.release(question, gaussian(question), ledger, entry="a")
    assert release.spending.cost == 1
    assert release.spending.remaining == 0
    assert release.guarantee.curve == ny.gdp(1)
    with pytest.raises(BudgetExceeded):
        ny.release(question, gaussian(question, Fraction(1, 100)), ledger, entry="b")


def test_a_companion_lies_near_the_exact_one(tmp_path):
    ledger = opened(tmp_path / "b.ledger", ny.gdp(20))
    question = TABLE.mean("x")
    found, exact = question.companion.compute()
    assert exact.tolist() == [2000 * 1024, 1000 * 256, 1000 * 768, 600 * 1024]
    known = replace(question.companion, compute=lambda: (found, exact))
    question, held = replace(question, companion=known), []
    for i in range(30):
        said = ny.release(question, gaussian(question), ledger, entry=str(i)).companion
        held += [
            abs(said.units - 3000) <= said.units_half_width,
            abs(said.cut - 1000) <= said.cut_half_width,
            abs(said.moved - 600) <= said.moved_half_width,
            0 < said.missing <= 6000,
        ]
        assert said.warns
        # sigma is sqrt(2) / sqrt(0.02) = 10 units for each of the integers.
        assert 22 < said.moved_half_width < 23
        assert said.missing > 4500
    assert sum(held) > 0.85 * len(held)


def test_in_a_batch_one_companion_serves_all_questions_of_the_same_rows():
    asked = [
        TABLE.mean("x", KEYS),
        TABLE.sum("x", KEYS),
        TABLE.count(KEYS),
        TABLE.variance("x", KEYS),
        TABLE.where(col("x") > 1).mean("x", KEYS),
        TABLE.bounded(max_rows=3).mean("x", KEYS),
        table(Rows()).count(),
    ]
    parts = divided([(question, gaussian(question), SHARE) for question in asked])
    assert [part.beside is not None for part in parts] == [
        True, False, True, False, True, True, False,
    ]  # fmt: skip
    assert all(part.curve == ny.gdp(1) for part in parts)
    # What has no companion is not made to pay for one.
    assert parts[1].noise == gaussian(asked[1])


def test_of_unequal_shares_the_first_that_is_not_zero_pays_for_the_one_companion():
    question = TABLE.count(KEYS)
    shares = [0, Fraction(1, 10), SHARE]
    parts = divided([(question, gaussian(question), share) for share in shares])
    assert [part.beside is not None for part in parts] == [False, True, False]
    assert parts[1] == divided([(question, gaussian(question), Fraction(1, 10))])[0]


def test_each_answer_of_a_batch_says_what_limits_did_or_where_that_is_said(ledger):
    asked = [TABLE.sum("x", KEYS), TABLE.mean("x", KEYS), TABLE.count(KEYS), table(Rows()).count()]
    pairs = [(question, ny.Gaussian(scale=9)) for question in asked[:3]]
    releases = ny.release_batch(pairs, ledger, entry="batch")
    said = (
        "For the effect of limits and bounds, see {}, where the same rows count under the same "
        "limits."
    )
    assert releases[1].limit_notes() == (said.format("question 1 of the batch"),)
    assert releases[1].limit_notes(["in all", "on average"]) == (said.format("'in all'"),)
    assert "see question 1 of the batch" in str(releases[1])
    assert "see 'in all'" in releases[1].to_text(batch=["in all", "on average"])
    for one in (releases[0], releases[2]):
        assert one.limit_notes() == one.companion.sentences
    assert ny.Release.from_json(releases[1].to_json()) == releases[1]
    alone = ny.release(asked[1], ny.Gaussian(scale=9), ledger, entry="alone", companion=0)
    assert (alone.companion_at, alone.limit_notes()) == (None, ())


def test_nothing_is_spent_or_said_where_no_limit_can_cut(ledger):
    """A unit adds once to each of two groups, or once in all, and two of its rows count."""
    for question in (TABLE.count_units(), TABLE.count_units(KEYS)):
        (part,) = divided([(question, gaussian(question), SHARE)])
        assert (part.noise, part.beside) == (gaussian(question), None)
    assert divided([(TABLE.count_units(MORE), gaussian(TABLE.count_units(MORE)), SHARE)])[0].beside
    for i, by in enumerate((None, KEYS)):
        question = TABLE.mean_per_unit("x", by)
        answer = ny.release(question, gaussian(question), ledger, entry=str(i))
        (said,) = answer.limit_notes()
        assert said.startswith("Values moved to the bounds: ")
        assert "missing" not in str(answer).lower()
        record = answer.to_json()["companion"]
        assert [record[name] for name in ("of", "limit", "cut", "missing")] == [None, None, 0, 0]
    by_more = TABLE.mean_per_unit("x", MORE)
    answer = ny.release(by_more, gaussian(by_more), ledger, entry="more")
    assert answer.limit_notes()[0].startswith("Missing from groups: at most ")


def test_noise_that_cannot_be_divided_leaves_the_companion_to_the_next():
    question = open_table(rows(), unit=Entity("u", max_rows=1), name="t").count()
    first = Canonical.calibrate(question.sensitivity, ny.gdp(1))
    parts = divided([(question, first, SHARE), (question, gaussian(question), SHARE)])
    assert [part.beside is not None for part in parts] == [False, True]


def test_stored_values_are_split_right_and_replayed(tmp_path):
    asked = [TABLE.count(KEYS), TABLE.mean("x"), TABLE.sum("x"), TABLE.count_units(MORE)]
    pairs = [(question, ny.Gaussian(scale=1)) for question in asked]
    ledger = opened(tmp_path / "b.ledger", ny.gdp(10))
    releases = ny.release_batch(pairs, ledger, entry="batch")
    again = ny.release_batch(pairs, ledger, entry="batch")
    assert again == releases
    assert all(one.replayed for one in again)
    assert [one.companion is not None for one in releases] == [True, True, False, True]
    assert [one.companion_at for one in releases] == [None, None, 1, None]
    exact = [question.compute().tolist() for question in asked]
    for value, truth in zip(releases[0].columns["count"], exact[0], strict=True):
        assert abs(value - truth) < 20
    assert abs(releases[2].columns["sum"][0] - exact[2][0]) < 20
    assert abs(releases[3].columns["count_units"][0] - UNITS / 2) < 20
    for one in (releases[0], releases[1]):
        assert abs(one.companion.units - UNITS) <= 3 * one.companion.units_half_width
        assert abs(one.companion.cut - 1000) <= 3 * one.companion.cut_half_width
    assert releases[0].companion.moved is None
    assert abs(releases[1].companion.moved - 600) <= 3 * releases[1].companion.moved_half_width
    assert releases[3].companion.of == "groups"


def test_groups_that_nobody_declared_have_one_too(tmp_path):
    ledger = opened(tmp_path / "b.ledger", ny.approx_dp(8, 1e-6), delta_aside=5e-7)
    asked = [TABLE.count(UnknownKeys("g")), TABLE.mean("x", UnknownKeys("g"))]

    def noise(question):
        inner = ny.Laplace.calibrate(question.sensitivity, Fraction(1, 2))
        return Thresholded.calibrate(question.sensitivity, noise=inner, delta=1e-8)

    single = ny.release(asked[0], noise(asked[0]), ledger, entry="a")
    assert single.columns["g"] == ["a", "b"]
    assert abs(single.companion.units - UNITS) <= 3 * single.companion.units_half_width
    assert ny.release(asked[0], noise(asked[0]), ledger, entry="a") == single
    pairs = [(question, noise(question)) for question in asked]
    batch = ny.release_batch(pairs, ledger, entry="b")
    assert [one.columns["g"] for one in batch] == [["a", "b"]] * 2
    assert abs(batch[1].columns["mean"][0] - asked[1].reading.columns(
        asked[1].unknown.find().integers.reshape(-1), noise(asked[1]), 0.95
    )["mean"][0]) < 0.5  # fmt: skip
    assert ny.release_batch(pairs, ledger, entry="b") == batch


def test_a_companion_that_is_not_four_integers_fails_and_shows_nothing(ledger):
    question = TABLE.count()

    def three():
        return question.compute(), np.zeros(3, np.int64)

    broken = replace(question, companion=replace(question.companion, compute=three))
    with pytest.raises(ny.errors.EngineFailure):
        ny.release(broken, gaussian(broken), ledger, entry="a")


@pytest.mark.parametrize(
    ("noise", "before", "now"),
    [
        (ny.Gaussian.calibrate, "gdp(mu=0.3)", "gdp(mu=0.5)"),
        (ny.Laplace.calibrate, "epsilon = 0.3", "epsilon = 0.5"),
        (DiscreteLaplace.calibrate, "epsilon = 0.3", "epsilon = 0.5"),
        (lambda q, x: Staircase.calibrate(q, x, power=1), "epsilon = 0.3", "epsilon = 0.5"),
        (lambda q, x: Canonical.calibrate(q, ny.gdp(x)), "gdp(mu=0.3)", "gdp(mu=0.5)"),
        (
            DiscreteGaussian.calibrate,
            " at delta = 1e-06 in the ledger, epsilon = ",
            " at delta = 1e-06 now",
        ),
    ],
    ids=["gaussian", "laplace", "discrete laplace", "staircase", "canonical", "discrete gaussian"],
)
def test_another_budget_under_one_id_is_named_as_it_is_asked_for(ledger, noise, before, now):
    """The noise's variance is nothing that anybody asked for."""
    question = TABLE.count()
    x, y = Fraction(3, 10), Fraction(1, 2)
    ny.release(question, noise(question.sensitivity, x), ledger, entry="a")
    with pytest.raises(EntryConflict) as refused:
        ny.release(question, noise(question.sensitivity, y), ledger, entry="a")
    said = str(refused.value)
    assert "used before with another budget (budget: " in said
    assert before in said
    assert now in said
    assert "mechanism" not in said
    with pytest.raises(EntryConflict) as both:
        ny.release(TABLE.count(KEYS), noise(question.sensitivity, y), ledger, entry="a")
    assert "with another request and budget (budget: " in str(both.value)
    assert "query.keys" in str(both.value)
    # The kind of the noise is asked for, too.
    other = ny.Laplace if isinstance(noise(question.sensitivity, x), Canonical) else Canonical
    given = 1 if other is ny.Laplace else ny.gdp(2)
    with pytest.raises(EntryConflict, match=r"mechanism\.mechanism: "):
        ny.release(question, other.calibrate(question.sensitivity, given), ledger, entry="a")


def test_another_share_for_the_companion_is_named_and_no_other_budget(ledger):
    for name, question, noise in (
        ("gaussian", TABLE.count(KEYS), gaussian(TABLE.count(KEYS), mu=Fraction(1, 10))),
        ("laplace", TABLE.sum("x"), ny.Laplace.calibrate(TABLE.sum("x").sensitivity, epsilon=0.1)),
    ):
        ny.release(question, noise, ledger, entry=name)
        with pytest.raises(EntryConflict, match="used before with another companion="):
            ny.release(question, noise, ledger, entry=name, companion=0.05)
        with pytest.raises(EntryConflict, match="used before with another companion="):
            ny.release(question, noise, ledger, entry=name, companion=0)


def test_totals_that_are_moved_are_called_so(ledger):
    question = TABLE.sum_per_unit("x", lower=0, upper=1)
    answer = ny.release(question, gaussian(question), ledger, entry="totals")
    assert any(note.startswith("Totals moved to the bounds: ") for note in answer.limit_notes())
    assert ny.Release.from_json(answer.to_json()) == answer
