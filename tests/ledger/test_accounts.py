"""Accounts against the exact game: right ones state what every strategy loses; twins are caught.

docs/theory/accounts.md names the theorems.
"""

from fractions import Fraction
from itertools import pairwise
from random import Random

import mpmath as mp
import pytest

from ledger.game import NOTHING, Pair, composed, random_kernel, random_pair, worst
from neyman.accounting import Amount, budget_for
from neyman.curves import approx_dp, discrete, gdp, rdp

RATIOS = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(10)]


# -- a stock of declared steps ---------------------------------------------------------------------


def stock(members, variants=()):
    """What is declared is taken in any order, as it is or as something that it dominates."""

    def allowed(left):
        for place, count in enumerate(left):
            if count:
                rest = (*left[:place], count - 1, *left[place + 1 :])
                for pair in (members[place], *(v for p, v in variants if p == place)):
                    yield pair, rest

    return allowed


@pytest.mark.parametrize("seed", range(6))
def test_a_declared_stock_loses_its_composition_and_no_more(seed):
    random = Random(seed)
    members = [random_pair(random), random_pair(random)]
    variants = [(place, m.through(random_kernel(random, 3, 2))) for place, m in enumerate(members)]
    for counts in ((1, 1), (2, 1), (2, 2)):
        whole = composed(m for m, n in zip(members, counts, strict=True) for _ in range(n))
        for ratio in RATIOS:
            assert worst(counts, stock(members, variants), ratio) == whole.hockey_stick(ratio)


def test_what_is_not_dominated_is_caught():
    """The broken twin: a stock from which something less private is taken."""
    step = Pair((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)))
    stronger = Pair((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    assert worst((1,), stock([step], [(0, stronger)]), Fraction(1)) > step.hockey_stick(Fraction(1))


def test_a_refund_for_stopping_early_is_caught():
    """The broken twin: an account that charges the steps that were taken, not those reserved."""
    step = Pair(
        tuple(Fraction(part, 10) for part in (2, 6, 2)),
        tuple(Fraction(part, 10) for part in (1, 6, 3)),
    )
    ratio, third = Fraction(3, 2), 2
    one, two = step.hockey_stick(ratio), step.then(step).hockey_stick(ratio)
    assert (one, two) == (0, Fraction(3, 100))

    def again(told):
        """The second step is taken after the third outcome only; the first tells which it was."""
        return [(step, None)] if told == third else []

    # 1.3 steps on average, or 1.2 without the unit, and as much as of two.
    after = [
        q * worst(told, again, ratio * p / q)
        for told, (p, q) in enumerate(zip(step.p, step.q, strict=True))
    ]
    claimed = max(one + weight * (two - one) for weight in (step.p[third], step.q[third]))
    assert sum(after) == two > claimed
    # What was reserved is the truth.
    assert worst((2,), stock([step]), ratio) == two


# -- two numbers a release -------------------------------------------------------------------------

CAP = gdp(Fraction(3, 4)) @ approx_dp(0, 0.02)


def leaking(random):
    """Return a pair of which some mass betrays the unit, one way or the other."""
    inner, lost = random_pair(random, 3, 24), Fraction(random.randint(1, 4), 400)
    kept = 1 - lost
    return Pair(
        (*(kept * x for x in inner.p), lost, Fraction(0)),
        (*(kept * x for x in inner.q), Fraction(0), lost),
    )


def account(pairs, price, capacity):
    def allowed(spent):
        for pair, cost in zip(pairs, price, strict=True):
            after = Amount(*spent) + cost
            if after.fits(capacity):
                yield pair, (after.cost, after.delta)
                yield pair.swap(), (after.cost, after.delta)

    return allowed


def excesses(seed, charged=lambda amount: amount):
    """Return by how much strategies on one random account pass what it states, at each ratio."""
    random, budget = Random(seed), budget_for(CAP)
    pairs = [leaking(random), leaking(random), random_pair(random, 3, 40)]
    price = [charged(budget.cost(discrete(pair.p, pair.q))) for pair in pairs]
    game = account(pairs, price, budget.capacity)
    return [
        float(worst((Fraction(0), Fraction(0)), bounded(game, 3), ratio))
        - float(CAP.delta(float(mp.log(mp.mpf(ratio.numerator) / ratio.denominator))))
        for ratio in RATIOS
    ]


def bounded(allowed, most):
    """Cut a game after some releases, which only helps the account: any cut must be right."""

    def cut(state):
        spent, count = state if isinstance(state[1], int) else (state, 0)
        return ((pair, (then, count + 1)) for pair, then in allowed(spent)) if count < most else ()

    return cut


@pytest.mark.parametrize("seed", range(5))
def test_no_strategy_passes_a_cap_that_is_spent_in_two_numbers(seed):
    assert max(excesses(seed)) <= 1e-12


def test_forgotten_tails_are_caught():
    """The broken twin: mu is charged beside a tail, and the tail is not."""
    found = [max(excesses(seed, lambda amount: Amount(amount.cost / 4))) for seed in range(5)]
    assert max(found) > 1e-3


# -- filters that are false ------------------------------------------------------------------------


def rational(value):
    return Fraction(int(mp.nint(value * mp.mpf(10) ** 30)), 10**30)


def response(epsilon):
    up = rational(1 / (1 + mp.exp(-mp.mpf(epsilon))))
    return Pair((1 - up, up), (up, 1 - up))


def binned_gaussian(mu, losses):
    """Return G_mu seen through bins of its loss: it loses as much at each of their edges."""
    with mp.workdps(40):
        cuts = [mp.mpf(loss) / mu + mu / 2 for loss in losses]
        laws = [
            [mp.mpf(0), *(rational(mp.ncdf(cut - mean)) for cut in cuts), mp.mpf(1)]
            for mean in (0, mu)
        ]
    return Pair(
        *(
            tuple(Fraction(b) - Fraction(a) for a, b in pairwise(map(_fraction, law)))
            for law in laws
        )
    )


def _fraction(value):
    return value if isinstance(value, Fraction) else Fraction(int(value))


def path_filter(pairs, keeps):
    """Each pair at most once, as long as what was taken on this path keeps what it must."""

    def allowed(path):
        for place, pair in enumerate(pairs):
            if place not in path and keeps([*(pairs[k] for k in path), pair]):
                yield pair, (*path, place)

    return allowed


def test_the_natural_filter_is_caught():
    """Going on while the exact composition of what was taken keeps (1, 1e-5) gives 1.445e-5."""
    with mp.workdps(40):
        e, cap = rational(mp.e), Fraction(1, 10**5)
        # After each of the two answers, one of these fills the cap.
        gauss = binned_gaussian(mp.mpf("0.2531"), ["0.9", "1", "1.1"])
        fails = Pair((1 - cap, cap, Fraction(0)), (1 - cap, Fraction(0), cap))
        pairs = [response("0.1"), gauss, fails]

    def keeps(taken):
        both = composed(taken), composed(taken).swap()
        return all(pair.hockey_stick(e) <= cap * (1 + Fraction(1, 500)) for pair in both[:1])

    found = worst((), path_filter(pairs, keeps), e)
    assert float(found) == pytest.approx(1.445e-5, rel=2e-3)
    # The account of two numbers is charged for both branches, and refuses.
    assert not keeps(pairs)


def order_filter(pairs, limits, enough):
    """Go on while sums of Rényi divergences keep some, or all, of the limits, both ways."""

    def keeps(taken):
        return enough(
            max(
                sum(renyi(pair, order) for pair in taken),
                sum(renyi(pair.swap(), order) for pair in taken),
            )
            <= limit
            for order, limit in limits.items()
        )

    return path_filter(pairs, keeps)


def renyi(pair, order):
    with mp.workdps(40):
        terms = ((_real(p), _real(q)) for p, q in zip(pair.p, pair.q, strict=True))
        return mp.log(mp.fsum(q**order * p ** (1 - order) for p, q in terms)) / (order - 1)


def _real(value):
    return mp.mpf(value.numerator) / value.denominator


def binary(p, q):
    return Pair((1 - Fraction(p), Fraction(p)), (1 - Fraction(q), Fraction(q)))


LIMITS = {4: mp.mpf("5.909e-4"), 40: mp.mpf("0.82469")}
BINARY = [
    response("0.003"),
    binary("1.60407e-4", "4.45880e-4"),
    binary("1.125241e-5", "4.02786e-5"),
]


def test_a_filter_of_either_order_is_caught():
    """Going on while one of two orders keeps its bound gives 1.038e-5, where each proves 1e-5."""
    with mp.workdps(40):
        e = rational(mp.e)
    for order, limit in LIMITS.items():
        assert rdp([(order, float(limit))]).delta(1) < 1e-5
    either = float(worst((), order_filter(BINARY, LIMITS, any), e))
    assert 1.0375e-5 < either < 1.0382e-5
    # With all orders, or with one that is fixed, the proof holds.
    assert float(worst((), order_filter(BINARY, LIMITS, all), e)) < 1e-5
    for order, limit in LIMITS.items():
        assert float(worst((), order_filter(BINARY, {order: limit}, any), e)) < 1e-5


def test_the_game_is_the_hockey_stick_of_what_is_fixed():
    """With nothing to choose the game is a sum over outcomes; who asks nothing learns nothing."""
    random = Random(5)
    pair = random_pair(random)
    for ratio in RATIOS:
        assert worst((3,), stock([pair]), ratio) == composed([pair] * 3).hockey_stick(ratio)
        assert worst((), lambda _: (), ratio) == NOTHING.hockey_stick(ratio)
