"""Pictures: what is drawn is what was said, and the same twice."""

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional, plots, publish, training
from neyman.errors import InvalidParameter
from neyman.functional import Interval
from neyman.plots._style import PALETTE, figure
from neyman.released import Guarantee, Release, Spending
from neyman.tables import Count, Mean


@pytest.fixture
def release():
    from fractions import Fraction

    return Release(
        entry="a",
        query={"statistic": "mean", "column": "x"},
        mechanism={},
        guarantee=Guarantee(
            curve=ny.gdp(1), neighbors="add_remove", unit="one row", assumptions=()
        ),
        spending=Spending(account="mu^2", cost=Fraction(1), remaining=Fraction(0), cap=Fraction(1)),
        confidence=0.95,
        columns={
            "ward": ["north", "south"],
            "mean": [1.5, float("nan")],
            "lower": [1.0, 0.0],
            "upper": [2.0, 9.0],
            "count": [10.0, -1.0],
        },
        keys=("ward",),
        replayed=False,
    )


def test_a_curve_is_drawn_with_its_bracket_and_the_diagonal():
    picture = plots.tradeoff({"one": ny.gdp(1), "two": ny.pure_dp(1)})
    (axes,) = picture.axes
    assert len(axes.collections) == 2
    assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == [
        "guessing",
        "one",
        "two",
    ]
    x, y = axes.lines[1].get_data()
    np.testing.assert_array_equal(y, ny.gdp(1).beta(x))


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Return what releases a question of a small table."""
    n = 400
    table = pa.table(
        {
            "g": ["a", "b"] * (n // 2),
            "x": [i % 7 for i in range(n)],
            "y": [i % 5 for i in range(n)],
            "z": [i % 3 for i in range(n)],
        }
    )
    bounds = {
        "x": ny.Bounds(0, 7, grid=1),
        "y": ny.Bounds(0, 5, grid=1),
        "z": ny.Bounds(0, 3, grid=1),
    }
    opened = ny.open_table(table, name="t", unit=ny.Rows(), bounds=bounds)
    path = tmp_path_factory.mktemp("plots") / "a.ledger"
    kept = {"cap": ny.gdp(1000), "unit": opened.protects, "neighbors": "add_remove"}
    ledger = ny.Ledger.open(path, **kept)

    def released(made):
        query = made(opened)
        noise = ny.Gaussian.calibrate(query.sensitivity, mu=1)
        entry = f"entry {len(ledger.entries())}"
        return ny.release(query, noise, ledger, entry=entry)

    return released


BY = ny.Keys({"g": ["a", "b"]})


@pytest.mark.parametrize("by", [None, BY])
@pytest.mark.parametrize(
    "made",
    [
        lambda t, by: t.count(by),
        lambda t, by: t.variance("x", by),
        lambda t, by: t.covariance("x", "y", by),
        lambda t, by: t.correlation("x", "y", by),
        lambda t, by: publish.quantiles(t, "x", [0.25, 0.5], by=by),
    ],
    ids=["count", "variance", "covariance", "correlation", "quantiles"],
)
def test_groups_are_called_by_their_keys(ask, made, by):
    (axes,) = plots.released(ask(lambda table: made(table, by))).axes
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert shown == (["all"] if by is None else ["a", "b"])


@pytest.mark.parametrize("by", [None, BY])
def test_a_linear_regression_on_several_columns_is_drawn_term_by_term(ask, by):
    panels = plots.released(
        ask(lambda t: publish.linear_regression(t, "y", ["x", "z"], by=by))
    ).axes
    assert [axes.get_xlabel() for axes in panels] == ["intercept", "slope of x", "slope of z"]
    # The names of the groups stand once.
    groups = ["all"] if by is None else ["a", "b"]
    for axes, named in zip(panels, (groups, [], []), strict=True):
        shown = [tick.get_text() for tick in axes.get_yticklabels()]
        assert [name for name in shown if name] == named


@pytest.mark.parametrize("by", [None, BY])
def test_a_linear_regression_on_one_column_is_a_line_over_its_bounds_within_its_band(ask, by):
    release = ask(lambda t: publish.linear_regression(t, "y", ["x"], by=by))
    panels = plots.released(release).axes
    assert [axes.get_title(loc="left") for axes in panels] == ([""] if by is None else ["a", "b"])
    lower, upper, estimate = (
        np.reshape(release.columns[name], (-1, 2)) for name in ("lower", "upper", "estimate")
    )
    for group, axes in enumerate(panels):
        assert axes.get_xlim() == (0, 7)
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "mean of y")
        x, y = axes.lines[0].get_data()
        intercept, slope = estimate[group]
        np.testing.assert_allclose(y, intercept + slope * x)
        # Every line whose coefficients the intervals hold lies in the band, and some at its edge.
        band = axes.collections[0].get_datalim(axes.transData)
        ends = [a + b * end for end in (0, 7) for a in (lower[group][0], upper[group][0])
                for b in (lower[group][1], upper[group][1])]  # fmt: skip
        assert (band.y0, band.y1) == pytest.approx((min(ends), max(ends)))


def test_a_line_that_noise_hides_has_words_in_its_place(ask):
    release = ask(lambda t: publish.linear_regression(t, "y", ["x"]))
    lost = {**release.columns, "estimate": [np.nan] * 2, "lower": [-np.inf] * 2,
            "upper": [np.inf] * 2}  # fmt: skip
    (axes,) = plots.released(replace(release, columns=lost)).axes
    assert not axes.lines
    assert [text.get_text() for text in axes.texts] == ["too few rows to tell"]


@pytest.mark.parametrize("width", [None, 4.8])
@pytest.mark.parametrize("made", ["density", "regression", "line", "tradeoff", "profile"])
def test_a_legend_stands_where_nothing_is_drawn(ask, made, width):
    if made in ("tradeoff", "profile"):
        curves = {"the whole of it": ny.gdp(1), "another guarantee": ny.gdp(3)}
        draw = plots.tradeoff if made == "tradeoff" else lambda one: plots.profile(one, epsilon=3)
        picture = draw(curves)
    else:
        picture = plots.released(ask(QUESTIONS[made]))
    plots.to_svg(picture, width=width)
    picture.draw_without_rendering()
    (legend,) = picture.legends
    box = legend.get_window_extent()
    assert picture.bbox.x0 <= box.x0 < box.x1 <= picture.bbox.x1
    assert picture.bbox.y0 <= box.y0 < box.y1 <= picture.bbox.y1
    for axes in picture.axes:
        assert not axes.get_tightbbox().overlaps(box)


@pytest.mark.parametrize("made", ["regression", "line"])
def test_large_numbers_at_the_axes_of_a_curve_stand_in_groups_of_three(ask, made):
    (axes,) = plots.released(ask(QUESTIONS[made])).axes
    for axis in (axes.xaxis, axes.yaxis):
        assert axis.get_major_formatter()(17500.0, 0) == "17,500"


QUESTIONS = {
    "density": lambda t: publish.density(
        t, "x", domain=Interval(0, 7, outside="clip"), bandwidth=0.5
    ),
    "regression": lambda t: publish.regression(
        t, x="x", y="y", domain=Interval(0, 7, outside="clip"), bandwidth=0.5,
        response=Interval(0, 5, outside="clip"),
    ),
    "line": lambda t: publish.linear_regression(t, "y", ["x"]),
}  # fmt: skip


def test_several_statistics_have_a_panel_each_with_their_own_values(ask):
    release = ask(lambda t: t.statistics([Count(), Mean(t.measured("x"))], BY))
    first, second = plots.released(release).axes
    assert (first.get_xlabel(), second.get_xlabel()) == ("count", "mean of x")
    for axes, name in ((first, "count"), (second, "mean_x")):
        (dots,) = (line for line in axes.lines if line.get_label().startswith("private"))
        np.testing.assert_array_equal(dots.get_xdata(), release.columns[name])
    with pytest.raises(InvalidParameter, match="takes no true values"):
        plots.released(release, truth=[1, 2])


def test_an_interval_without_an_end_is_not_drawn_and_said_to_be_too_few_rows(release):
    wide = {**release.columns, "lower": [1.0, -np.inf], "upper": [2.0, np.inf]}
    (axes,) = plots.released(replace(release, columns=wide)).axes
    assert [text.get_text() for text in axes.texts] == ["too few rows to tell"]
    assert len(axes.collections[0].get_segments()) == 1


BINS = ny.Bins([0, 1, 3, 7], outside="drop")


def test_bins_of_one_column_are_bars_between_their_edges(ask):
    release = ask(lambda t: t.count(ny.Keys({"x": BINS})))
    (axes,) = plots.released(release).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "1", "3", "7"]
    assert [bar.get_height() for bar in axes.patches] == release.columns["count"]
    assert axes.get_xlabel() == "x (bins of unequal width)"


def test_bins_of_two_columns_are_a_heat_map_with_its_scale(ask):
    release = ask(lambda t: t.count(ny.Keys({"x": BINS, "y": ny.Bins([0, 2, 5], outside="drop")})))
    axes, scale = plots.released(release).axes
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", "2", "5"]
    drawn = np.asarray(axes.collections[0].get_array())
    np.testing.assert_array_equal(drawn.T.ravel(), release.columns["count"])
    assert scale.get_ylabel() == "count"


def test_a_bin_beside_a_key_is_written_with_both_edges(ask):
    (axes,) = plots.released(ask(lambda t: t.count(ny.Keys({"g": ["a"], "x": BINS})))).axes
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert shown == ["a · 0 to 1", "a · 1 to 3", "a · 3 to 7"]


def test_densities_by_group_have_a_panel_each(ask):
    panels = plots.released(ask(lambda t: publish.density(t, "x", bandwidth=0.5, by=BY))).axes
    assert [axes.get_title(loc="left") for axes in panels] == ["a", "b"]
    assert all(axes.lines for axes in panels)


def test_many_groups_are_cut_and_noise_is_said(ask):
    keys = ny.Keys({"g": ["a", *(f"none {i}" for i in range(12))]})
    picture = plots.released(ask(lambda t: publish.density(t, "x", bandwidth=0.5, by=keys)))
    assert len(picture.axes) == 12
    assert picture.get_suptitle() == "the first 12 of 13 groups"


def test_a_density_of_two_columns_is_a_heat_map(ask):
    box = functional.Box(
        functional.Interval(0, 7, outside="clip"), functional.Interval(0, 5, outside="clip")
    )
    picture = plots.released(
        ask(lambda t: publish.density(t, ["x", "y"], domain=box, bandwidth=[0.5, 0.5]))
    )
    axes, _ = picture.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")


def test_a_mean_that_noise_alone_could_have_made_is_words_in_its_row(release):
    picture = plots.released(release)
    (axes,) = picture.axes
    assert len(axes.lines[0].get_xdata()) == 1
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["north", "south"]
    assert len(axes.collections[0].get_segments()) == 1
    assert [text.get_text() for text in axes.texts] == ["too few rows to tell"]


@pytest.mark.shows("faces")
def test_true_values_are_drawn_only_when_handed_over_and_are_called_so(release):
    (axes,) = plots.released(release).axes
    assert not axes.figure.legends
    assert len(axes.lines) == 1
    (axes,) = plots.released(release, truth=[1.4, 3.0]).axes
    texts = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert texts == ["private, with 95 % noise interval", "true (public data)"]


def test_any_script_is_drawn_without_a_warning(release):
    wide = {**release.columns, "ward": ["内科", "외과 ☤"]}
    assert "内科" in plots.to_svg(plots.released(replace(release, columns=wide)))


def test_the_same_figure_gives_the_same_file(release):
    first, second = (plots.to_svg(plots.released(release)) for _ in range(2))
    assert first == second
    assert first.startswith("<svg")


# What is seen without one kind of cone, in linear RGB (Machado, Oliveira and Fernandes, 2009).
SIGHTS = {
    "all": np.eye(3),
    "no red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "no green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}
LIGHT = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


def place(colour, sight):
    """Return where a colour is in CIELAB, in which 2.3 is a difference that is just noticed."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    white = np.array([0.9505, 1, 1.089])
    x, y, z = np.cbrt(np.array(LIGHT) @ np.clip(np.array(sight) @ linear, 0.002, 1) / white)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_colours_of_curves_are_told_apart_by_every_eye(sight):
    for first, second in combinations(PALETTE, 2):
        apart = place(first, SIGHTS[sight]) - place(second, SIGHTS[sight])
        assert np.linalg.norm(apart) > 15, (first, second)


def test_one_guarantee_is_drawn_without_a_label_and_labelled_by_what_it_is():
    for picture in (
        plots.tradeoff(ny.gdp(1)),
        plots.profile(ny.gdp(1), epsilon=2),
        plots.renyi(ny.gdp(1), order=4),
    ):
        (axes,) = picture.axes
        assert axes.figure.legends[0].get_texts()[-1].get_text() == "gdp(mu=1)"


@pytest.mark.parametrize("given", [[], 3, "f", None, [ny.gdp(1)], {"a": 1}, ny.gdp])
def test_what_is_no_guarantee_is_not_drawn(given):
    for draw in (
        lambda: plots.tradeoff(given),
        lambda: plots.profile(given, epsilon=2),
        lambda: plots.renyi(given, order=4),
        lambda: plots.privacy_loss(given, epsilon=1),
    ):
        with pytest.raises(InvalidParameter, match=r"such as gdp\(1\)"):
            draw()


def test_a_notebook_gets_an_image_of_the_size_of_the_figure():
    picture = plots.tradeoff(ny.gdp(1))
    drawn, size = picture._repr_png_()
    assert drawn.startswith(b"\x89PNG")
    wide, high = (int.from_bytes(drawn[i : i + 4], "big") for i in (16, 20))
    assert abs(wide - 2 * size["width"]) <= 2
    assert abs(high - 2 * size["height"]) <= 2


def test_a_picture_for_a_page_is_narrow_and_its_text_is_whole():
    wide = plots.tradeoff(ny.gdp(1))
    wide.set_figwidth(9)
    said = 'style="fill: #22262e" id="x" 1.23456 <b>'
    wide.axes[0].set_xlabel(said)
    svg = plots.to_svg(wide, width=4)
    root = ET.fromstring(svg)
    assert root.get("viewBox").split()[2] == "288"
    texts = [" ".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    # Lines are turned, and no sign of them is changed.
    assert said in " ".join(texts)
    assert not [one for one in root.iter() if "style" in one.attrib]
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert all(f"#{one}" in svg for one in ids)


def test_a_picture_of_several_panels_is_not_squeezed():
    picture = figure(8, 3)
    for place in (1, 2):
        picture.add_subplot(1, 2, place)
    assert 'viewBox="0 0 576 216"' in plots.to_svg(picture, width=4)


def test_the_words_of_a_picture_can_be_others():
    svg = plots.to_svg(plots.tradeoff(ny.gdp(1)), words=lambda text: f"<{text}>")
    assert "&lt;guessing&gt;" in svg
    assert "&lt;gdp(mu=1)&gt;" in svg


def test_epsilon_over_steps_is_drawn_where_it_is_with_every_second_phase_shaded():
    phases = [
        training.Phase.poisson(noise_multiplier=noise, sampling_probability=1, steps=steps)
        for noise, steps in ((10, 40), (20, 60), (10, 20))
    ]
    run = training.RunRecord(phases=tuple(phases), unit="one image", neighbors="add_remove")
    (axes,) = plots.epsilon_over_steps(run, delta=1e-5, points=12).axes
    along = run.epsilon_over_steps(1e-5, 12)
    (line,) = axes.lines
    assert line.get_xdata().tolist() == along.steps.tolist()
    assert line.get_ydata().tolist() == along.epsilon.tolist()
    (shade,) = axes.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (40, 100)
