"""What every law is asked of: curves in closed form, all couples of which are quick enough."""

import pytest

from laws.examples import CLOSED, EXAMPLES, LEAF, covering, has_law

CURVES = [curve for examples in CLOSED.values() for curve in examples]
CERTIFIED = [curve for curve in CURVES if curve.certified]
PAIRS = list(dict.fromkeys(pair for f in CURVES for pair in (f.remove, f.add)))


ALL = [curve for examples in EXAMPLES.values() for curve in examples]
LAWFUL = list(filter(has_law, dict.fromkeys(pair for f in ALL for pair in (f.remove, f.add))))


@pytest.fixture
def leaf():
    return LEAF


@pytest.fixture(params=CERTIFIED, ids=str)
def certified(request):
    return request.param


@pytest.fixture(params=CURVES, ids=str)
def curve(request):
    return request.param


@pytest.fixture(params=PAIRS, ids=str)
def pair(request):
    return request.param


@pytest.fixture(params=LAWFUL, ids=str)
def lawful(request):
    """Pairs of every kind that know the law of their loss."""
    return request.param


@pytest.fixture(scope="session")
def everything():
    return CURVES


@pytest.fixture(scope="session")
def couples():
    """Couples for a law that evaluates two curves together; the soak has all of them."""
    return covering(CURVES)
