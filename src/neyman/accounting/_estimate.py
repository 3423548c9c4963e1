"""Numbers that are not bounds, or are bounds only with some confidence."""

from dataclasses import dataclass
from typing import ClassVar, final

__all__ = ["ConfidentBound", "Estimate"]


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """A value that may err to either side, by an amount that is not proved.

    It is no curve: it has no direction, no bracket and no composition. It is not certified, so a
    filter refuses to charge it. It does not convert to a float; read `value`.

    Attributes:
        value: the number.
        method: the method that computed it.
    """

    value: float
    method: str

    is_bound: ClassVar[bool] = False
    certified: ClassVar[bool] = False

    def __str__(self) -> str:
        return f"estimate {self.value:.6g} ({self.method})"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidentBound:
    """An upper bound from random draws; with a small probability it is too small.

    It is neither a curve nor a proof. It is not certified, so a filter refuses to charge it.

    Attributes:
        value: the bound.
        confidence: the least probability with which such draws give a bound that holds. It is for
            one bound; for several bounds together, the probabilities of failure add up.
        estimate: the value without a margin.
        samples: the number of draws.
    """

    value: float
    confidence: float
    estimate: float
    samples: int

    is_bound: ClassVar[bool] = False
    certified: ClassVar[bool] = False

    def __str__(self) -> str:
        return (
            f"at most {self.value:.6g} with {100 * self.confidence:.6g} % confidence "
            f"({self.samples} draws; estimate {self.estimate:.6g})"
        )
