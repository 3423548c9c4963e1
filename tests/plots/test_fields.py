"""The heat map shows the field, the places that are more than noise, and what it says."""

import numpy as np
import pytest

import neyman as ny
from neyman import plots
from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, FieldBasis, Interval, ReleasedField, density

LINE, TURN = Interval(0, 10, outside="clip"), Circle(24)


def released(box, bandwidth, values):
    question = density(
        values, domain=box, bandwidth=bandwidth, neighbors="replace_one", unit="one row", name="x"
    )
    columns = question.reading.columns(question.compute(), ny.Gaussian(scale=1), 0.9)
    basis = FieldBasis.of_record(question.query["basis"])
    integers = tuple(columns["coefficient"])
    return ReleasedField(basis, integers, 2.0**20, question.query["records"], 1, basis.bandwidth)


def test_a_field_is_drawn_with_the_line_around_what_is_no_noise():
    f = released(Box(TURN, LINE), (2, 1), np.tile([[23.0, 4.0]], (50, 1)))
    picture = plots.heatmap(
        f, generator=np.random.default_rng(1), points=25, repetitions=40, labels=("hour", "delay")
    )
    axes, bar = picture.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("hour", "delay")
    assert "2 and 1" in axes.get_title(loc="left")
    assert "95 %" in axes.get_title(loc="left")
    assert bar.get_ylabel() == "density"
    mesh, line = axes.collections
    shown = mesh.get_array().reshape(25, 26)
    assert shown.min() == 0
    np.testing.assert_array_equal(shown[:, 0], shown[:, -1])
    x, y = (np.linspace(0, 24, 26), np.linspace(0, 10, 25))
    i, j = np.unravel_index(shown.argmax(), shown.shape)
    assert abs(x[j] - 23) < 1
    assert abs(y[i] - 4) < 0.5
    # The peak is inside the line, which lies around it on both sides of midnight.
    vertices = np.concatenate([path.vertices for path in line.get_paths()])
    assert vertices[:, 0].min() < 1.5
    assert vertices[:, 0].max() > 20
    assert 0 < vertices[:, 1].min() < 4 < vertices[:, 1].max() < 10


def test_a_field_in_space_has_no_heat_map():
    f = released(Box(TURN, TURN, TURN), (5, 5, 5), np.zeros((3, 3)))
    with pytest.raises(InvalidParameter, match="a heat map needs a field of two coordinates"):
        plots.heatmap(f, generator=np.random.default_rng(1))
