"""What a notebook shows of audits."""

import numpy as np

import neyman as ny
from neyman.audit import Sequential, curve_band, mu, one_run, refute, sampler


def test_audits_are_shown():
    draw = np.random.default_rng(0)
    inside, outside = draw.normal(1, 0.5, 300), draw.normal(0, 0.5, 300)
    bet = Sequential(ny.gdp(1))
    bet.update(inside=inside, outside=outside)
    coins = draw.integers(0, 2, 300)
    shown = {
        "Audit: the claim is refuted": refute(inside, outside, ny.gdp(1), seed=1),
        "Audit: the claim is not refuted": refute(inside, outside, ny.gdp(3), seed=1),
        "Audit: the claim is refuted at any time": bet,
        "Band for the trade-off curve": curve_band(inside, outside),
        "Lower bound of a loss": mu(inside, outside, seed=1),
        "Audit: Poisson sampling is refuted": sampler([[0]] * 9, 0.5, 9, records=2, seed=1),
        "Audit of one run": one_run(scores=coins + 0.0, included=coins, delta=0),
    }
    for title, one in shown.items():
        page = one._repr_html_()
        assert f">{title}<" in page
        assert "neyman-cell" in page
        assert len(page) < 20_000
    assert "<svg" in shown["Band for the trade-off curve"]._repr_html_()
    assert "gdp(mu=1)" in bet._repr_html_()
