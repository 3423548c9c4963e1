"""Every kind of pair in the library has examples, and these keep the laws of one curve.

Coarse grids: many kinds are read by a search. Closed forms keep the same laws on fine ones.
"""

import functools

import numpy as np
import pytest

from laws.examples import EXAMPLES, SEARCHED, kinds
from neyman.curves import TradeOff, identity
from neyman.errors import InvalidParameter

ALPHA = np.array([0.0, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.8, 0.99, 1.0])
EPSILON = np.array([-2.0, -0.5, 0.0, 0.3, 1.0, 2.5])
ORDERS = np.array([0.5, 1.0, 2.0, 8.0])
# What a search over orders may miss, which costs tightness and not validity.
SLACK = 1e-5


CURVES = [curve for examples in SEARCHED.values() for curve in examples]
AT = {"beta": ALPHA, "delta": EPSILON, "renyi": ORDERS}


@pytest.fixture(params=CURVES, ids=str)
def searched(request):
    return request.param


PAIRS = list(dict.fromkeys(pair for f in CURVES for pair in (f.remove, f.add)))
# One size of test takes longer than all the rest here: it is sought in an integrated profile.
SLOW = ("allocation", "allocation_swap")


@pytest.fixture(params=PAIRS, ids=str)
def one_way(request):
    return request.param


@pytest.fixture(params=[pair for pair in PAIRS if pair.kind not in SLOW], ids=str)
def with_errors(request):
    return request.param


@functools.cache
def sides(pair, view):
    """Return both ends of the bracket; of an estimate its value twice."""
    ask, at = getattr(pair, view), AT[view]
    return tuple(ask(at, bracket=True)) if pair.certified else (ask(at),) * 2


def test_every_kind_has_examples():
    shown = {pair.kind for found in EXAMPLES.values() for f in found for pair in (f.remove, f.add)}
    assert set(kinds()) - shown == set(), "give examples of them in tests/laws/examples.py"
    assert {kind: [f.remove.kind for f in found] for kind, found in EXAMPLES.items()} == {
        kind: [kind] * len(found) for kind, found in EXAMPLES.items()
    }


def test_a_kind_without_examples_is_found(monkeypatch):
    monkeypatch.delitem(EXAMPLES, "clones")
    with pytest.raises(AssertionError, match="clones"):
        test_every_kind_has_examples()


def test_errors_fall_are_convex_and_below_the_diagonal(with_errors):
    lower, upper = sides(with_errors, "beta")
    assert np.all((lower >= 0) & (lower <= upper))
    assert np.all(upper <= 1 - ALPHA + SLACK)
    assert np.all(lower[1:] <= upper[:-1] + SLACK)
    share = (ALPHA[2:] - ALPHA[1:-1]) / (ALPHA[2:] - ALPHA[:-2])
    assert np.all(lower[1:-1] <= share * upper[:-2] + (1 - share) * upper[2:] + SLACK)


def test_profiles_fall(one_way):
    lower, upper = sides(one_way, "delta")
    assert np.all(lower <= upper)
    assert np.all(lower[1:] <= upper[:-1])


def test_no_point_of_the_errors_is_below_a_line_of_the_profile(with_errors):
    (_, delta), (_, beta) = sides(with_errors, "delta"), sides(with_errors, "beta")
    lines = 1 - delta[:, None] - np.exp(EPSILON)[:, None] * ALPHA
    assert np.all(lines <= beta + SLACK)


def test_epsilon_inverts_delta_on_every_kind(one_way):
    found = one_way.epsilon(1e-3)
    assert not np.isfinite(found) or one_way.delta(found) <= 1e-3 * (1 + SLACK)


def test_divergences_grow_with_the_order_on_every_kind(one_way):
    lower, upper = sides(one_way, "renyi")
    assert np.all(lower[:-1] <= upper[1:] * (1 + 1e-9))


def test_the_algebra_holds_on_every_kind(searched):
    assert searched.swap().swap() == searched
    # Compositions are ordered by the records of their parts, and a function has none.
    if searched.remove.kind != "density":
        assert searched @ identity() == identity() @ searched == searched == searched**1
        assert searched**0 == identity()


def test_records_are_read_back(searched):
    # A function is not written down; a witness is, for people, and no guarantee to be read back.
    if searched.remove.kind in ("lattice", "density"):
        with pytest.raises(InvalidParameter):
            TradeOff.from_json(searched.to_json())
    else:
        assert TradeOff.from_json(searched.to_json()) == searched
