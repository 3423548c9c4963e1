"""The picture of a function shows its curve, both bands and what they are."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import plots
from neyman.errors import InvalidParameter
from neyman.functional import (
    AdditiveCurve,
    AdditiveTerms,
    Asinh,
    Basis,
    Box,
    Circle,
    Density,
    DensityFunction,
    Interval,
    Log,
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    density,
    regression,
    survival,
)
from neyman.functional._lifetimes._survival import Exits
from neyman.publish import quantiles
from neyman.tables import open_table


def test_a_density_is_drawn_with_both_its_bands():
    basis = Basis(Interval(0, 10, outside="clip"), 1, Density(), True)
    integers = np.zeros(basis.size, np.int64)
    integers[0] = 1000 * basis.amplitudes[0]
    integers[1] = 300 * basis.amplitudes[1]
    raw = ReleasedFunction(basis, tuple(integers.tolist()), 2.0**24, None, 1, basis.bandwidth)
    f = DensityFunction(raw)
    (axes,) = plots.density(f, level=0.9).axes
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == [
        "the density itself, 90 % band of the whole curve",
        "noise, 90 % band of the whole curve",
        "private density",
    ]
    band = f.band(0.9, "noise")
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), f(band.x))
    (axes,) = plots.density(f, truth=lambda x: 0 * x + 0.1).axes
    assert set(axes.lines[1].get_ydata()) == {0.1}
    assert axes.figure.legends[0].get_texts()[-1].get_text() == "true (public data)"


@pytest.mark.parametrize(
    ("domain", "ticks"),
    [
        (Interval(100, 10_000_000, outside="clip").scaled(Log()), 10.0 ** np.arange(2, 8)),
        (Interval(-5000, 20_000, outside="drop").scaled(Asinh(10)), [-100, 0, 100, 10_000]),
        (Interval(2, 8, outside="clip").scaled(Log()), [2, 4, 6, 8]),
    ],
    ids=["log", "asinh", "few"],
)
def test_a_density_on_a_scale_is_drawn_on_it(domain, ticks):
    basis = Basis(domain, domain.length / 20, Density(), True)
    integers = np.zeros(basis.size, np.int64)
    integers[:2] = np.multiply([1000, 300], basis.amplitudes[:2])
    raw = ReleasedFunction(basis, tuple(integers.tolist()), 2.0**24, None, 1, basis.bandwidth)
    f = DensityFunction(raw)
    (axes,) = plots.density(f, truth=lambda x: 1 / x**2 + 1).axes
    axes.figure.draw_without_rendering()
    x, y = axes.lines[0].get_data()
    np.testing.assert_allclose(y * domain.scale.slope(x), f(x))
    assert np.trapezoid(y, domain.scale.line(x)) == pytest.approx(1, abs=0.01)
    true = axes.lines[1].get_ydata()
    np.testing.assert_allclose(true * domain.scale.slope(x), 1 / x**2 + 1)
    assert axes.get_ylabel().startswith(f"density of {domain.scale.words}")
    np.testing.assert_allclose(axes.get_xticks(), ticks, rtol=1e-9)
    # As far across as they are on the line.
    at = axes.transData.transform(np.stack([x, 0 * x], axis=1))[:, 0]
    line = domain.scale.line(x)
    share = (line - line[0]) / (line[-1] - line[0])
    np.testing.assert_allclose((at - at[0]) / (at[-1] - at[0]), share, atol=1e-9)


def test_what_each_feature_adds_is_drawn_with_its_intervals():
    side = Interval(-1, 1, outside="clip")
    terms = AdditiveTerms((side,) * 4, side, 2, ((0, 1),), "replace_one")
    integers = terms.sums([*np.random.default_rng(1).uniform(-1, 1, (5, 400))])
    curve = AdditiveCurve(terms, tuple(integers.tolist()), 2.0**20, 400, 1)
    axes = plots.effects(curve, level=0.9, labels=["a", "b", "c", "d"], response="score").axes
    assert [one.get_xlabel() for one in axes] == ["a", "b", "c", "d"]
    assert [one.get_ylabel() for one in axes] == ["score", "", "", "score"]
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == [
        "90 % interval at each place",
        "private effect",
    ]
    for effect, one in zip(curve.effects[:4], axes, strict=True):
        x, y = one.lines[0].get_data()
        np.testing.assert_array_equal(y, effect(x))
    with pytest.raises(InvalidParameter, match="labels must be 4"):
        plots.effects(curve, labels=["a"])


def test_a_picture_says_that_a_density_is_not_resolved():
    """Values at 0 and 10 alone: the cosine of j is their mean, 1 or 0."""
    basis = Basis(Interval(0, 10, outside="clip"), 1, Density(), True)
    j = np.arange(basis.highest + 1)
    integers = np.zeros(basis.size)
    integers[: j.size] = 1000 * basis.amplitudes * (1 + np.cos(np.pi * j)) / 2
    raw = ReleasedFunction(
        basis, tuple(map(round, integers.tolist())), 2.0**20, None, 1, basis.bandwidth
    )
    f = DensityFunction(raw)
    assert f.unresolved is not None
    (axes,) = plots.density(f).axes
    (said,) = [text.get_text().replace("\n", " ") for text in axes.texts]
    assert f.unresolved.startswith(said)
    assert said.startswith("not resolved: about 100 % of the values lie exactly at an end")


def test_a_survival_curve_is_drawn_up_to_where_it_is_known():
    times = np.linspace(0, 20, 400)
    question = survival(
        times,
        times < 8,
        horizon=10,
        bandwidth=0.5,
        neighbors="add_remove",
        unit="one patient",
        name="trial",
    )
    columns = question.reading.columns(question.compute(), ny.Gaussian(scale=1), 0.9)
    curve = SurvivalCurve(
        Exits(Fraction(10), Fraction(1, 2), True), tuple(columns["coefficient"]), 1.0, None, 1
    )
    (axes,) = plots.survival(
        curve, generator=np.random.default_rng(1), level=0.9, repetitions=20
    ).axes
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == [
        "noise and sampling, 90 % band of the whole curve",
        "noise, 90 % band of the whole curve",
        "private survival",
    ]
    x, y = axes.lines[0].get_data()
    np.testing.assert_array_equal(y, curve(x))
    assert x[-1] == curve.until == axes.get_xlim()[1]
    assert y[-1] == pytest.approx(0.6, abs=0.02)
    (axes,) = plots.survival(curve, of="cumulative_hazard").axes
    assert axes.get_ylabel() == "cumulative hazard"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), curve.cumulative_hazard(x))


def test_a_regression_curve_is_drawn_where_it_is_known():
    x = np.linspace(0, 0.5, 4000)
    question = regression(
        x,
        x,
        domain=Interval(0, 1, outside="clip"),
        bandwidth=0.05,
        response=Interval(-1, 1, outside="clip"),
        neighbors="add_remove",
        unit="one row",
        name="x",
    )
    columns = question.reading.columns(question.compute(), ny.Gaussian(scale=2**24), 0.9)
    channels = RegressionCurve.of_release(_Answer(question.query, columns)).channels
    curve = RegressionCurve(channels, tuple(columns["coefficient"]), 2.0**24, None, 1)
    fit = curve.nadaraya_watson(0.05)
    (axes,) = plots.regression(
        fit,
        generator=np.random.default_rng(1),
        level=0.9,
        repetitions=20,
        truth=lambda x: x,
        labels=("dose", "effect"),
    ).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("dose", "effect")
    assert axes.get_title(loc="left") == "read by Nadaraya and Watson, bandwidth 0.05"
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == [
        "noise and sampling, 90 % band of the whole curve",
        "noise, 90 % band of the whole curve",
        "private mean",
        "true (public data)",
    ]
    x, y = axes.lines[0].get_data()
    np.testing.assert_array_equal(y, fit(x))
    assert np.isnan(y[x > 0.8]).all()
    assert not np.isnan(y[x < 0.5]).any()
    assert axes.get_xlim() == (0, 1)


class _Answer:
    """What `of_release` needs of a release."""

    def __init__(self, query, columns):
        self.query, self.columns = query, columns


def test_a_release_of_a_function_is_drawn_as_one(tmp_path):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    question = density(
        np.repeat(np.arange(5.0), 40),
        domain=Interval(0, 5, outside="clip"),
        bandwidth=0.5,
        neighbors="add_remove",
        unit="one row",
        name="x",
    )
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    release = ny.release(question, noise, ledger, entry="a")
    assert "density" in plots.released(release).axes[0].get_ylabel()
    with pytest.raises(InvalidParameter, match=r"plots\.density"):
        plots.released(release, truth=[1.0])


def test_quantiles_are_drawn_group_by_group(tmp_path):
    data = pa.table({"x": np.arange(400.0) % 60, "ward": ["north", "south"] * 200})
    table = open_table(data, unit=ny.Rows(), name="x", bounds={"x": ny.Bounds(0, 60, grid=1)})
    question = quantiles(table, "x", [0.1, 0.5, 0.9], by=ny.Keys({"ward": ["north", "south"]}))
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(9), unit="one row", neighbors="add_remove")
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=2)
    release = ny.release(question, noise, ledger, entry="a")
    for picture in (plots.quantiles(release), plots.released(release)):
        (axes,) = picture.axes
        assert [label.get_text() for label in axes.get_yticklabels()] == ["north", "south"]
        assert "x: 3 quantiles, 95 % noise intervals (dark)" in axes.get_xlabel()
        (points,) = [line for line in axes.get_lines() if line.get_marker() == "o"]
        assert points.get_xdata().tolist() == release.columns["quantile"]
    count = table.count()
    other = ny.release(count, ny.Gaussian.calibrate(count.sensitivity, mu=1), ledger, entry="b")
    with pytest.raises(InvalidParameter, match="got a release of 'count'"):
        plots.quantiles(other)


def test_a_density_of_two_coordinates_is_drawn_without_a_band():
    box = Box(Circle(24), Interval(0, 10, outside="clip"))
    values = np.random.default_rng(0).uniform(0, 10, (4000, 2))
    asked = {"neighbors": "add_remove", "unit": "one row", "name": "x"}
    question = density(values, domain=box, bandwidth=(2, 1), **asked)
    columns = question.reading.columns(question.compute(), ny.Gaussian(scale=2**4), 0.9)
    f = ReleasedField.of_release(_Answer(question.query, columns))
    axes = plots.heatmap(DensityFunction(f), points=33, labels=("hour", "delay")).axes[0]
    assert axes.get_title(loc="left") == "private density"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hour", "delay")
    # A field with its band needs no generator: the seed of the simulation is fixed and public.
    assert "above zero beyond noise" in plots.heatmap(f, points=17).axes[0].get_title(loc="left")
