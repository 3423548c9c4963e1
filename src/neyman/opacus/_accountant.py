"""The accountant that Opacus calls."""

# Opacus has no stubs.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast, final

from neyman.accounting import dp_sgd
from neyman.arguments import brief
from neyman.curves import TradeOff, approx_dp, compose
from neyman.errors import InvalidParameter, MissingExtra
from neyman.overriding import override
from neyman.sensitivity import Neighbors

try:
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import register_accountant
except ImportError as error:
    raise MissingExtra(
        "neyman.opacus needs opacus 1.6 or later, which is not installed; run "
        "pip install 'neyman[opacus]'"
    ) from error

__all__ = ["Accountant", "Entry", "append", "curve_of", "entries"]

# Noise multiplier, sampling rate, steps: as Opacus writes them.
Entry: TypeAlias = tuple[float, float, int]

_NAME: Final = "neyman"
# Whose histories say the same thing.
_READABLE: Final = (_NAME, "rdp", "prv", "gdp")
# A rate such as 49 * (1 / 49), a sum of rounded ones.
_ROUNDED: Final = 1e-12


def entries(history: Iterable[Sequence[Any]]) -> list[Entry]:
    """Return the history of Opacus, checked.

    Raises:
        InvalidParameter: if it is not a history.
    """
    found: list[Entry] = []
    for entry in history:
        try:
            noise, rate, steps = entry
            found.append(_checked(float(noise), float(rate), steps))
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidParameter(
                "history must list (noise multiplier, sampling rate, steps): finite noise of at "
                "least 0, a rate of at most 1, a whole number of at least 0 steps; "
                f"got {brief(repr(entry))}. Write accountant.history, or what state_dict() gives"
            ) from error
    return found


def _checked(noise: float, rate: float, steps: Any) -> Entry:
    count = int(steps)
    if not (0 <= noise < math.inf and 0 <= rate <= 1 + _ROUNDED and 0 <= count == steps):
        raise ValueError
    return noise, min(rate, 1.0), count


def append(history: list[Entry], noise: float, rate: float) -> None:
    """Add a step to a history, in place.

    Raises:
        InvalidParameter: if the rate is outside [0, 1].
    """
    ((noise, rate, _),) = entries([(noise, rate, 1)])
    if history and history[-1][:2] == (noise, rate):
        history[-1] = (noise, rate, history[-1][2] + 1)
    else:
        history.append((noise, rate, 1))


def curve_of(history: Iterable[Sequence[Any]], neighbors: Neighbors = "add_remove") -> TradeOff:
    """Return the guarantee of a history: Poisson sampling, Gaussian noise, all steps released."""
    steps_of: dict[tuple[float, float], int] = {}
    for noise, rate, steps in entries(history):
        if noise == 0 and rate > 0 and steps > 0:
            return approx_dp(0, 1)
        if rate > 0 and steps > 0:
            steps_of[noise, rate] = steps_of.get((noise, rate), 0) + steps
    return compose(*(dp_sgd(*one, n, neighbors=neighbors) for one, n in steps_of.items()))


@final
class Accountant(IAccountant):
    """The accountant "neyman" for Opacus: the exact guarantee of the steps, within 1e-9.

        compose(dp_sgd(sigma_i, q_i, n_i)) over the phases of the history

    Attributes:
        history: the phases (noise multiplier, sampling rate, steps), as in other accountants of
            Opacus.

    Guarantee: it holds for Poisson sampling at these rates, if all steps are released, where
        neighbours differ by one record whose gradient is in the sums or not. `doctor` and `attach`
        check the sampling. Opacus' own samplers draw at the next multiple of 2^-24 above the rate.
    Error: epsilon is an upper bound, above the true value by a few units of 1e-11 (relative).

    >>> accountant = Accountant()
    >>> for _ in range(72):
    ...     accountant.step(noise_multiplier=1.0, sample_rate=1 / 24)
    >>> f"{accountant.get_epsilon(1e-5):.6f}", len(accountant)
    ('2.571753', 72)
    """

    def __init__(self) -> None:
        self.history: list[Entry] = []

    @override
    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Count one step.

        Raises:
            InvalidParameter: if the rate is outside [0, 1].
        """
        append(self.history, noise_multiplier, sample_rate)

    @override
    def get_epsilon(self, delta: float, *_args: object, **_kwargs: object) -> float:
        """Return the epsilon of the steps in the history; 0 if there are none.

        Args:
            delta: the delta of (epsilon, delta), in [0, 1).
            *_args: arguments of other accountants; not used.
            **_kwargs: arguments of other accountants and of `make_private_with_epsilon`; not used.
        """
        return float(curve_of(self.history).epsilon(delta))

    @override
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Resume a run; its accountant can also be "rdp", "prv" or "gdp".

        Their histories have the same steps; epsilon is then computed by this accountant.

        Raises:
            ValueError: by Opacus, if it is not a state, or the state of another accountant.
            InvalidParameter: if its history is malformed.
        """
        own = dict(state_dict or {})
        if own.get("mechanism") in _READABLE:
            own["mechanism"] = _NAME
        super().load_state_dict(own)
        self.history = entries(cast("Iterable[Sequence[Any]]", self.history))

    @override
    def __len__(self) -> int:
        """Return the number of steps in the history."""
        return sum(steps for _, _, steps in self.history)

    @classmethod
    @override
    def mechanism(cls) -> str:
        """Return the name under which Opacus finds it."""
        return _NAME


# Again where the module is loaded again.
register_accountant(_NAME, Accountant, force=True)
