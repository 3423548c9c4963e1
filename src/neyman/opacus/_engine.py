"""The engine of Opacus with the least noise for a target."""

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

    It replaces `opacus.accountants.utils.get_noise_multiplier`. That function stops when epsilon is
    within 0.01 of the target, and computes the number of steps as `int(epochs / sample_rate)`,
    which can lose a step by rounding.

    Args:
        target_epsilon: epsilon of the whole training; positive.
        target_delta: delta of the whole training, in (0, 1).
        sample_rate: the probability of each record to enter a step; `1 / len(loader)` for the
            loader that you pass to Opacus.
        epochs: number of passes of `1 / sample_rate` steps each, rounded up to whole steps.
        steps: number of steps, in place of epochs.
        history: the steps that were taken already; they count towards the target.

    Guarantee: a proved bound meets the target, and `get_epsilon` agrees.
    Error: the noise is too large by at most 1e-10 (relative).

    Raises:
        InvalidCall: if both epochs and steps are given, or neither.
        InvalidParameter: if a number is out of range, or if no noise meets the target, for instance
            because the history has spent it.

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
    """Return the number of steps: at least one, because for none the least noise is none."""
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
    """The engine of Opacus with the accountant "neyman" and the least noise for a target.

    It refuses batches that are not sampled, because the accountant's epsilon would not hold for
    them. Everything else is as in Opacus.

    Args:
        accountant: "neyman"; for others write `opacus.PrivacyEngine`.
        secure_mode: as in Opacus.

    Raises:
        InvalidParameter: if you name another accountant.

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
            **how: other arguments of Opacus' `make_private`.

        Returns:
            What Opacus' `make_private` returns.

        Raises:
            InvalidParameter: if `poisson_sampling` is False.
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

        Steps that the accountant counted before count towards it.

        Args:
            data_loader: as in `make_private`.
            target_epsilon: epsilon of all steps together.
            target_delta: delta of all steps together.
            epochs: number of epochs of the training.
            **how: other arguments of `make_private`.

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
