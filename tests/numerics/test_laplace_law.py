"""The law of Laplace's loss, and compositions that hold atoms, against 30 digits."""

import itertools

import mpmath as mp
import numpy as np
import pytest

from frozen import frozen
from neyman.numerics import (
    DELTA,
    P_ABOVE,
    Q_ABOVE,
    Array,
    AtomicLaw,
    ContourTails,
    LossSum,
    Span,
    WeightedLosses,
)
from neyman.numerics._inversion._steady import SteadyRest, line_without, steady_part
from neyman.numerics._laws._laplace_law import LaplaceDensity, LaplaceLaw

LAWS = (
    LaplaceLaw(0.1),
    LaplaceLaw(1.0),
    LaplaceLaw(7.0),
    LaplaceLaw(1.0, 0.01),
    LaplaceLaw(0.5, 0.5),
)


@pytest.fixture(autouse=True)
def _digits() -> None:
    mp.mp.dps = 30


@frozen
def moment(epsilon: float, probability: float, s: mp.mpc) -> mp.mpc:
    """e^K(s) by quadrature over the base's loss."""
    b, q = mp.mpf(epsilon), mp.mpf(probability)

    def tilted(base: mp.mpf) -> mp.mpc:
        return mp.exp(s * mp.log(1 - q + q * mp.exp(base)))

    atoms = (tilted(-b) + mp.exp(-b) * tilted(b)) / 2
    waves = 1 + int(abs(mp.im(s)) * min(b, 4 * b * q) / 8)
    return atoms + mp.quad(
        lambda base: tilted(base) * mp.exp(-(base + b) / 2) / 4, mp.linspace(-b, b, waves + 1)
    )


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("c", [-3.0, 0.3, 1.5, 12.0])
def test_the_cumulant_is_within_its_error(law: LaplaceLaw, c: float) -> None:
    """On both sides of the height from which the formula is used."""
    far = law.density.far
    u = np.arange(1400) * (0.001 * min(far, 300 / law.epsilon))
    nodes = law.prepared(Span(c - 0.5, c + 0.5, float(u[-1])))
    value, error = nodes.line(c, u)
    real = nodes.real(np.asarray([c]))
    some = [0, 1, 400, 990, 1010]
    for s, k, wrong in zip(c + 1j * u[some], value[some], error[some], strict=True):
        truth = moment(law.epsilon, law.probability, mp.mpc(s))
        # Branches of the logarithm differ by whole turns.
        assert abs(mp.expm1(mp.mpc(k) - mp.log(truth))) <= mp.expm1(wrong)
        assert wrong < 1e-9
    assert (
        abs(real.value[0] - mp.log(moment(law.epsilon, law.probability, mp.mpc(c))))
        <= real.error[0]
    )
    size = abs(c * (c - 1)) * min(law.epsilon, law.probability * 3) ** 2
    assert real.error[0] <= 1e-11 * size


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("c", [-2.0, 1.5, 9.0])
def test_the_decay_is_never_below_the_transform(law: LaplaceLaw, c: float) -> None:
    """Nor the total variation of the density below u times its transform."""
    u = np.linspace(0, 30, 997) / law.epsilon / law.probability
    nodes = law.prepared(Span(c, c, float(u[-1])))
    (value, error), (share, wrong) = ([one[1:] for one in disc] for disc in nodes.parted(c, u))
    u = u[1:]
    size = value.real - nodes.real(np.asarray([c])).value
    bound = nodes.decay(c, u, 1.0)
    assert np.all(np.diff(bound) <= 1e-12)
    assert np.all(size - error <= bound)
    _, variation = nodes.shares(c)
    assert np.all(np.abs(share) * np.exp(size) - wrong <= variation / u)
    # It is no idle bound.
    assert np.max(np.abs(share) * np.exp(size) * u) > 0.2 * variation


@pytest.mark.parametrize("density", [LaplaceDensity(1.0, 1.0), LaplaceDensity(1.0, 0.1)])
def test_what_the_density_has_above(density: LaplaceDensity) -> None:
    """Masses and excess of both directions, by quadrature."""
    b, q = mp.mpf(density.bound), mp.mpf(density.probability)
    x = np.asarray([-2.0, -0.05, -0.01, 0.0, 0.04, 0.1, 0.5, 2.0])
    for one, sign in ((density, 1), (density.reversed(), -1)):
        above = one.above(x)
        for i, at in enumerate(map(mp.mpf, x.tolist())):
            y = (mp.exp(sign * at) - 1 + q) / q
            edge = min(max(mp.log(y), -b), b) if y > 0 else -b
            ends = (edge, b) if sign > 0 else (-b, edge)

            def part(base: mp.mpf, sign: int = sign) -> tuple[mp.mpf, mp.mpf]:
                ratio = 1 - q + q * mp.exp(base)
                mass = mp.exp(-(base + b) / 2) / 4
                return (mass, mass * ratio) if sign > 0 else (mass * ratio, mass)

            p = mp.quad(lambda v, part=part: part(v)[0], ends)
            other = mp.quad(lambda v, part=part: part(v)[1], ends)
            for found, truth in zip(
                (above.p[i], above.q[i], above.excess[i]),
                (p, other, other - mp.exp(at) * p),
                strict=True,
            ):
                assert abs(found - truth) <= 16 * 2.0**-50 * abs(truth) + mp.mpf(10) ** -25


def boxes(knots: list[mp.mpf], x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """P and Q above x of densities e^(-(l + b)/2)/4 on [-b, b] together."""
    k = len(knots)
    if not k:
        return mp.mpf(x < 0), mp.mpf(x < 0)
    signs = list(itertools.product((1, -1), repeat=k))
    kinks = sorted({sum(s * b for s, b in zip(way, knots, strict=True)) for way in signs})
    if x >= kinks[-1]:
        return mp.mpf(0), mp.mpf(0)

    def spline(at: mp.mpf) -> mp.mpf:
        total = mp.mpf(0)
        for way in signs:
            gap = at + sum(s * b for s, b in zip(way, knots, strict=True))
            total += mp.fprod(way) * max(gap, 0) ** (k - 1) if gap > 0 else 0
        return total / mp.factorial(k - 1)

    start = max(x, kinks[0])
    ends = [start, *(kink for kink in kinks if kink > start)]
    scale = mp.fprod(mp.exp(-b / 2) / 4 for b in knots)
    return tuple(
        scale * mp.quad(lambda at, r=rate: spline(at) * mp.exp(r * at), ends)
        for rate in (-mp.mpf(1) / 2, mp.mpf(1) / 2)
    )


@frozen
def above(law: str, bounds: list[float], t: float) -> mp.mpf:
    """P(L > t) or Q(L > t) of Laplace losses together."""
    total = mp.mpf(0)
    for choice in itertools.product((-1, 0, 1), repeat=len(bounds)):
        place, mass, knots = mp.mpf(0), mp.mpf(1), []
        for way, b in zip(choice, map(mp.mpf, bounds), strict=True):
            if way:
                place += way * b
                mass *= mp.exp(-b if way > 0 else 0) / 2
            else:
                knots.append(b)
        p, q = boxes(knots, mp.mpf(t) - place)
        total += mass * p if law == "p" else mass * mp.exp(place) * q
    return total


def composed(bounds: list[float], t: float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """P(L > t), Q(L > t) and delta(t)."""
    p, q = above("p", bounds, t), above("q", bounds, t)
    return p, q, q - mp.exp(mp.mpf(t)) * p


def check(law: LossSum, t: float, truth: tuple[mp.mpf, mp.mpf, mp.mpf], width: float) -> None:
    at = np.asarray([t])
    for functional, value in zip((P_ABOVE, Q_ABOVE, DELTA), truth, strict=True):
        found = ContourTails(law, functional).log_tail(at)
        assert found.lower[0] <= mp.log(value) <= found.upper[0]
        assert found.upper[0] - found.lower[0] <= width


@pytest.mark.parametrize(
    ("bounds", "t"),
    [
        ([1.0, 1.0], 0.7),
        ([1.0, 1.0], 1.99),
        ([1.0, 0.5], 0.3),
        ([0.5, 0.5, 0.5], 0.8),
        ([0.5, 0.5, 0.5], 1.49),
        ([1.0, 0.5, 0.25], 0.8),
        ([2.0**-10] * 3, 1.5e-3),
        ([2.0**-20] * 3, 1.5 * 2.0**-20),
        ([3.0, 3.0, 3.0], 4.0),
    ],
)
def test_few_laplace_losses(bounds: list[float], t: float) -> None:
    """Two are closed forms; of three, the three densities are inverted."""
    law = LossSum(tuple((LaplaceLaw(b), 1.0, False) for b in bounds))
    check(law, t, composed(bounds, t), 1e-8)
    check(law.reversed(), t, composed(bounds, t), 1e-8)


def test_copies_are_binomial() -> None:
    """As the same law written three times."""
    law = LossSum.of(LaplaceLaw(0.5)).times(3)
    check(law, 0.8, composed([0.5] * 3, 0.8), 1e-9)


def test_laplace_with_a_coin_that_does_not_decay_either() -> None:
    """The atoms of both, and the density once."""
    e = 0.5
    weight = np.exp(-np.logaddexp(0.0, np.asarray([e, -e])))
    coin = AtomicLaw(WeightedLosses.of(np.log(weight), np.expm1(np.asarray([e, -e]))))
    law = LossSum(((LaplaceLaw(1.0), 1.0, False), (coin, 1.0, False)))
    low = 1 / (1 + mp.exp(mp.mpf(e)))
    p = q = mp.mpf(0)
    for loss, mass in ((mp.mpf(e), low), (-mp.mpf(e), 1 - low)):
        one = composed([1.0], 0.3 - loss)
        p, q = p + mass * one[0], q + mass * mp.exp(loss) * one[1]
    check(law, 0.3, (p, q, q - mp.exp(mp.mpf(0.3)) * p), 1e-10)


@pytest.mark.parametrize("back", [False, True])
def test_two_sampled_laplace_losses(back: bool) -> None:
    """By quadrature over one of them; one density is in closed form, two are inverted."""
    b, q, t = mp.mpf(1), mp.mpf("0.125"), mp.mpf("0.04")
    density = LaplaceDensity(1.0, 0.125)
    mp.mp.dps = 20

    def single(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        """P and Q of one loss above x, in exact arithmetic of the base's."""
        y = mp.log((mp.exp(x) - 1 + q) / q) if mp.exp(x) > 1 - q else -2 * b
        if y < -b:
            return mp.mpf(1), mp.mpf(1)
        if y >= b:
            return mp.mpf(0), mp.mpf(0)
        p, base = mp.exp(-(b + y) / 2) / 2, 1 - mp.exp((y - b) / 2) / 2
        return p, (1 - q) * p + q * base

    def both(x: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        if not back:
            return single(x)
        # The reversed loss is above x where the loss is below -x.
        p, other = single(-x)
        return 1 - other, 1 - p

    def loss(base: mp.mpf) -> mp.mpf:
        return mp.log(1 - q + q * mp.exp(base)) * (-1 if back else 1)

    def mass(base: mp.mpf) -> mp.mpf:
        plain = mp.exp(-(base + b) / 2) / 4
        return plain * (1 - q + q * mp.exp(base)) if back else plain

    places = [
        (loss(at), m * (mp.exp(-loss(at)) if back else 1))
        for at, m in ((-b, mp.mpf(1) / 2), (b, mp.exp(-b) / 2))
    ]
    # Kinks of the inner tail, where t - L(base) is an end of the range.
    kinks = [-b, b]
    for end, _ in places:
        ratio = mp.exp((t - end) * (-1 if back else 1))
        if ratio > 1 - q:
            kinks.append(min(max(mp.log((ratio - 1 + q) / q), -b), b))
    kinks = sorted(set(kinks))
    p = sum(m * both(t - at)[0] for at, m in places)
    other = sum(m * mp.exp(at) * both(t - at)[1] for at, m in places)
    p += mp.quad(lambda v: mass(v) * both(t - loss(v))[0], kinks)
    other += mp.quad(lambda v: mass(v) * mp.exp(loss(v)) * both(t - loss(v))[1], kinks)
    law = LossSum.of(LaplaceLaw(1.0, density.probability)).times(2)
    truth = (p, other, other - mp.exp(t) * p)
    check(law.reversed() if back else law, float(t), truth, 1e-5)
    delta = ContourTails(law.reversed() if back else law, DELTA).log_tail(np.asarray([float(t)]))
    assert delta.upper[0] - delta.lower[0] < 1e-7


@pytest.mark.parametrize(
    ("epsilon", "count", "probability", "truth"),
    [
        (0.1, 100, 1.0, "4.692667414680189291034399"),
        (0.01, 10_000, 1.0, "4.876257579400639780310743"),
        (1.0, 1000, 0.01, "1.286407399769447976719831"),
    ],
)
def test_epsilon_of_many(epsilon: float, count: int, probability: float, truth: str) -> None:
    """At delta 1e-6, to ten digits."""
    law = LossSum.of(LaplaceLaw(epsilon, probability)).times(count)
    found = ContourTails(law, DELTA).threshold(np.log(np.asarray([1e-6])))
    assert found.lower[0] <= mp.mpf(truth) <= found.upper[0]
    assert found.upper[0] - found.lower[0] < 1e-9 * found.upper[0]


@pytest.mark.parametrize(
    "terms",
    [
        ((LaplaceLaw(1.0), 4.0),),
        ((LaplaceLaw(0.5), 3.0), (LaplaceLaw(1.0), 2.0)),
        ((LaplaceLaw(1.0, 0.1), 6.0),),
    ],
)
def test_what_remains_is_below_its_bound(terms: tuple[tuple[LaplaceLaw, float], ...]) -> None:
    """And falls like a power, where the whole does not fall."""
    law = LossSum(tuple((one, count, False) for one, count in terms))
    c, u = 3.0, np.linspace(0, 4000, 8001)
    nodes = law.prepared(Span(c, c, float(u[-1])))
    part = steady_part(nodes, c)
    assert part is not None
    line, removed = line_without(nodes, c, u)
    assert removed is not None
    whole = np.exp(line.value - line.value[0].real)
    remains = np.abs(whole - removed.line.value)
    bound = np.exp(SteadyRest(part, nodes).decay(c, u[1:], 1.0))
    assert np.all(remains[1:] <= bound + removed.line.error[1:])
    assert np.max(np.abs(whole)[-400:]) > 100 * np.max(remains[-400:])


def test_a_law_beyond_its_range() -> None:
    """No loss is above the largest."""
    law = LossSum.of(LaplaceLaw(1.0)).times(2)
    found: Array = ContourTails(law, DELTA).log_tail(np.asarray([2.5])).upper
    assert np.isneginf(found[0])
