"""Every operation of discs against ball arithmetic: the error holds, and is no more than stated."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from flint import acb, arb, ctx

from neyman.numerics import Interval
from neyman.numerics._disc import Disc, matrix_product

BITS, POINTS = 400, 300
PAGE = Path(__file__).parents[2] / "docs/theory/rounding.md"
UNIT = 2.0**-53


@pytest.fixture(autouse=True)
def _bits():
    before, ctx.prec = ctx.prec, BITS
    yield
    ctx.prec = before


def ball(z):
    z = complex(z)
    return acb(arb(z.real), arb(z.imag))


def plain(seed, low=-8.0, high=2.0):
    """Numbers of all sizes and directions, and some on the axes."""
    rng = np.random.default_rng(seed)
    z = 10 ** rng.uniform(low, high, POINTS) * np.exp(1j * rng.uniform(-np.pi, np.pi, POINTS))
    z[: POINTS // 10] = z[: POINTS // 10].real
    z[-POINTS // 10 :] = 1j * z[-POINTS // 10 :].imag
    return z


def beside(values, seed, share):
    """Discs whose errors are known, and a number in each, by its direction and distance."""
    rng = np.random.default_rng(seed)
    error = np.abs(values) * share * rng.random(values.shape)
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi, values.shape))
    inside = [
        ball(v) + ball(t) * arb(float(e)) * arb(0.999)
        for v, t, e in zip(np.ravel(values), np.ravel(turn), np.ravel(error), strict=True)
    ]
    return Disc(values, error), inside


def worst(found, truths):
    """The largest distance from the truth, as a share of the error."""
    shares = []
    value, error = (np.ravel(np.broadcast_to(part, found.value.shape)) for part in found)
    for v, e, truth in zip(value, error, truths, strict=True):
        off = abs(ball(v) - truth)
        assert off <= arb(float(e)), (v, e, truth)
        shares.append(float((off / arb(float(e))).mid()) if e > 0 else 0.0)
    return max(shares)


BINARY = {
    "+": (lambda a, b: a + b, 1),
    "-": (lambda a, b: a - b, 1),
    "*": (lambda a, b: a * b, 3),
    "/": (lambda a, b: a / b, 8),
}


@pytest.mark.parametrize("sign", BINARY)
def test_what_an_operation_rounds_is_within_what_is_stated(sign):
    operation, units = BINARY[sign]
    a, b = plain(1), plain(2)
    found = operation(Disc.exactly(a), Disc.exactly(b))
    assert np.all(found.error <= np.abs(found.value) * (units + 0.01) * UNIT + 1e-300)
    share = worst(found, map(operation, map(ball, a), map(ball, b)))
    print(f"{sign}: {share:.2f}")
    assert share <= 1


@pytest.mark.parametrize("sign", BINARY)
@pytest.mark.parametrize("share", [1e-12, 1e-3, 0.7])
def test_an_operation_holds_all_pairs_of_numbers_of_two_discs(sign, share):
    operation = BINARY[sign][0]
    (a, inner), (b, other) = beside(plain(3), 4, share), beside(plain(5), 6, share)
    truths = list(map(operation, inner, other))
    worst(operation(a, b), truths)
    worst(operation(a, b.value), map(operation, inner, map(ball, b.value)))
    worst(operation(a.value, b), map(operation, map(ball, a.value), other))
    real = np.abs(b.value)
    worst(operation(a, real), map(operation, inner, map(ball, real)))
    worst(operation(2.5 - 1j, b), (operation(acb(2.5, -1), z) for z in other))


FUNCTIONS = {
    "exp": (acb.exp, 8, 0, -8.0, 2.0),
    "expm1": (lambda z: z.exp() - 1, 16, 0, -12.0, 2.0),
    "expm1_minus": (lambda z: z.exp() - 1 - z, 32, 16, -12.0, 2.0),
    "sinh": (lambda z: (z.exp() - (-z).exp()) / 2, 8, 0, -12.0, 2.0),
    "log": (acb.log, 8, 4, -12.0, 12.0),
    "log1p": (lambda z: (1 + z).log(), 16, 0, -14.0, 12.0),
    "log1p_minus": (lambda z: (1 + z).log() - z, 32, 0, -14.0, 4.0),
}


def points_of(name, seed):
    """Places of all sizes, and beside those at which the function is 0 or has no value."""
    low, high = FUNCTIONS[name][3:]
    z = plain(seed, low, high)
    near = plain(seed + 1, -12.0, -0.5)
    turns = 2j * math.pi * np.random.default_rng(seed).integers(-3, 4, near.size)
    more = {"log": 1 + near, "log1p": -1 + near, "log1p_minus": -1 + near}.get(name, near + turns)
    circle = np.exp(1j * np.angle(near))
    return np.concatenate([z, more, circle - 1 if name != "log" else circle])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_within_its_stated_error(name):
    truth, units, absolute, *_ = FUNCTIONS[name]
    z = points_of(name, 7)
    z = z[np.abs(1 + z) > 1e-15]
    for places in (z, z.real[(z.imag == 0) & ((z.real > 0) | (name[:3] != "log"))]):
        found = getattr(Disc.exactly(places), name)()
        lost = absolute * (np.minimum(np.abs(places), 1) if name == "expm1_minus" else 1)
        lost = lost * (np.abs(places) if name == "expm1_minus" else 1)
        allowed = np.abs(found.value) * units + 10 * lost
        assert np.all(found.error <= allowed * UNIT * 1.01 + 1e-300)
        share = worst(found, map(truth, map(ball, places)))
        print(f"{name}: {share:.2f} of what is stated")
        assert share < 0.75


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("share", [1e-12, 1e-4, 0.3])
def test_a_function_holds_all_numbers_of_a_disc(name, share):
    truth, z = FUNCTIONS[name][0], points_of(name, 9)
    if name.startswith("log"):
        # Away from the cut, where there are two of them.
        z = z[((z if name == "log" else 1 + z).real > 0) & (z != 0)]
    disc, inner = beside(z, 10, share)
    known = getattr(disc, name)()
    told = np.isfinite(known.error)
    assert told.mean() > 0.5
    places = np.flatnonzero(told)
    worst(known.at(places), [truth(inner[i]) for i in places.tolist()])


def test_a_logarithm_of_a_disc_that_holds_0_is_unknown():
    lost = Disc(np.asarray([1e-3 + 0j, 1.0]), np.asarray([1.1e-3, 0.5]))
    assert lost.log().error.tolist()[0] == math.inf
    assert (lost - 1).log1p().error.tolist()[0] == math.inf
    assert lost.log().error[1] < 1.1
    assert (1 / lost).error.tolist()[0] == math.inf


@pytest.mark.parametrize("terms", [1, 5, 64, 129, 1000])
def test_sums_and_products_of_matrices_hold_the_exact_ones(terms):
    rng = np.random.default_rng(terms)
    # Beside 1, what is half a unit is lost in a sum that takes one after the other.
    unkind = np.full((3, terms), 0.9 * UNIT * (1 + 1j))
    unkind[:, 0] = 1
    kind = rng.normal(size=(3, terms)) + 1j * rng.normal(size=(3, terms))
    for a in (unkind, kind, kind.real):
        b = np.exp(2j * np.pi * rng.random((terms, 4))) if a is kind else np.ones((terms, 4))
        (first, exact), (second, other) = beside(a, 1, 1e-15), beside(b, 2, 1e-15)
        rows = [exact[i * terms : (i + 1) * terms] for i in range(3)]
        columns = [other[j::4] for j in range(4)]
        worst(first.sum(), [sum(row, acb(0)) for row in rows])
        truths = [
            sum((x * y for x, y in zip(row, column, strict=True)), acb(0))
            for row in rows
            for column in columns
        ]
        found = matrix_product(first, second)
        worst(found, truths)
        dots = [first.dot(Disc(second.value[:, j], second.error[:, j])) for j in range(4)]
        for j, dot in enumerate(dots):
            worst(dot, truths[j::4])
        worst(matrix_product(Disc.exactly(a), Disc.exactly(b)), [
            sum((ball(x) * ball(y) for x, y in zip(row, column, strict=True)), acb(0))
            for row in a
            for column in b.T
        ])  # fmt: skip


def test_products_and_quotients_that_underflow_are_held():
    tiny = np.asarray([1e-200 + 3e-170j, 1e-308 + 1e-300j, 5e-324])
    for found, truth in (
        (Disc.exactly(tiny) * tiny, [ball(z) * ball(z) for z in tiny]),
        (Disc.exactly(tiny) / 1e30, [ball(z) / arb(1e30) for z in tiny]),
        (Disc.exactly(tiny - 800).exp(), [ball(z - 800).exp() for z in tiny]),
    ):
        worst(found, truth)


def test_an_interval_and_its_disc_hold_the_same_numbers():
    wide = Interval(np.asarray([-1.0, 0.1, 5e-324]), np.asarray([2.0, 0.1, 1.0]))
    disc = Disc.over(wide)
    assert np.all(disc.lower <= wide.lower)
    assert np.all(wide.upper <= disc.upper)
    assert np.all(disc.upper - disc.lower <= (wide.upper - wide.lower) * (1 + 1e-12) + 1e-15)
    assert np.all(disc.size >= np.abs(wide.upper))
    assert np.all(disc.least <= np.abs(wide.lower))


def test_where_nothing_is_known_nothing_is_said():
    unknown = Disc(np.asarray([1.0 + 1j, np.nan, 1e308]), np.asarray([np.inf, 0.0, 0.0]))
    for found in (unknown + 1, unknown * 2e10, (unknown * 2e10).exp(), unknown / unknown):
        assert not np.any(np.isfinite(found.error[:2]))
    assert not np.isfinite((unknown * 1e10).error[2])


def test_the_page_states_the_errors_that_the_discs_state():
    rows = dict(re.findall(r"^\| `(\w+)`, complex \| (\d+)", PAGE.read_text("utf-8"), re.MULTILINE))
    assert {name: int(units) for name, units in rows.items()} == {
        name: row[1] for name, row in FUNCTIONS.items()
    }
