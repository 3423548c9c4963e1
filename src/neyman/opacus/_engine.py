"""Noise for a target: exactly as much as it takes."""

# Opacus has no stubs.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

import math
from collections.abc import Sequence
from typing import Any, cast, final

import opacus
from neyman.accounting import EpsilonDelta, calibrate, dp_sgd
from neyman.arguments import got, whole
from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidCall, InvalidParameter
from neyman.opacus._accountant import Accountant, Entry, curve_of
from neyman.overriding import override

__all__ = ["PrivacyEngine", "noise_multiplier"]

_MOST_MORE = 1e-9
_MOST_STEPS = 2**52
# A whole number of steps may come out a few units in the last place above itself.
_EXACT = 1 - 2.0**-50


@plain_calls
def noise_multiplier(
    *,
    target_epsilon: float,
    target_delta: float,
    sample_rate: float,
    epochs: float | None = None,
    steps: int | None = None,
    history: Sequence[Entry] = (),
) -> float:
    """Return the least noise multiplier with which a training meets (epsilon, delta).

    In place of `opacus.accountants.utils.get_noise_multiplier`, which stops where epsilon is within
    0.01 of the target, and takes `int(epochs / sample_rate)` for the number of steps, where
    rounding can lose one.

    Args:
        target_epsilon: of the whole training; positive.
        target_delta: in (0, 1).
        sample_rate: the probability with which each record enters a step; `1 / len(loader)` of
            the loader that Opacus is given.
        epochs: passes of `1 / sample_rate` steps each, a part of a step for a whole one; or
        steps: how many are taken.
        history: of steps that were taken already, and that count towards the target.

    Guarantee: the target is met, by a proved bound, and `get_epsilon` agrees.
    Error: the noise is at most 1e-10 too large, relatively.

    Raises:
        InvalidCall: if both epochs and steps are given, or neither.
        InvalidParameter: if a number is outside, or if no noise meets the target, as where the
            history has spent it.

    >>> noise = noise_multiplier(
    ...     target_epsilon=3, target_delta=1e-5, sample_rate=1 / 24, epochs=10
    ... )
    >>> f"{noise:.6f}"
    '1.207831'
    """
    if (epochs is None) == (steps is None):
        raise InvalidCall("noise_multiplier() needs either epochs or steps; write one of them")
    if not 0 < sample_rate <= 1:
        raise InvalidParameter(
            f"sample_rate must be in (0, 1]; got {sample_rate!r}. Write 1 / len(loader)"
        )
    planned = _planned(epochs, steps, sample_rate)
    spent = curve_of(history)
    if history and (gone := spent.epsilon(target_delta)) >= target_epsilon:
        raise InvalidParameter(
            f"the target epsilon must be above what the history has spent, {gone:.6g} at "
            f"delta={target_delta:g}; got {target_epsilon:g}. Write a larger target_epsilon"
        )

    def whole(noise: float) -> TradeOff:
        return spent @ dp_sgd(noise, sample_rate, planned)

    found = float(calibrate(whole, EpsilonDelta(target_epsilon, target_delta)).value)
    # The target is met in delta; epsilon's own bracket can end a few units of 1e-13 above it.
    more = 1e-12
    while whole(found).epsilon(target_delta) > target_epsilon and more < _MOST_MORE:
        found, more = found * (1 + more), 2 * more
    return found


def _planned(epochs: float | None, steps: int | None, sample_rate: float) -> int:
    """Return the steps that will be taken: at least one, for no noise is the least for none."""
    if epochs is None:
        return whole("steps", steps, 1, _MOST_STEPS)
    # NaN compares false.
    if not 0 < epochs / sample_rate < _MOST_STEPS:
        raise InvalidParameter(
            f"epochs must be above 0 and make at most 2^52 steps; got {got(epochs)}. Write the "
            "number of passes over the data, such as 10"
        )
    return max(1, math.ceil(epochs / sample_rate * _EXACT))


@final
class PrivacyEngine(opacus.PrivacyEngine):
    """Opacus' engine with the accountant "neyman" and with exactly the noise that a target takes.

    It refuses batches that are not sampled, of which the accountant's number would not hold. All
    else is Opacus' own.

    Args:
        accountant: "neyman"; for others take `opacus.PrivacyEngine`.
        secure_mode: as of Opacus.

    Raises:
        InvalidParameter: if another accountant is named.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     engine = PrivacyEngine()
    >>> engine.get_epsilon(1e-5)
    0.0
    """

    def __init__(self, *, accountant: str = "neyman", secure_mode: bool = False) -> None:
        if accountant != Accountant.mechanism():
            raise InvalidParameter(
                f'accountant must be "neyman"; got {got(accountant)}. Write opacus.PrivacyEngine '
                "for another accountant"
            )
        super().__init__(accountant=accountant, secure_mode=secure_mode)

    @override
    def make_private(self, *, poisson_sampling: bool = True, **how: Any) -> Any:
        """Make a training private, as Opacus does.

        Args:
            poisson_sampling: True.
            **how: what else Opacus' `make_private` takes.

        Returns:
            What Opacus' `make_private` returns.

        Raises:
            InvalidParameter: if the batches are not to be sampled.
        """
        if not poisson_sampling:
            raise InvalidParameter(
                "poisson_sampling must be True, for the accountant's number is that of sampled "
                "batches; got False. For batches in passes use opacus.PrivacyEngine, and claim "
                "gdp(1 / noise_multiplier) ** passes, without amplification"
            )
        return cast("Any", super().make_private(**how))

    @override
    def make_private_with_epsilon(
        self,
        *,
        data_loader: Any,
        target_epsilon: float,
        target_delta: float,
        epochs: int,
        **how: Any,
    ) -> Any:
        """Make a training private with the least noise that meets a target.

        Steps that were accounted for before count towards it.

        Args:
            data_loader: as of `make_private`.
            target_epsilon: of all steps together.
            target_delta: of all steps together.
            epochs: that will be run.
            **how: what else `make_private` takes.

        Returns:
            What `make_private` returns.

        Raises:
            InvalidParameter: as `noise_multiplier`.
        """
        noise = noise_multiplier(
            target_epsilon=target_epsilon,
            target_delta=target_delta,
            sample_rate=1 / len(data_loader),
            epochs=epochs,
            history=cast("list[Entry]", self.accountant.history),
        )
        return self.make_private(data_loader=data_loader, noise_multiplier=noise, **how)
