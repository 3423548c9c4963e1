"""The question: what may be declared, what it says of itself, and the door."""

from fractions import Fraction

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter, RelationMismatch, SensitivityMismatch
from neyman.functional import Circle, Cumulative, Interval, Weights
from neyman.nodes import Nodes

DECLARED = {
    "domain": Interval(0, 24, outside="clip"),
    "bandwidth": 1,
    "neighbors": "add_remove",
    "unit": "one row",
    "name": "hours",
}

SCALES = functional.Scales()


def ask(values, **changed):
    return functional.density(np.asarray(values, float), **(DECLARED | changed))


def test_it_goes_through_the_door_at_its_exact_price(tmp_path):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    question = ask(np.linspace(3, 9, 1000))
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    release = ny.release(question, noise, ledger, entry="arrivals")
    assert release.guarantee.curve == ny.gdp(0.5)
    f = functional.function(release)
    again = functional.function(ny.release(question, noise, ledger, entry="arrivals"))
    assert f == again
    assert f.raw.stddev == noise.stddev
    assert abs(f.count - 1000) < 8 * f.count_sd
    assert "coefficients; functional.function(release) reads them" in str(release)


def test_a_public_count_goes_through_a_ledger_of_replaced_records(tmp_path):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="replace_one")
    question = ask(np.linspace(3, 9, 1000), neighbors="replace_one", target=functional.Scales())
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=1)
    f = functional.function(ny.release(question, noise, ledger, entry="arrivals"))
    assert (f.count, f.count_sd) == (1000, 0)
    assert f.integral(3, 9) > 0.5
    with pytest.raises(RelationMismatch):
        ny.release(ask([1.0]), noise, ledger, entry="other")


def test_no_data_are_read_before_the_charge(monkeypatch):
    read = []
    monkeypatch.setattr(Nodes, "index", lambda *_: read.append(1))
    ask([1.0, 2.0])
    assert not read


def test_values_never_decide_whether_there_is_an_error():
    for values in ([], [np.nan], [np.inf, -np.inf], [1e308] * 3):
        for domain in (DECLARED["domain"], Interval(0, 1, outside="drop"), Circle(3)):
            question = ask(np.array(values, dtype=float), domain=domain, bandwidth=0.1)
            assert question.compute().shape == (question.size,)


def test_order_and_shape_and_type_of_the_values_do_not_matter():
    values = np.random.default_rng(1).integers(0, 24, 1000)

    def computed(array):
        return functional.density(array, **DECLARED).compute()

    integers = computed(values)
    assert (computed(values[::-1]) == integers).all()
    assert (computed(values.reshape(-1, 1).astype(np.float32)) == integers).all()
    assert (computed(values.astype(np.uint8)) == integers).all()
    assert (computed(np.repeat(values, 2)[::2]) == integers).all()
    assert (computed(values + 1) != integers).any()


def test_an_array_of_rows_is_refused_for_a_row_may_be_one_units():
    values = np.zeros((10, 2))
    with pytest.raises(InvalidParameter, match="one value a record") as refused:
        ask(values)
    assert "10" not in str(refused.value)


def test_many_pieces_add_up():
    values = np.random.default_rng(1).uniform(0, 24, 200_001)
    parts = [ask(part).compute() for part in np.array_split(values, 3)]
    assert (ask(values).compute() == np.sum(parts, axis=0)).all()


def test_the_record_says_all_that_is_public_and_the_repr_no_more():
    question = ask([1.23456789])
    assert question.query["records"] is None
    assert ask([1.0], neighbors="replace_one").query["records"] == 1
    assert "1.2345" not in repr(question) + str(question.query)
    assert question.sensitivity.neighbors == "add_remove"


def test_gaussian_noise_only():
    with pytest.raises(SensitivityMismatch):
        ny.Laplace(scale=1).tradeoff(ask([1.0]).sensitivity)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"bandwidth": 0}, "bandwidth must be.*got 0"),
        ({"bandwidth": 0.001}, "bandwidth must be in"),
        ({"bandwidth": 3}, "bandwidth must be in"),
        ({"bandwidth": float("nan")}, "must be finite; got nan"),
        ({"bandwidth": "wide"}, "must be an int, a float, a Fraction or a Decimal; got 'wide'"),
        ({"neighbors": "both"}, "neighbouring relation"),
        ({"values": [], "neighbors": "replace_one"}, "replace_one"),
    ],
)
def test_a_wrong_declaration_is_refused(changed, says):
    with pytest.raises(InvalidParameter, match=says):
        ask(**({"values": [1.0]} | changed))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Interval(1, 1, outside="clip"),
        lambda: Interval(2, 1, outside="clip"),
        lambda: Interval(0, float("inf"), outside="clip"),
        lambda: Interval(10**9, 10**9 + 1, outside="clip"),
        lambda: Interval(0, 1, outside="refuse"),
        lambda: Circle(0),
        lambda: Circle(-24),
        Weights,
        lambda: Weights(1, 0),
        lambda: Weights(1, 10**7),
        lambda: functional.pilot_bandwidth(DECLARED["domain"], 0),
        lambda: functional.pilot_bandwidth(DECLARED["domain"], 1.5),
    ],
)
def test_a_degenerate_declaration_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.shows("e2.7")
@pytest.mark.parametrize("records", [1, 10, 300, 10**6, 10**12])
@pytest.mark.parametrize("domain", [DECLARED["domain"], Circle(0.001)])
def test_the_pilot_is_a_bandwidth_of_the_domain(records, domain):
    bandwidth = functional.pilot_bandwidth(domain, records)
    assert ask([1.0], domain=domain, bandwidth=bandwidth).size > 0


@pytest.mark.parametrize("records", [1, 300, 9_999, 10**6, 10**12])
@pytest.mark.parametrize(
    "domain", [DECLARED["domain"], Interval(-60, 181, outside="drop"), Circle(0.001)]
)
def test_few_records_on_a_line_are_half_the_pilot_with_the_noise_shared_by_wider_readings(
    records, domain
):
    found = ask([1.0], domain=domain, bandwidth=None, records=records)
    half = functional.pilot_bandwidth(domain, records) / 2
    least = Fraction(f"{float(domain.length / 1000):.3g}")
    asked = {"domain": domain, "bandwidth": max(half, least)}
    assert (half < least) == (records == 10**12)
    if records < 10_000:
        assert found.query == ask([1.0], **asked, target=functional.Scales()).query
    chosen = ask([1.0], domain=domain, bandwidth=None, records=records, target=Cumulative())
    assert chosen.query == ask([1.0], **asked, target=Cumulative()).query


@pytest.mark.parametrize("domain", [Interval(-60, 181, outside="count"), Circle(0.001)])
@pytest.mark.parametrize("records", [10_000, 10**12])
def test_many_records_on_a_line_start_far_below_what_any_fitting_domain_needs(records, domain):
    found = ask([1.0], domain=domain, bandwidth=None, records=records)
    asked = {"domain": domain, "bandwidth": domain.length / 4000, "target": functional.Octaves(9)}
    assert found.query == ask([1.0], **asked).query


def test_records_of_a_box_are_its_pilots():
    box = functional.Box(DECLARED["domain"], Circle(3))
    pilots = functional.pilot_bandwidth(box, 500)
    found = ask([[1.0, 2.0]], domain=box, bandwidth=None, records=500)
    assert found.query == ask([[1.0, 2.0]], domain=box, bandwidth=pilots).query
    assert found.query["basis"]["target"] == functional.Scales().record()


def basis(values, domain, records):
    declared = DECLARED | {"domain": domain, "bandwidth": None}
    return functional.density(np.asarray(values), **declared, records=records).query["basis"]


def test_of_whole_numbers_nothing_finer_than_a_step_is_chosen():
    """Told by the type: the same values as doubles start below it."""
    minutes, long = Interval(-60, 180, outside="clip"), Interval(0, 10**5, outside="clip")
    short = Interval(0, 5, outside="clip")
    odd = Interval(0, 7.777, outside="clip")
    tenths = ((short, Fraction(1, 2)), (odd, odd.length / 10))
    for domain, expected in ((minutes, 1), *tenths):
        whole = basis([1, 2], domain, 300_000)
        assert whole == ask([1], domain=domain, bandwidth=expected, target=SCALES).query["basis"]
        assert whole != basis([1.0, 2.0], domain, 300_000)
    assert basis([1, 2], long, 300_000) == basis([1.0, 2.0], long, 300_000)
    box = functional.Box(minutes, Circle(0.5))
    pilots = functional.pilot_bandwidth(box, 10**8)
    assert pilots[0] > 1 > pilots[1] * 10
    assert (
        basis([[1, 2]], box, 10**8)
        == ask([[1, 2]], domain=box, bandwidth=(pilots[0], Fraction(1, 20))).query["basis"]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bandwidth": None}, "must have one of bandwidth= and records=; got neither"),
        ({"bandwidth": 1, "records": 300}, "must have one of bandwidth= and records=; got both"),
        ({"bandwidth": None, "records": 0}, "records must be a whole number.*got 0"),
        ({"bandwidth": None, "records": 1.5}, "records must be a whole number.*got 1.5"),
        ({"bandwidth": None, "records": "many"}, "records"),
    ],
)
def test_one_of_bandwidth_and_records_is_given(given, said):
    with pytest.raises(InvalidParameter, match=said):
        ask([1.0], **given)


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a"]),
        np.array([1j]),
        np.array([None, 1.0]),
        np.zeros(2, np.longdouble),
        np.ma.array([1.0, 2.0], mask=[True, False]),
        [1.0, 2.0],
    ],
)
def test_what_is_no_array_of_real_numbers_is_refused_by_its_type(values):
    with pytest.raises(InvalidParameter, match=r"(?s)must .*got "):
        functional.density(values, **DECLARED)


def test_a_missing_neighbour_and_a_record_apart_cost_what_they_should():
    one, other = ask([1.0, 5.0]).compute(), ask([1.0]).compute()
    moved = (one - other).astype(float)
    squared = float(ask([]).sensitivity.l2_squared)
    assert 0.999999 * squared <= moved @ moved <= squared
