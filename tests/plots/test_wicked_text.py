"""Text of data and specs in pictures: no formula, no hidden label, no warning."""

from dataclasses import replace
from fractions import Fraction

import pytest
from matplotlib.text import Text

import neyman as ny
from neyman import plots
from neyman.released import Guarantee, Release, Spending

WICKED = [
    "< $25k",
    "$25k_$50k",
    "$^$",
    "$5_$",
    "$50%$",
    "a$b#c$d",
    r"\\$x^$",
    "a\nb",
    "\x1b[2J",
    "\u202e",
    "\ud800",
    "_hidden",
    "",
    "x" * 10_000,
    "北京 😀",
    "北" * 10_000,
    "<script>&",
]


def made(statistic, cells, **query):
    return Release(
        entry="a",
        query={"statistic": statistic, "column": "x"} | query,
        mechanism={},
        guarantee=Guarantee(
            curve=ny.gdp(1), neighbors="add_remove", unit="one row", assumptions=()
        ),
        spending=Spending(account="mu^2", cost=Fraction(1), remaining=Fraction(0), cap=Fraction(1)),
        confidence=0.95,
        columns=cells,
        keys=tuple(name for name in cells if name not in NUMBERS),
        replayed=False,
    )


NUMBERS = {
    **dict.fromkeys(("mean", "count", "lower", "upper", "term", "estimate", "probability")),
    **dict.fromkeys(("quantile", "total_lower", "total_upper", "stddev", "margin", "unbiased")),
}
ROWS = len(WICKED)
ENDS = {"lower": [1.0] * ROWS, "upper": [3.0] * ROWS}
WIDER = {"total_lower": [0.0] * ROWS, "total_upper": [4.0] * ROWS}


def releases(text):
    """Yield answers with all wicked texts as keys, and one as the name of a column."""
    keys, values = {"g": WICKED}, [2.0] * ROWS
    yield made("mean", keys | {"mean": values} | ENDS, column=text)
    yield made("count", keys | {"count": [2] * ROWS} | ENDS)
    yield made(
        "linear_regression",
        {"term": WICKED, "estimate": values} | ENDS | WIDER,
        response={"column": text},
        features=[{"column": text, "bounds": ["0", "1"]}] * (ROWS - 1),
    )
    yield made(
        "quantile",
        keys | {"probability": [0.5] * ROWS, "quantile": values} | ENDS | WIDER,
        columns=[text],
    )
    both = {"margin": [f"by {text}"] * ROWS, "g": WICKED}
    yield made("crosstab", both | {"count": [2] * ROWS} | ENDS)
    words = {f"{text}_from": WICKED, f"{text}_to": [*WICKED[1:], "end"]}
    yield made("mean", words | {"mean": values} | ENDS, column=text)


def drawn(picture):
    """Draw it twice, as text and as dots; return all that stands in it."""
    svg = plots.to_svg(picture)
    svg.encode()
    picture.canvas.draw()
    for text in picture.findobj(Text):
        assert "\n" not in text.get_text() or not text.get_text().startswith("a\n")
        assert text.get_text().replace("\n", "").isprintable()
        assert text.get_usetex() is False
    return svg


@pytest.mark.parametrize("text", ["$^$", "a\nb", "北" * 10_000])
def test_no_key_or_column_name_stops_a_picture_or_warns(text):
    for release in releases(text):
        drawn(plots.released(release))


def test_dollars_are_dollars():
    (axes,) = plots.released(next(releases("$25k_$50k"))).axes
    axes.figure.canvas.draw()
    label = axes.get_yticklabels()[WICKED.index("$25k_$50k")]
    assert label.get_text() == "$25k_$50k"
    assert label.get_parse_math() is False
    assert axes.xaxis.label.get_parse_math() is False


CURVES = [
    plots.tradeoff,
    lambda curves: plots.profile(curves, epsilon=2),
    lambda curves: plots.renyi(curves, order=4),
]


@pytest.mark.parametrize("draw", CURVES)
def test_every_curve_is_in_the_legend_by_its_own_name(draw):
    texts = ["$25k_$50k", "$^$", "_hidden", "", "a\nb", "\x1b[2J"]
    picture = draw(dict.fromkeys(texts, ny.gdp(1)))
    drawn(picture)
    labels = [label.get_text() for label in picture.legends[0].get_texts()]
    assert len([label for label in labels if label != "guessing"]) == len(texts)


def test_numbers_on_a_logarithmic_axis_stay_powers():
    picture = plots.profile({"f": ny.gdp(1)}, epsilon=2)
    picture.canvas.draw()
    ticks = [tick for tick in picture.axes[0].get_yticklabels() if tick.get_text()]
    assert ticks
    assert all("$" in tick.get_text() and tick.get_parse_math() for tick in ticks)


def test_counts_that_noise_alone_could_have_made_are_grey():
    release = replace(
        made("count", {"g": ["a", "b"], "count": [2, 30], "lower": [-3, 25], "upper": [7, 35]}),
        keys=("g",),
    )
    (axes,) = plots.released(release).axes
    labels = [line.get_label() for line in axes.lines]
    assert labels == [
        "private, with 95 % noise interval",
        "the same, and noise alone could have made it",
    ]
