"""What a release says that limits and bounds did: its intervals hold, its words are right."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.mechanisms import Gaussian, Laplace
from neyman.released import Companion

PARTS = 1024
RECORD = {"entity": "patient", "of": "rows", "limit": 5, "least": 5, "bounds": True}
CONFIDENCE, DRAWS = 0.95, 5000
NOISES = {"gaussian": Gaussian(scale=6000), "laplace": Laplace(scale=5000)}


def population(seed, units=400, least=5):
    """Return the four exact integers, how many units are cut, and the rows that are missing."""
    draw = np.random.default_rng(seed)
    t = draw.integers(1, 12, units) + (draw.random(units) < 0.1) * draw.integers(0, 300, units)
    k = np.minimum(t, least + draw.integers(0, 3, units))
    x = (draw.random(units) * (t + 1)).astype(np.int64)
    b, cut = (t - k) * PARTS // t, k < t
    exact = [
        PARTS * int((~cut).sum()),
        int((PARTS - b)[cut].sum()),
        int(b[cut].sum()),
        int((x * PARTS // t).sum()),
    ]
    return exact, int(cut.sum()), int((t - k).sum())


class Exact:
    """No noise at all."""

    def half_width(self, _):
        return 0

    def radius(self, *_):
        return 0.0


class Half:
    """Says that noise is half as wide as it is."""

    def __init__(self, noise):
        self.noise = noise

    def half_width(self, confidence):
        return self.noise.half_width(confidence) // 2

    def radius(self, rank, size, confidence):
        return self.noise.radius(rank, size, confidence) / 2


def coverage(noise, said):
    """Return how often each of three intervals and the bound hold."""
    exact, cut, missing = population(0)
    held = np.zeros(4)
    noisy = noise.add_noise(np.tile(np.array(exact, np.int64), DRAWS)).reshape(DRAWS, 4)
    widths = said.half_width(CONFIDENCE), said.radius(1, 4, CONFIDENCE)
    each = [said.half_width(math.nextafter(1 - (1 - CONFIDENCE) / n, 1)) for n in (2, 3)]

    class Known:
        """The widths of this noise, computed once."""

        def half_width(self, confidence):
            if confidence == CONFIDENCE:
                return widths[0]
            return each[0] if confidence < 0.98 else each[1]

        def radius(self, *_):
            return widths[1]

    for row in noisy.tolist():
        found = Companion.read(RECORD, row, Known(), CONFIDENCE)
        held += (
            abs(found.units - sum(exact[:3]) / PARTS) <= found.units_half_width,
            abs(found.cut - cut) <= found.cut_half_width,
            abs(found.moved - exact[3] / PARTS) <= found.moved_half_width,
            found.missing <= missing,
        )
    return held / DRAWS


@pytest.mark.shows("companion")
@pytest.mark.parametrize("name", NOISES)
def test_intervals_hold_as_often_as_they_say(name):
    assert min(coverage(NOISES[name], NOISES[name])) >= CONFIDENCE - 0.015


@pytest.mark.parametrize("name", NOISES)
def test_intervals_half_as_wide_do_not(name):
    held = coverage(NOISES[name], Half(NOISES[name]))
    assert max(held[:3]) < CONFIDENCE - 0.015


def test_the_lower_bound_is_not_idle():
    """Of many rows that are missing most are told."""
    exact, _, missing = population(1, units=40_000)
    found = Companion.read(RECORD, exact, Gaussian(scale=6000), CONFIDENCE)
    assert missing / 10 < found.missing <= missing


@pytest.mark.parametrize("least", [1, 2, 5])
def test_without_noise_no_more_rows_are_said_to_be_missing_than_are(least):
    for seed in range(60):
        units = 1 + seed % 30
        exact, cut, missing = population(seed, units, least)
        found = Companion.read(RECORD | {"least": least}, exact, Exact(), CONFIDENCE)
        assert 0 <= found.missing <= missing
        assert (found.units, found.cut) == (units, cut)


def test_where_all_units_are_alike_all_that_is_missing_is_told():
    found = Companion.read(RECORD, [0, 1000 * 256, 1000 * 768, 0], Exact(), CONFIDENCE)
    assert 15_000 - 1 <= found.missing <= 15_000


def test_the_bound_stays_in_reason_where_noise_leaves_nothing_kept():
    """At least a part in 1024 of each unit that is cut is kept."""
    found = Companion.read(RECORD, [0, -(10**6), 10**6, 0], Gaussian(scale=10), CONFIDENCE)
    assert 0 < found.missing <= 1024 * 5 * 10**6 / PARTS


def told(whole, kept, lost, moved, *, scale=500, **record):
    row = [value * PARTS for value in (whole, kept, lost, moved)]
    return Companion.read(RECORD | record, row, Gaussian(scale=scale), CONFIDENCE)


def test_units_that_are_cut_are_a_warning():
    found = told(8000, 1000, 1000, 0)
    assert found.warns
    assert found.cuts
    assert not found.moves
    rows, values = found.sentences
    assert rows.startswith("Rows missing: 20 % of patients (2,000 ± ")
    assert "have more rows than the limit of 5; at least 9,9" in rows
    assert rows.endswith(" rows do not count.")
    assert values.startswith("Values moved to the bounds: at most 0.1")
    (rows,) = told(8000, 1000, 1000, 0, limit=None, of="groups", bounds=False).sentences
    assert rows.startswith("Missing from groups: 20 % of patients (2,000 ± ")
    assert "are in more groups than the limits allow; at least 9,9" in rows
    assert rows.endswith(" pairs of a patient and a group do not count.")


def test_few_units_that_are_cut_are_no_warning():
    found = told(10_000, 0, 0, 0, bounds=False)
    assert not found.warns
    (rows,) = found.sentences
    assert rows.startswith("Rows missing: at most 0.0")
    assert rows.endswith(" % of patients have more rows than the limit of 5.")


@pytest.mark.parametrize(
    ("entity", "many"),
    [
        ("patient", "patients"),
        ("user_id", "user_ids"),
        ("company", "companies"),
        ("taxi day", "taxi days"),
        ("child", "children"),
        ("box", "boxes"),
        ("customers", "values of customers"),
        ("p2", "values of p2"),
        ("환자", "values of 환자"),
    ],
)
def test_units_go_by_the_name_of_their_column(entity, many):
    rows, values = told(8000, 1000, 1000, 0, entity=entity).sentences
    assert f" % of {many} (2,000 ± " in rows
    assert values.endswith(f" of the values of each {entity}, on average.")
    known = " ".join(told(10, 2, 2, 4, scale=50_000, entity=entity).sentences)
    assert known.count(f"There are only about 14 {many}, too few to tell") == 2


def test_where_no_limit_can_cut_nothing_is_said_to_be_cut():
    """Noise in parts that are 0 for certain does not show, and the count of units has less."""
    found = told(9000, 500, 500, 0, of=None, limit=None)
    assert (found.of, found.cut, found.cut_half_width, found.missing) == (None, 0, 0, 0)
    assert (found.units, found.cuts) == (9000, False)
    assert found.units_half_width < told(9000, 500, 500, 0).units_half_width
    (values,) = found.sentences
    assert values.startswith("Values moved")
    assert Companion.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_too_few_units_to_tell_are_said_to_be():
    found = told(10, 2, 2, 4, scale=50_000)
    assert not found.warns
    rows, values = found.sentences
    assert rows.startswith("Rows missing: not known. There are only about 14 patients, too few to ")
    assert values == (
        "Values moved to the bounds: not known. There are only about 14 patients, too few to tell "
        "at this budget."
    )
    nobody = told(-10, 0, 0, 0, scale=50_000)
    assert "about 0 patients" in nobody.sentences[0]


def test_values_that_bounds_moved_are_a_warning():
    found = told(10_000, 0, 0, 600)
    assert found.warns
    assert found.moves
    assert not found.cuts
    assert found.sentences[1] == (
        "Values moved to the bounds: 6 % of the values of each patient, on average."
    )
    assert told(10, 0, 0, 90, scale=1).sentences[1].startswith("Values moved to the bounds: 100 % ")


@pytest.mark.parametrize("noise", NOISES.values(), ids=list(NOISES))
def test_any_noisy_integers_can_be_read(noise):
    edges = [0, 1, -1, 10**6, -(10**6), 2**62, -(2**62)]
    for row in np.random.default_rng(0).choice(edges, (40, 4)).tolist():
        found = Companion.read(RECORD, row, noise, CONFIDENCE)
        assert found.missing >= 0
        assert all(sentence.endswith(".") for sentence in found.sentences)
        assert "nan" not in " ".join(found.sentences)
        assert Companion.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_record_is_written_and_read_again():
    for found in (told(9, 1, 1, 3), told(9, 1, 1, 3, bounds=False, limit=None)):
        record = json.loads(json.dumps(found.to_json()))
        assert Companion.from_json(record) == found
    assert found.moved is None


CHANGES = [
    *[{name: None} for name in ("entity", "confidence", "units", "cut", "missing")],
    *[{name: "5"} for name in ("limit", "confidence", "units", "moved", "missing", "cut")],
    {"entity": 5},
    {"of": 5},
    {"limit": 5.5},
    {"missing": 5.5},
    {"units_half_width": [1]},
    {"moved_half_width": None},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_malformed_record_is_refused(change):
    record = told(9, 1, 1, 3).to_json()
    with pytest.raises(InvalidParameter, match=f"lacks {next(iter(change))}, or has another type"):
        Companion.from_json(record | change)


def test_a_record_that_lacks_something_is_refused():
    record = told(9, 1, 1, 3).to_json()
    for name in record:
        rest = {key: value for key, value in record.items() if key != name}
        with pytest.raises(InvalidParameter, match=f"lacks {name}, or has another type"):
            Companion.from_json(rest)


@pytest.mark.parametrize(
    "change",
    [
        {"of": "people"},
        {"confidence": 0},
        {"confidence": 1.0},
        {"confidence": True},
        {"units": math.nan},
        {"units": 10**400},
        {"missing": 10**400},
        {"cut": math.inf},
        {"cut_half_width": -1},
        {"missing": -1},
        {"missing": True},
        {"limit": 0},
        {"moved": -math.inf},
    ],
    ids=str,
)
def test_a_record_that_no_release_writes_is_refused(change):
    with pytest.raises(InvalidParameter, match="companion"):
        Companion.from_json(told(9, 1, 1, 3).to_json() | change)


def test_a_share_of_the_noise_is_exact():
    """One number is 1024 integers, so that widths are of units."""
    noise = Gaussian(variance=Fraction(10**8))
    found = Companion.read(RECORD, [0] * 4, noise, CONFIDENCE)
    floor = (max(found.units, 0) + found.units_half_width) / PARTS
    assert found.moved_half_width == noise.half_width(CONFIDENCE) / PARTS + floor
    assert found.moved_half_width < found.cut_half_width < found.units_half_width
    assert found.cut_half_width < 1.5 * found.moved_half_width
