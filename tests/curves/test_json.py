"""Records are rebuilt exactly; anything else is refused, quickly, and with one kind of error."""

import copy
import json
import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman.curves import Pair, TradeOff, approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter

SIZES = st.fractions(min_value=Fraction(1, 10**9), max_value=600, max_denominator=10**12)
SHARES = st.fractions(min_value=Fraction(1, 10**12), max_value=1, max_denominator=10**15)
CORES = st.one_of(
    st.builds(identity),
    st.builds(gdp, SIZES),
    st.builds(lambda square: gdp(squared=square), SIZES),
    st.builds(laplace, SIZES),
    st.builds(pure_dp, SIZES),
)
FAILURES = st.builds(lambda d, n: approx_dp(0, d) ** n, SHARES, st.integers(0, 10**6))
GUARANTEES = st.one_of(
    CORES,
    st.builds(lambda f, g, h: f @ g @ h, CORES, FAILURES, FAILURES),
    st.builds(lambda f, g: TradeOff(f.remove, g.add), CORES, CORES),
)
GAUSSIAN = gdp(1).to_json()
ERASED = (gdp(1) @ approx_dp(0, 0.1) ** 2).to_json()


@given(GUARANTEES)
def test_round_trip_through_text(curve):
    record = json.loads(json.dumps(curve.to_json(), allow_nan=False))
    again = TradeOff.from_json(record)
    assert again == curve
    assert hash(again) == hash(curve)
    assert again.to_json() == record


@pytest.mark.shows("any-curve")
def test_the_record_is_exact():
    assert gdp(0.1).to_json()["remove"] == {"kind": "gaussian", "mu_squared": "1/100"}
    assert gdp(0.1).to_json()["version"] == 1


def replaced(record, path, value):
    """Return a copy with the value at `path` replaced, or left out if it is `...`."""
    record = copy.deepcopy(record)
    at = record
    for step in path[:-1]:
        at = at[step]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return record


def test_one_way_leaves_are_kept_with_their_direction():
    @dataclass(frozen=True, slots=True)
    class OneWay(Pair):
        kind: ClassVar[str] = "tests.one_way"

        def parameters(self):
            return {}

        def log_tails(self, t, *, closed=False):
            return gdp(1).remove.log_tails(t, closed=closed)

        def cumulant(self, s):
            return gdp(1).remove.cumulant(s)

    leaf = OneWay()
    for f in (TradeOff(leaf, leaf.swap()), TradeOff(leaf, leaf) @ approx_dp(0, 0.1)):
        assert TradeOff.from_json(f.to_json()) == f
        assert TradeOff.from_json(f.swap().to_json()) == f.swap()
        assert f.swap() != f
    twice = {"kind": "swapped", "pair": leaf.swap().parameters()}
    with pytest.raises(InvalidParameter):
        TradeOff.from_json(
            replaced(gdp(1).to_json(), ["remove"], {"kind": "swapped", "pair": twice})
        )


NESTED = {"kind": "gaussian", "mu_squared": "1"}
for _ in range(100_000):
    NESTED = {"kind": "erased", "core": NESTED, "failures": [["1/10", 1]]}
SWAPPED = {"kind": "gaussian", "mu_squared": "1"}
for _ in range(100_000):
    SWAPPED = {"kind": "swapped", "pair": SWAPPED}
WRONG_NUMBERS = [
    "1e999999999",
    "1e-999999999",
    "1E9999",
    "1" * 10_000_000,
    "1/" + "3" * 5000,
    "2/4",
    "01",
    "+1",
    " 1",
    "1_0",
    "0.5",
    "１",
    "-1",
    "0",
    "0/1",
    "1/0",
    "nan",
    "inf",
    "",
    "1/2/3",
    1,
    1.0,
    10**5000,
    True,
    None,
    [],
    ["1"],
    {},
    math.nan,
    "1" + "0" * 400,
    "1/1" + "0" * 400,
]
MALFORMED = [
    *(replaced(GAUSSIAN, ["remove", "mu_squared"], value) for value in WRONG_NUMBERS),
    *(
        replaced(laplace(1).to_json(), ["add", "epsilon"], value)
        for value in [*WRONG_NUMBERS, "701"]
    ),
    *(replaced(pure_dp(1).to_json(), ["add", "epsilon"], value) for value in ["701", 1, "1e5"]),
    *(
        replaced(ERASED, ["remove", "failures", 0, 0], value)
        for value in [*WRONG_NUMBERS, "3/2", "2"]
    ),
    *(
        replaced(ERASED, ["remove", "failures", 0, 1], value)
        for value in [0, -1, 1.0, 1.5, True, "1", None, 10**400, [1], math.inf]
    ),
    *(
        replaced(ERASED, ["remove", "failures"], value)
        for value in [[], ..., None, "11", {"11": 1}, [["1/10"]], [["1/10", 1, 1]], [[]], 3]
    ),
    replaced(ERASED, ["remove", "failures"], [["1/2", 1], ["1/10", 1]]),
    replaced(ERASED, ["remove", "failures"], [["1/10", 1], ["1/10", 1]]),
    *(replaced(ERASED, ["remove", "core"], value) for value in [..., None, [], "gaussian", NESTED]),
    *(
        replaced(GAUSSIAN, ["remove"], value)
        for value in [..., None, [], "gaussian", {}, 3, NESTED, SWAPPED]
    ),
    *(
        replaced(GAUSSIAN, ["remove", "kind"], value)
        for value in [..., None, "normal", [], "identity", "erased", "swapped", 3, "__class__"]
    ),
    replaced(GAUSSIAN, ["remove", "extra"], 1),
    replaced(GAUSSIAN, ["remove"], {"kind": "swapped", "pair": GAUSSIAN["remove"]}),
    *(replaced(GAUSSIAN, ["version"], value) for value in [..., 0, 2, "1", None, True, 1.0, [1]]),
    *(replaced(GAUSSIAN, ["format"], value) for value in [..., "neyman", None, 1, []]),
    None,
    [],
    "record",
    3,
    {},
    [GAUSSIAN],
]


@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_malformed_records_are_refused_at_once(number):
    started = time.process_time()
    with pytest.raises(InvalidParameter) as caught:
        TradeOff.from_json(MALFORMED[number])
    assert len(str(caught.value)) < 400
    # Of its own work, whatever else runs; an eager reader takes minutes and gigabytes.
    assert time.process_time() - started < 20


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
WORDS = st.sampled_from(["kind", "core", "pair", "failures", "epsilon", "mu_squared", "remove"])
KINDS = st.sampled_from(["erased", "swapped", "gaussian", "laplace", "identity", "x"])
PAIRS = st.recursive(
    st.dictionaries(WORDS, JSON | KINDS),
    lambda inner: st.dictionaries(WORDS, inner | KINDS | JSON),
    max_leaves=6,
)


def only_refusals(remove, add):
    record = {"format": "neyman.tradeoff", "version": 1, "remove": remove, "add": add}
    try:
        curve = TradeOff.from_json(record)
    except InvalidParameter:
        return
    assert curve.to_json() == record


@settings(max_examples=25)
@given(PAIRS, PAIRS | JSON)
def test_only_refusals_come_out_of_noise(remove, add):
    only_refusals(remove, add)


@pytest.mark.soak
@settings(max_examples=5000)
@given(PAIRS, PAIRS | JSON)
def test_only_refusals_come_out_of_much_noise(remove, add):
    only_refusals(remove, add)
