"""The ledger and its cap, as a spec writes them."""

from typing import Self, cast

from pydantic import model_validator

from neyman.accounting._budget import cap_of
from neyman.curves import TradeOff
from neyman.publish._section import Delta, Positive, Section

__all__ = ["Budget"]


class Budget(Section):
    """The ledger and its cap."""

    ledger: str
    """The ledger's file, relative to the spec; or the URL of a PostgreSQL server."""
    mu: Positive | None = None
    """All that it may ever spend, in Gaussian differential privacy."""
    epsilon: Positive | None = None
    """All that it may ever spend, in place of mu; with delta or alone."""
    delta: Delta | None = None
    """With epsilon; without it, epsilon is pure and only Laplace noise and the like is charged."""
    delta_for_groups: Delta | None = None
    """What unknown groups may ever spend: beside mu, or of delta; all of delta leaves epsilon."""

    @model_validator(mode="after")
    def _one_cap(self) -> Self:
        if (self.mu is None) == (self.epsilon is None):
            raise ValueError("the cap is mu, epsilon, or epsilon and delta; give one of the three")
        if self.mu is not None and self.delta is not None:
            raise ValueError("delta goes with epsilon; delete it, or write epsilon in place of mu")
        return self

    @model_validator(mode="after")
    def _part_of_delta(self) -> Self:
        apart, whole = self.delta_for_groups, self.delta
        if apart is not None and self.epsilon is not None and (whole is None or apart > whole):
            raise ValueError(
                "delta_for_groups is a part of the delta that goes with epsilon; write delta, at "
                "least as large: an equal one leaves epsilon to spend, for Laplace noise, a larger "
                "one mu^2, for Gaussian noise"
            )
        return self

    @property
    def cap(self) -> TradeOff:
        """The most that the ledger spends."""
        made = cap_of(
            mu=self.mu,
            epsilon=self.epsilon,
            delta=self.delta,
            delta_for_groups=self.delta_for_groups,
        )
        # One of mu and epsilon is there.
        return cast("TradeOff", made)
