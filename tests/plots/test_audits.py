"""Pictures of audits say the finding, and show what it rests on."""

import numpy as np
import pytest

import neyman as ny
from neyman import plots
from neyman.audit import Sequential, Verdict, curve_band, one_run, refute
from neyman.errors import InvalidParameter


def normal(seed: int, n: int, shift: float, sd: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.normal(shift, sd, n), draw.normal(0, sd, n)


def title(picture) -> str:
    return picture.legends[0].get_title().get_text().replace("\n", " ")


def labels(picture) -> list[str]:
    return [text.get_text() for text in picture.legends[0].get_texts()]


@pytest.fixture(scope="module")
def refuted() -> Verdict:
    return refute(*normal(0, 600, 1.4), ny.gdp(1), seed=1)


def test_the_title_of_an_audit_is_its_finding(refuted):
    assert title(plots.audit(refuted)).startswith("gdp(mu=1) is refuted at level 0.05: p = ")
    kept = refute(*normal(0, 200, 1), ny.gdp(1), seed=1)
    assert "is not refuted" in title(plots.audit(kept))


def test_a_refuted_claim_misses_the_region_and_another_meets_it(refuted):
    def meets(verdict):
        line = verdict.region()
        return np.any(verdict.claim.beta(line.alpha) <= line.beta)

    assert not meets(refuted)
    assert meets(refute(*normal(0, 200, 1), ny.gdp(1), seed=1))
    line = refuted.region()
    assert np.all(np.diff(line.alpha) > 0)
    assert np.all(np.diff(line.beta) <= 1e-9)
    c = refuted.counts
    assert np.interp(c.false_positives / c.outside, *line) > c.false_negatives / c.inside


def test_both_axes_show_the_claim_the_rule_and_the_band(refuted):
    plain, whole = plots.audit(refuted), plots.audit(refuted, band=curve_band(*normal(0, 600, 1.4)))
    left, right = whole.axes
    assert (left.get_xscale(), right.get_xscale(), right.get_yscale()) == ("linear", "log", "log")
    assert len(labels(whole)) == len(labels(plain)) + 1
    for axes, other in zip(whole.axes, plain.axes, strict=True):
        assert len(axes.lines) == len(other.lines) + 2
    claim = next(line for line in left.lines if line.get_label() == "the claim")
    np.testing.assert_allclose(claim.get_ydata(), ny.gdp(1).beta(claim.get_xdata()))


def test_a_rule_without_false_positives_is_marked_at_the_edge():
    inside = (np.random.default_rng(0).random(5000) < 0.05) + 0.0
    verdict = refute(inside, np.zeros(5000), ny.gdp(0.1), seed=3)
    assert verdict.counts.false_positives == 0
    picture = plots.audit(verdict)
    picture.draw_without_rendering()
    (marked,) = [line for line in picture.axes[1].lines if line.get_marker() == "<"]
    assert marked.get_xdata()[0] == picture.axes[1].get_xlim()[0]


def test_one_direction_of_a_claim_is_drawn():
    verdict = refute(*normal(0, 100, 1), ny.poisson(ny.gdp(2), 0.2).remove, seed=1)
    plots.audit(verdict).draw_without_rendering()


def test_the_wealth_is_drawn_pair_by_pair():
    test = Sequential(ny.gdp(1))
    plots.wealth(test).draw_without_rendering()
    inside, outside = normal(3, 300, 1, 0.5)
    test.update(inside=inside, outside=outside)
    picture = plots.wealth(test)
    path = picture.axes[0].lines[-1]
    assert path.get_ydata()[-1] == pytest.approx(test.e_value)
    assert (path.get_xdata()[0], path.get_xdata()[-1]) == (2, 300)
    assert "is refuted at level 0.05, at any time: 300 pairs" in title(picture)
    assert test.wealth.max() == pytest.approx(1 / test.p_value)


def test_one_run_is_drawn_below_its_ceiling():
    draw = np.random.default_rng(1)
    coins = draw.integers(0, 2, 500)
    found = one_run(scores=draw.normal(size=500) + 2 * coins, included=coins, delta=1e-5, seed=1)
    picture = plots.one_run(found)
    wide = [bar.get_width() for bar in picture.axes[0].patches]
    assert wide == [found.mu, found.epsilon, found.most_mu, found.most_epsilon]
    assert "500 canaries in one run, if included by fair coins, show mu >=" in title(picture)
    picture.draw_without_rendering()


@pytest.mark.parametrize("draw", [plots.audit, plots.wealth, plots.one_run])
def test_what_is_no_audit_is_refused(draw):
    with pytest.raises(InvalidParameter, match=r"neyman\.audit"):
        draw(ny.gdp(1))
