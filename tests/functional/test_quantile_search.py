"""A few quantiles, searched for: one record moves all rounds by what is stated; intervals hold."""

import operator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import neyman as ny
from neyman import Gaussian, Laplace
from neyman.errors import SensitivityMismatch
from neyman.functional import quantiles
from neyman.functional._quantiles._quantiles import quantiles_of
from neyman.functional._quantiles._search import QuantileSearch, SearchReading, _limit
from neyman.functional._quantiles._step_basis import StepBasis
from neyman.publish._exact_answers import NOISELESS
from neyman.sensitivity import Sensitivity

DECLARED = {"unit": "one row", "name": "delays"}
MEDIAN = (Fraction(1, 2),)
QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
ENDS = (Fraction(0), Fraction(1, 20), Fraction(1, 3), Fraction(9, 10), Fraction(1))
EIGHT = tuple(Fraction(k, 9) for k in range(1, 9))


@dataclass(frozen=True)
class Drawn:
    """Gaussian noise of a seed, as quick as NumPy draws it."""

    stddev: float
    random: np.random.Generator
    times: float = 1.0
    normal: bool = True

    def add_noise(self, values):
        return np.rint(values + self.times * self.random.normal(0, self.stddev, values.shape))


def search_of(nodes, shares):
    return QuantileSearch(StepBasis(Fraction(0), Fraction(nodes - 1), Fraction(1)), shares)


def asked(counts, mu, shares, times=1.0, unit_records=1, seed=1):
    """Columns of one release for each row of counts, shape (rows, shares)."""
    search = search_of(counts.shape[1], shares)
    one = search.sensitivity("add_remove").of_many(unit_records)
    stddev = float(one.l2_squared) ** 0.5 / mu
    noise = Drawn(stddev, np.random.default_rng(seed), times)
    kept = search.drawn(search.sums(counts).reshape(-1), noise).astype(np.int64)
    reading = SearchReading(search, shares, unit_records)
    columns = reading.columns(kept, noise, 0.95)
    return {name: np.reshape(column, (len(counts), -1)) for name, column in columns.items()}


@pytest.mark.parametrize("rows", [2**39, 2**45, 2**61])
def test_sums_of_any_number_of_rows_are_exact_or_clamped(rows):
    """One row more moves them no further, also where 64 bits would overflow."""
    search = search_of(129, QUARTERS)
    random = np.random.default_rng(1)
    counts = np.zeros((1, 129), np.int64)
    counts[0, [5, 60, 100]] = rows // 4, rows // 2, rows // 8
    more = counts.copy()
    more[0, 100] += 1
    clamped = wrapped = 0
    for one in search.rounds:
        places = random.integers(0, 128, (1, one.places))
        found, beside = (one.sums(search.sums(some), places) for some in (counts, more))
        if rows < 2**50:
            up_to = search.sums(counts)[0][np.sort(places[0])].tolist()
            ends = zip([0, *up_to], [*up_to, rows // 8 * 7], strict=True)
            cells = [high - low for low, high in ends]
            exact = [sum(map(operator.mul, row, cells)) for row in one.matrix.tolist()]
            assert found[0].tolist() == [min(max(part, -(2**62)), 2**62) for part in exact]
            wrapped += any(abs(part) >= 2**63 for part in exact)
        clamped += int(np.count_nonzero(np.abs(found) == 2**62))
        moved = [int(a) - int(b) for a, b in zip(beside[0], found[0], strict=True)]
        assert sum(move * move for move in moved) <= one.squares("add_remove")
    assert (clamped > 0) == (rows > 2**39)
    assert (wrapped > 0) == (rows == 2**45)


def out_of_order(one, up_to, places):
    """A broken twin of `Round.sums`, which takes places as they come."""
    ends = np.concatenate([[0], up_to[0][places[0]], up_to[0][-1:]])
    return (one.matrix @ np.diff(ends))[None]


def worst_move(search, neighbors, ordered=True, tries=60):
    """Largest squared move of all rounds by one record, at places that an adversary chooses."""
    random = np.random.default_rng(5)
    nodes, longest = search.nodes, 0
    for _ in range(tries):
        base = random.multinomial(50, np.full(nodes, 1 / nodes))
        total = 0
        for one in search.rounds:
            best = 0
            for _ in range(40):
                places = random.integers(0, nodes - 1, (1, one.places))
                added, changed = base.copy(), base.copy()
                added[random.integers(nodes)] += 1
                changed[random.integers(nodes)] += 1
                other = base if neighbors == "add_remove" else changed
                sums = one.sums if ordered else partial(out_of_order, one)
                difference = sums(added.cumsum()[None], places) - sums(other.cumsum()[None], places)
                best = max(best, sum(int(part) ** 2 for part in difference[0]))
            total += best
        longest = max(longest, total)
    return longest


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("shares", [MEDIAN, QUARTERS, ENDS])
def test_one_record_moves_all_rounds_by_no_more_than_is_stated(shares, neighbors):
    search = search_of(41, shares)
    stated = search.sensitivity(neighbors).l2_squared
    assert 0.9 * stated < worst_move(search, neighbors, tries=4) <= stated


def test_places_out_of_order_would_let_a_record_move_more():
    search = search_of(41, QUARTERS)
    stated = search.sensitivity("add_remove").l2_squared
    assert worst_move(search, "add_remove", ordered=False, tries=2) > 1.5 * stated


def test_each_probability_reads_the_place_that_it_asked_for():
    # Of half and a quarter of the rows, at one place each, right and left ask in another order.
    search, random = search_of(200, QUARTERS), np.random.default_rng(0)
    up_to = search.sums(random.multinomial(3000, np.full(200, 1 / 200), size=5))
    kept = search.drawn(up_to.reshape(-1), Drawn(1.0, random)).astype(np.int64)
    found = search.answers(kept.reshape(5, -1), 1.0)
    asked = np.take_along_axis(up_to, found.places.reshape(5, -1), 1).reshape(found.places.shape)
    truth = asked - 3000 * np.array([0.25, 0.5, 0.75])[:, None]
    assert np.abs(found.above - truth).max() < 0.01


def test_shares_of_the_budget_add_up_whatever_is_asked():
    for shares in (MEDIAN, QUARTERS, ENDS, EIGHT):
        stated = search_of(8001, shares).sensitivity("add_remove").l2_squared
        assert abs(float(stated) / 2**48 - 1) < 0.02


def test_several_records_of_a_unit_move_as_many_times_as_far():
    ids, values = np.array(["a"] * 3 + ["b"] * 4), np.arange(7.0)
    units = ny.functional.Units(ids, max_values=3)
    question = quantiles(values, [0.5], lower=0, upper=9, grid=0.1, units=units, **DECLARED)
    alone = quantiles(values, [0.5], lower=0, upper=9, grid=0.1, **DECLARED)
    assert question.sensitivity.l2_squared == 9 * alone.sensitivity.l2_squared
    assert question.compute()[-1] == 6


@pytest.mark.parametrize("shares", [MEDIAN, QUARTERS, ENDS, EIGHT])
@pytest.mark.parametrize("nodes", [2, 3, 40, 8193])
def test_without_noise_the_quantile_comes_back(nodes, shares):
    random = np.random.default_rng(0)
    counts = random.multinomial(700, random.dirichlet(np.full(nodes, 0.3)), size=3)
    search = search_of(nodes, shares)
    reading = SearchReading(search, shares, 1)
    kept = search.expected(search.sums(counts).reshape(-1), NOISELESS)
    found = np.reshape(reading.columns(kept, NOISELESS, 0.95)["quantile"], (3, -1))
    ranks = np.maximum([float(p) * 700 - 1e-9 for p in shares], 0.5)
    truth = [np.searchsorted(np.cumsum(row), ranks) for row in counts]
    assert (found == truth).all()


def exponential_error(counts, shares, mu, random):
    """Mean rank error of recursive exponential mechanisms, of equal rho: eps^2 / 8 a level."""
    nodes, n = len(counts), counts.sum()
    up_to = np.cumsum(counts)
    epsilon = 2 * mu / np.sqrt(np.ceil(np.log2(len(shares) + 1)))
    found = {}

    def halve(first, last, ranks, within):
        if not ranks:
            return
        middle = len(ranks) // 2
        low = up_to[first - 1] if first else 0
        below = np.concatenate([[low], up_to[first : last - 1]])
        low_share, high_share = within
        share = (ranks[middle] - low_share) / (high_share - low_share)
        target = low + share * (up_to[last - 1] - low)
        far = np.maximum(np.maximum(below - target, target - up_to[first:last]), 0)
        weight = np.exp(-epsilon / 2 * (far - far.min()))
        chosen = first + random.choice(last - first, p=weight / weight.sum())
        found[ranks[middle]] = chosen
        halve(first, chosen + 1, ranks[:middle], (low_share, ranks[middle]))
        halve(min(chosen + 1, nodes - 1), last, ranks[middle + 1 :], (ranks[middle], high_share))

    halve(0, nodes, [float(p) for p in shares], (0.0, 1.0))
    return far_off(counts, np.array([found[float(p)] for p in shares]), shares) if n else 0.0


def far_off(counts, places, shares):
    """Mean distance of ranks from those that values at these places have."""
    up_to, places = np.cumsum(counts), places.astype(int)
    ranks = np.array([float(p) for p in shares]) * counts.sum()
    below = np.where(places > 0, up_to[places - 1], 0)
    return np.maximum(np.maximum(below - ranks, ranks - up_to[places]), 0).mean()


@pytest.mark.parametrize("shares", [MEDIAN, QUARTERS, EIGHT])
@pytest.mark.parametrize(("records", "mu"), [(300, 0.25), (3000, 1.0)])
def test_the_rank_error_is_below_that_of_exponential_mechanisms(records, mu, shares):
    random, runs = np.random.default_rng(records), 80
    places = np.clip(np.rint(random.normal(4000, 240, (runs, records))), 0, 8000).astype(int)
    counts = np.array([np.bincount(row, minlength=8001) for row in places])
    found = asked(counts, mu, shares)["quantile"]
    ours = np.mean([far_off(*pair, shares) for pair in zip(counts, found, strict=True)])
    theirs = np.mean([exponential_error(row, shares, mu, random) for row in counts])
    assert ours < theirs


def truths(counts, shares):
    ranks = np.maximum([float(p) * counts[0].sum() - 1e-9 for p in shares], 0.5)
    return np.array([np.searchsorted(np.cumsum(row), ranks) for row in counts])


def test_the_level_of_an_interval_is_kept_where_data_are_worst():
    # Half of the rows at 20 and half at 40: the count up to the median is half of all, exactly,
    # wherever is asked between them.
    counts = np.zeros((1500, 60), np.int64)
    counts[:, [20, 40]] = 500
    lower = asked(counts, 0.5, MEDIAN)["lower"]
    # The first node where the count is half is the quantile: 20. Four deviations above 0.025.
    assert (lower > 20).mean() < 0.041
    broken = asked(counts, 0.5, MEDIAN, times=2.0)["lower"]
    assert (broken > 20).mean() > 0.05


@pytest.mark.shows("extremes", "quantiles")
@pytest.mark.parametrize("shares", [QUARTERS, ENDS])
def test_intervals_of_searched_quantiles_cover(shares):
    random = np.random.default_rng(2)
    population = np.exp(-np.arange(120) / 25)
    population /= population.sum()
    counts = random.multinomial(600, population, size=400)
    found, own = asked(counts, 0.5, shares), truths(counts, shares)
    truly = np.searchsorted(np.cumsum(population), [float(p) - 1e-12 for p in shares])
    assert ((found["lower"] <= own) & (own <= found["upper"])).mean(axis=0).min() > 0.95
    inner = [place for place, p in enumerate(shares) if 0 < p < 1]
    total = (found["total_lower"] <= truly) & (truly <= found["total_upper"])
    assert total[:, inner].mean(axis=0).min() > 0.93
    inside = (found["lower"] <= found["quantile"]) & (found["quantile"] <= found["upper"])
    assert inside.all()


def test_a_twin_of_narrow_noise_does_not_cover():
    random = np.random.default_rng(2)
    counts = random.multinomial(600, np.full(120, 1 / 120), size=300)
    found, own = asked(counts, 0.5, QUARTERS, times=4.0), truths(counts, QUARTERS)
    assert ((found["lower"] <= own) & (own <= found["upper"])).mean() < 0.9


def test_equal_rows_of_a_unit_widen_the_total_interval():
    random = np.random.default_rng(4)
    population = np.full(100, 1 / 100)
    counts = 5 * random.multinomial(200, population, size=300)
    truly = np.searchsorted(np.cumsum(population), [0.25 - 1e-12, 0.5 - 1e-12, 0.75 - 1e-12])
    for rows, least, most in ((5, 0.93, 1.0), (1, 0.0, 0.85)):
        search = search_of(100, QUARTERS)
        stddev = float(search.sensitivity("add_remove").of_many(5).l2_squared) ** 0.5 / 20
        noise = Drawn(stddev, np.random.default_rng(1))
        kept = search.drawn(search.sums(counts).reshape(-1), noise).astype(np.int64)
        columns = SearchReading(search, QUARTERS, rows).columns(kept, noise, 0.95)
        low, high = (np.reshape(columns[f"total_{end}"], (300, 3)) for end in ("lower", "upper"))
        held = ((low <= truly) & (truly <= high)).mean(axis=0)
        assert least < held.max() <= most


def test_nobody_is_nowhere():
    found = asked(np.zeros((200, 60), np.int64), 0.5, QUARTERS)
    hidden = np.isnan(found["quantile"])
    assert hidden.all(axis=1).mean() > 0.95
    assert (found["lower"][hidden] == 0).all()
    assert (found["total_upper"][hidden] == 59).all()


def test_quantiles_come_in_the_order_that_was_asked():
    values = np.arange(1000.0) / 10
    shares = [0.9, 0.1, 0.5]
    question = quantiles(values, shares, lower=0, upper=100, grid=1, **DECLARED)
    columns = question.exactly(question.compute(), NOISELESS, 0.95)
    assert columns["probability"] == shares
    assert columns["quantile"] == [90, 10, 50]


def test_eight_of_many_values_are_searched_for_and_nine_or_those_of_few_values_are_not():
    for many, upper, method in ((8, 65, "search"), (9, 65, None), (1, 64, None)):
        shares = [k / 10 for k in range(1, many + 1)]
        question = quantiles(np.zeros(3), shares, lower=0, upper=upper, grid=1, **DECLARED)
        assert question.query.get("method") == method
        assert (question.adaptive is None) == (method is None)


def test_the_limit_of_pooled_answers_is_that_of_normal_variables():
    drawn = np.maximum(np.random.default_rng(0).normal(size=(400_000, 4)), 0).sum(axis=1) / 2
    for missed in (0.4, 0.1, 0.0225):
        assert missed - 0.006 < (drawn > _limit(missed)).mean() < missed + 0.002
    assert 5.5 < _limit(1e-9) < 7
    assert _limit(1e-40) == np.inf


def ledger_at(place):
    return ny.Ledger.open(place, cap=ny.gdp(9), unit="one row", neighbors="add_remove")


def test_a_release_is_stored_and_comes_back(tmp_path):
    values = np.random.default_rng(0).normal(50, 10, 2000)
    question = quantiles(values, [0.5, 0.9], lower=0, upper=100, grid=0.5, **DECLARED)
    noise = Gaussian.calibrate(question.sensitivity, mu=1)
    ledger = ledger_at(tmp_path / "a.ledger")
    first = ny.release(question, noise, ledger, entry="q")
    again = ny.release(question, noise, ledger_at(tmp_path / "a.ledger"), entry="q")
    assert again.replayed
    assert again.columns == first.columns
    assert first.guarantee.curve.mu() == pytest.approx(1)
    assert abs(first.columns["quantile"][0] - 50) < 3
    assert first.to_json()["columns"] == again.to_json()["columns"]


def test_only_gaussian_noise_is_drawn_for_rounds(tmp_path):
    question = quantiles(np.zeros(9), [0.5], lower=0, upper=100, grid=1, **DECLARED)
    laplace = replace(question, sensitivity=Sensitivity(neighbors="add_remove", l1=Fraction(2**26)))
    ledger = ledger_at(tmp_path / "a.ledger")
    with pytest.raises(SensitivityMismatch, match="in rounds needs Gaussian noise"):
        ny.release(laplace, Laplace(scale=2**26), ledger, entry="q")
    assert not ledger.entries()


def test_what_counts_at_no_node_moves_nothing():
    values = np.array([np.nan, -5.0, 1e308, np.inf, 3.0])
    question = quantiles(values, [0.5], lower=0, upper=100, grid=1, **DECLARED)
    assert np.diff(question.compute(), prepend=0).tolist() == [1, 0, 0, 1, *[0] * 96, 2]
    assert callable(quantiles_of)
