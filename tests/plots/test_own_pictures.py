"""The style for pictures that users draw themselves."""

import matplotlib as mpl
from matplotlib import style

from neyman.plots._style import INK, PALETTE, QUIET


def test_own_pictures_have_the_colours_of_ours():
    with style.context("neyman.plots.paper"):
        colours = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
        assert colours == list(PALETTE)
        for name, ours in {
            "text.color": INK,
            "axes.edgecolor": QUIET,
            "xtick.color": QUIET,
        }.items():
            assert mpl.rcParams[name] == ours
