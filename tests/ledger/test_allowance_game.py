"""Allowances against the exact game: no strategy of takes loses more than the whole was priced at.

What may be taken is what the ledger's own `Stock` lets be taken; strategies choose by all answers.
"""

from fractions import Fraction
from functools import cache
from random import Random

import pytest

from ledger.game import Pair, composed, random_pair, worst
from neyman.curves import discrete, poisson
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.ledger import Steps, Stock

RATIOS = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(10)]
RATES = (Fraction(1, 2), Fraction(1, 4))


def sampled(pair, rate):
    """Return a step on a sample: without the unit, and with it for a part of the time."""
    mixed = tuple((1 - rate) * p + rate * q for p, q in zip(pair.p, pair.q, strict=True))
    return Pair(pair.p, mixed)


def steps_of(random):
    """Return declared steps, those that are run, and each one's curve."""
    bases = [random_pair(random), random_pair(random)]
    known = {}
    for base in bases:
        for rate in RATES:
            known[sampled(base, rate)] = poisson(discrete(base.p, base.q), rate)
    declared = [sampled(base, RATES[0]) for base in bases]
    return declared, known


def declared_stock(pairs, known, counts):
    declared = tuple(Steps(known[pair], n) for pair, n in zip(pairs, counts, strict=True))
    return Stock("autumn", declared, (0,) * len(declared), "")


def takes(stock, known):
    """Return what the ledger allows: blocks of steps, of which some may then not be run.

    A state is what was taken, the step under way, how many of its block are still to be run, and,
    of a broken ledger, how many steps may be run again for nothing.
    """

    @cache
    def after(taken, pair, steps):
        now = Stock(stock.id, stock.declared, taken, "")
        try:
            shares = now.drawn(now.kinds_for(known[pair]), steps)
        except (BudgetExceeded, InvalidParameter):
            return None
        return tuple(one + more for one, more in zip(taken, shares, strict=True))

    def allowed(state):
        taken, pair, left, again = state
        if left:
            yield pair, (taken, pair, left - 1, again)
        if again and pair is not None:
            yield pair, (taken, pair, left, again - 1)
        for other in known:
            for steps in (1, 2):
                then = after(taken, other, steps)
                if then is not None:
                    yield other, (then, other, steps - 1, again)

    return allowed


def start(stock, again=0):
    return (stock.taken, None, 0, again)


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.soak) for s in (1, 2))])
@pytest.mark.parametrize("swapped", [False, True])
def test_no_strategy_of_takes_loses_more_than_the_whole(seed, swapped):
    declared, known = steps_of(Random(seed))
    for counts in ((2, 0), (1, 1), (2, 1), (2, 2)):
        kept = [(pair, n) for pair, n in zip(declared, counts, strict=True) if n]
        stock = declared_stock([pair for pair, _ in kept], known, [n for _, n in kept])
        whole = composed(pair for pair, n in kept for _ in range(n))
        game = takes(stock, known)
        if swapped:
            game, whole = the_other_way(game), whole.swap()
        for ratio in RATIOS:
            assert worst(start(stock), game, ratio) == whole.hockey_stick(ratio)


def the_other_way(allowed):
    return lambda state: ((pair.swap(), then) for pair, then in allowed(state))


THIRD = Pair(
    tuple(Fraction(part, 10) for part in (2, 6, 2)), tuple(Fraction(part, 10) for part in (1, 6, 3))
)


def test_a_refund_on_stop_is_caught():
    """The broken twin: who stops a block gets back what the rest of it would have cost.

    Of two steps, either the second is run or the refund is spent: on a release that fails outright
    with 3 %, and with the one step that ran costs exactly what both steps cost.
    """
    ratio, lost = Fraction(3, 2), Fraction(3, 100)
    other = Pair((lost, 1 - lost, Fraction(0)), (Fraction(0), 1 - lost, lost))
    reserved = composed([THIRD, THIRD]).hockey_stick(ratio)
    assert THIRD.then(other).hockey_stick(ratio) == reserved == lost

    def refunds(state):
        if state == "nothing":
            yield THIRD, "one of two"
        if state == "one of two":
            yield THIRD, "both"
            yield other, "refund spent"

    assert worst("nothing", refunds, ratio) == Fraction(51, 1000) > reserved
    # In the ledger, what was taken of an allowance stays taken: nothing else is to be had.
    known = {THIRD: discrete(THIRD.p, THIRD.q)}
    stock = declared_stock([THIRD], known, [2])
    assert worst(start(stock), takes(stock, known), ratio) == reserved


def test_a_free_second_run_of_what_was_revealed_is_caught():
    """The broken twin: steps whose logs were seen are run again, and counted once."""
    known = {THIRD: discrete(THIRD.p, THIRD.q)}
    stock = declared_stock([THIRD], known, [2])
    whole = composed([THIRD, THIRD])
    game = takes(stock, known)
    losses = [whole.hockey_stick(ratio) for ratio in RATIOS]
    assert [worst(start(stock), game, ratio) for ratio in RATIOS] == losses
    broken = [worst(start(stock, again=1), game, ratio) for ratio in RATIOS]
    assert any(found > loss for found, loss in zip(broken, losses, strict=True))


def test_what_is_given_to_an_allowance_in_two_copies_is_caught():
    """Two copies that each take all: more than was charged, which is why `check` refuses it."""
    known = {THIRD: discrete(THIRD.p, THIRD.q)}
    stock = declared_stock([THIRD], known, [1])
    whole = declared_stock([THIRD], known, [2])
    ratio = Fraction(3, 2)
    assert worst(start(whole), takes(whole, known), ratio) > worst(
        start(stock), takes(stock, known), ratio
    )
    overdrawn = Stock("autumn", stock.declared, (2,), "")
    assert overdrawn.excess() == (Steps(known[THIRD], 1),)
    assert overdrawn.left((0,)) == 0
