"""Pictures of the loss: what is drawn integrates to what was said."""

import math

import numpy as np
import pytest

import neyman as ny
from neyman import plots
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.plots._loss_law import DrawnLoss

SMOOTH = {"gaussian": ny.gdp(1), "small": ny.gdp(0.01), "mixed": ny.laplace(1) @ ny.gdp(0.5)}
MIXED = {"laplace": ny.laplace(1), "long laplace": ny.laplace(5)}
ATOMS = {
    "pure": ny.pure_dp(1),
    "approximate": ny.approx_dp(1, 0.05),
    "responses": ny.randomized_response(1) ** 10,
    "lattice": ny.curves.discrete_gaussian(2) ** 3,
    "nothing": ny.curves.identity(),
    "everything": ny.approx_dp(0, 1),
}
ALL = {**SMOOTH, **MIXED, **ATOMS}


def legend(axes):
    found = axes.get_legend() or axes.figure.legends[0]
    return [text.get_text() for text in found.get_texts()]


@pytest.mark.parametrize("name", ALL)
def test_the_parts_of_each_law_add_up_to_one(name):
    loss = DrawnLoss.of(ALL[name].remove, 0.5)
    width = loss.edges[1] - loss.edges[0]
    for density, atoms, endless in zip(loss.densities, loss.atoms, loss.endless, strict=True):
        assert density.sum() * width + atoms.sum() + endless == pytest.approx(1, abs=1e-3)
        assert density.min() >= 0


@pytest.mark.parametrize("name", ATOMS)
def test_atoms_are_found_where_they_are_and_leave_no_density(name):
    loss = DrawnLoss.of(ATOMS[name].remove, 0.5)
    assert not loss.smooth
    np.testing.assert_allclose(loss.atoms.q, np.exp(loss.places) * loss.atoms.p, rtol=1e-5)


def test_the_atoms_of_the_laplace_curve_stand_at_its_ends():
    loss = DrawnLoss.of(ny.laplace(1).remove, 0.5)
    np.testing.assert_allclose(loss.places, [-1, 1], atol=1e-6)
    np.testing.assert_allclose(loss.atoms.q, [math.exp(-1) / 2, 0.5], rtol=1e-6)
    inside = np.abs(loss.centres) < 0.9
    exact = np.exp((loss.centres - 1) / 2) / 4
    np.testing.assert_allclose(loss.densities.q[inside], exact[inside], rtol=1e-4)


@pytest.mark.parametrize("name", [*SMOOTH, *MIXED])
def test_the_two_densities_differ_by_the_exponential_of_the_loss(name):
    loss = DrawnLoss.of(ALL[name].remove, 0.5)
    p, q = loss.lines()
    seen = np.isfinite(p) & (p > 1e-4 * np.nanmax(p))
    np.testing.assert_allclose(q[seen], np.exp(loss.centres[seen]) * p[seen], rtol=0.01)


@pytest.mark.parametrize(
    ("curve", "epsilon"),
    [
        (ny.gdp(1), 0.0),
        (ny.gdp(1), 1.0),
        (ny.gdp(3), 2.0),
        (ny.laplace(1), 0.5),
        (ny.pure_dp(1), 0.4),
        (ny.approx_dp(1, 0.05), 0.5),
        (ny.randomized_response(1) ** 10, 3),
    ],
)
def test_what_is_shaded_is_delta(curve, epsilon):
    """Areas between densities, lengths on atoms, and the mass at infinity."""
    picture = plots.privacy_loss(curve, epsilon=epsilon)
    found = DrawnLoss.of(curve.remove, epsilon).endless[1]
    for axes in picture.axes:
        for drawn in axes.collections:
            if drawn.get_alpha() is None:
                continue
            paths = [path.vertices for path in drawn.get_paths()]
            if len(paths[0]) > 2:
                found += sum(_area(path) for path in paths)
            else:
                found += sum(abs(path[1, 1] - path[0, 1]) for path in paths)
    assert found == pytest.approx(curve.delta(epsilon), rel=0.01, abs=1e-4)


def _area(polygon):
    x, y = polygon[:, 0], polygon[:, 1]
    return abs(np.dot(x[:-1], y[1:]) - np.dot(x[1:], y[:-1])) / 2


def test_epsilon_is_marked_and_the_legend_says_delta_and_the_masses_at_infinity():
    (axes,) = plots.privacy_loss(ny.approx_dp(1, 0.05), epsilon=0.5).axes
    marks = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in marks] == [0.5]
    said = " ".join(legend(axes))
    assert "ε = 0.5" in said
    assert "mass 0.05 at +∞ under Q" in said
    assert "mass 0.05 at −∞ under P" in said
    printed = float(said.split("δ(ε) ≤ ")[1].split(",")[0])
    assert 0 <= printed - ny.approx_dp(1, 0.05).delta(0.5) < 1e-3
    assert not any("∞" in text for text in legend(plots.privacy_loss(ny.gdp(1), epsilon=1).axes[0]))


def test_directions_that_differ_are_both_drawn():
    run = ny.poisson(ny.gdp(1), 0.1)
    remove, add = plots.privacy_loss(run, epsilon=0.1).axes
    assert "P without the record" in remove.get_xlabel()
    assert "P with the record" in add.get_xlabel()
    for axes, pair in ((remove, run.remove), (add, run.add)):
        printed = float(" ".join(legend(axes)).split("δ(ε) ≤ ")[1])
        assert pair.delta(0.1) <= printed <= pair.delta(0.1) * 1.01
    mirrored = DrawnLoss.of(run.remove, 0.1).mirrored()
    other = DrawnLoss.of(run.add, 0.1)
    at = np.linspace(-0.5, 0.09, 50)
    for ours, theirs in zip(mirrored.densities, other.densities, strict=True):
        one = np.interp(at, mirrored.centres, ours)
        np.testing.assert_allclose(one, np.interp(at, other.centres, theirs), rtol=0.05)
    assert len(plots.privacy_loss(ny.gdp(1), epsilon=1).axes) == 1


def test_what_has_no_loss_or_no_epsilon_is_refused():
    for epsilon in (-1, math.inf, math.nan):
        with pytest.raises(InvalidParameter, match="at least 0"):
            plots.privacy_loss(ny.gdp(1), epsilon=epsilon)
    with pytest.raises(UnsupportedComposition):
        plots.privacy_loss(ny.zcdp(0.1), epsilon=1)


def test_profiles_are_drawn_as_the_view_gives_them():
    curves = {"one": ny.gdp(1), "two": ny.approx_dp(1, 1e-5), "three": ny.curves.identity()}
    (axes,) = plots.profile(curves, epsilon=3).axes
    assert axes.get_yscale() == "log"
    assert legend(axes) == list(curves)
    for line, curve in zip(axes.lines, curves.values(), strict=True):
        x, y = line.get_data()
        assert (x[0], x[-1]) == (0, 3)
        np.testing.assert_array_equal(np.nan_to_num(y), curve.delta(x))


def test_renyi_divergences_are_drawn_where_they_are_finite_and_the_rest_is_said():
    curves = {"one": ny.gdp(1), "two": ny.approx_dp(1, 1e-5), "three": ny.curves.identity()}
    (axes,) = plots.renyi(curves, order=50).axes
    assert legend(axes) == ["one", "two: infinite", "three: 0"]
    x, y = axes.lines[0].get_data()
    assert x[-1] == pytest.approx(50)
    np.testing.assert_array_equal(y, ny.gdp(1).renyi(x))
    assert all(not line.get_xdata().size for line in axes.lines[1:])


@pytest.mark.parametrize("draw", [plots.profile, plots.renyi])
def test_estimates_are_drawn_as_single_lines(draw):
    half = math.log(2 * math.pi) / 2
    curve = ny.curves.densities(
        lambda x: -x * x / 2 - half, lambda x: -((x - 1) ** 2) / 2 - half, low=-30, high=31
    )
    end = {"epsilon": 1} if draw is plots.profile else {"order": 5}
    (axes,) = draw({"estimate": curve}, **end).axes
    assert legend(axes) == ["estimate"]


@pytest.mark.parametrize(("draw", "wrong"), [(plots.profile, 0), (plots.renyi, 1)])
def test_an_end_that_leaves_nothing_to_draw_is_refused(draw, wrong):
    name = "epsilon" if draw is plots.profile else "order"
    with pytest.raises(InvalidParameter, match=name):
        draw({"one": ny.gdp(1)}, **{name: wrong})
