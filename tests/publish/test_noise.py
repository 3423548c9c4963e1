"""The noise that a query names: calibrated exactly, or refused with what to write."""

import itertools
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.errors import InvalidParameter, NeymanError, SpecError
from neyman.publish import bill, plan, publish, read_spec

SPEC = """
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 3
[columns.x]
lower = 0
upper = 10
grid = 1
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "t.ledger"
{cap}
"""
QUERIES = {
    "count": 'statistic = "count"\nby = "wards"\nmax_rows = 1',
    "sum": 'statistic = "sum"\ncolumn = "x"',
    "mean": 'statistic = "mean"\ncolumn = "x"\nby = "wards"\nmax_rows = 1',
    "groups": 'statistic = "count"\nby = "wards"',
}
# The count moves by 1, of one ward; the sum by 30.
NOISES = {
    "mu = 0.5": lambda s: ny.Gaussian.calibrate(s, 0.5),
    "epsilon = 0.5": lambda s: ny.Laplace.calibrate(s, 0.5),
    "rho = 0.125": lambda s: ny.mechanisms.DiscreteGaussian.calibrate(s, 0.125),
    'noise = "gaussian"\nmu = 0.5': lambda s: ny.Gaussian.calibrate(s, 0.5),
    'noise = "laplace"\nepsilon = 0.5': lambda s: ny.Laplace.calibrate(s, 0.5),
    'noise = "discrete_gaussian"\nrho = 0.125': lambda s: ny.mechanisms.DiscreteGaussian.calibrate(
        s, 0.125
    ),
    'noise = "discrete_laplace"\nepsilon = 0.5': lambda s: ny.mechanisms.DiscreteLaplace.calibrate(
        s, 0.5
    ),
    'noise = "staircase"\nepsilon = 0.5': lambda s: ny.mechanisms.Staircase.calibrate(
        s, 0.5, power=2
    ),
    'noise = "canonical"\nmu = 0.5': lambda s: ny.mechanisms.Canonical.calibrate(s, ny.gdp(0.5)),
    'noise = "canonical"\nepsilon = 0.5': lambda s: ny.mechanisms.Canonical.calibrate(
        s, ny.pure_dp(0.5)
    ),
}
ONE_INTEGER = [noise for noise in NOISES if "staircase" in noise or "canonical" in noise]


@pytest.fixture
def ask(tmp_path):
    rows = 600
    table = pa.table(
        {
            "who": [f"p{i % 200}" for i in range(rows)],
            "ward": ["north" if i % 3 else "south" for i in range(rows)],
            "x": [float(i % 11) for i in range(rows)],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")

    def planned(query, noise, cap="mu = 3"):
        path = tmp_path / "s.toml"
        text = SPEC.format(cap=cap) + f'[[query]]\nentry = "a"\n{QUERIES[query]}\n{noise}\n'
        path.write_text(text, encoding="utf-8")
        return plan(read_spec(path), tmp_path)

    return planned


@pytest.mark.shows("zcdp")
@pytest.mark.parametrize(("query", "noise"), list(itertools.product(("count", "sum"), NOISES)))
def test_the_noise_is_the_one_named_and_spends_its_share(ask, query, noise):
    (step,) = ask(query, noise).steps
    sensitivity = step.aggregate.sensitivity
    assert sensitivity.coordinates == 1
    assert sensitivity.l1 == {"count": 1, "sum": 30}[query]
    assert step.mechanism == NOISES[noise](sensitivity)
    if "rho" in noise:
        # Rounded up, once for each of the two noises that are drawn.
        assert 0.125 <= step.curve.zcdp() <= 0.125 * (1 + 1e-12)
    elif "mu" in noise:
        assert step.curve == ny.gdp(0.5)
    else:
        assert step.curve.outer_pure() == Fraction(1, 2)


@pytest.mark.parametrize("noise", NOISES)
def test_what_is_published_is_charged_and_stored(ask, noise):
    prepared = ask("count", noise)
    (price,) = bill(prepared).costs
    (release,) = publish(prepared).releases
    assert release.spending.cost == price.cost
    assert release.guarantee.curve == prepared.steps[0].curve
    assert release.columns["ward"] == ["north", "south"]
    (again,) = publish(ask("count", noise)).releases
    assert again.replayed
    assert again.columns == release.columns


@pytest.mark.parametrize(
    ("query", "noise"), list(itertools.product(("mean", "groups"), ONE_INTEGER))
)
def test_noise_for_one_integer_is_refused_for_more(ask, query, noise):
    with pytest.raises(SpecError, match=r"query 'a': .*changes up to 2 .*Write noise = ") as caught:
        ask(query, noise)
    assert "a count or sum without by, or with max_rows = 1" in str(caught.value)


@pytest.mark.parametrize("noise", [noise for noise in NOISES if noise not in ONE_INTEGER])
def test_the_others_serve_means_and_groups(ask, noise):
    for query in ("mean", "groups"):
        assert ask(query, noise).steps[0].mechanism


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ('noise = "staircase"\nmu = 1', '"staircase" takes epsilon; write it in place of mu'),
        ('noise = "laplace"\nrho = 1', '"laplace" takes epsilon; write it in place of rho'),
        ('noise = "canonical"\nrho = 1', '"canonical" takes mu or epsilon; write it in place'),
        ('noise = "discrete_gaussian"\nmu = 1', "takes rho; write it in place of mu"),
        ('noise = "gaussian"', "or noise, a name, with what it takes: gaussian (mu), laplace (eps"),
        ("rho = 1\nmu = 1", "one of them"),
        ("rho = 0", "query 'a'.rho"),
        ('noise = "geometric"\nmu = 1', "'staircase' or 'canonical'; found 'geometric'"),
        ("noise = true\nmu = 1", "query 'a'.noise"),
    ],
)
def test_a_share_that_does_not_go_with_the_noise_is_told(ask, noise, said):
    with pytest.raises(SpecError) as caught:
        ask("count", noise)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "noise", ["mu = 0.5", "rho = 0.125", 'noise = "canonical"\nmu = 0.5'], ids=repr
)
def test_gaussians_are_no_pure_dp(ask, noise):
    with pytest.raises(NeymanError, match="epsilon"):
        bill(ask("count", noise, cap="epsilon = 2"))
    priced = bill(ask("count", 'noise = "staircase"\nepsilon = 0.5', cap="epsilon = 2"))
    assert priced.due.cost == Fraction(1, 2)


def test_a_share_that_calls_for_noise_beyond_the_tables_is_refused(ask):
    with pytest.raises(InvalidParameter):
        ask("sum", "rho = 0.00001")
    spec = ask("count", 'noise = "canonical"\nmu = 0.1')
    assert spec.steps[0].mechanism.curve == ny.gdp(Decimal("0.1"))
