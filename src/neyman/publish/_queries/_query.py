"""What every query of a spec says, and what it must be able to do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Annotated, ClassVar, Final, Self, TypeAlias, cast, get_args

from pydantic import Field, model_validator

from neyman.aggregate import Aggregate
from neyman.errors import InvalidParameter
from neyman.mechanisms import NOISES
from neyman.publish._presentation import Display, Order, Suppression
from neyman.publish._section import (
    Count,
    Decimals,
    Delta,
    Form,
    NoiseName,
    Part,
    Positive,
    Section,
)
from neyman.tables import Keys, Table, UnknownKeys

__all__ = ["SHOWN", "Groups", "Query", "SuppressionOf", "declared"]

SHOWN: Final = frozenset(one.name for one in fields(Display))
"""Keys of a query that are no part of its question."""

_PER_UNIT: Final = ("count_units", "mean_per_unit", "sum_per_unit")

Groups: TypeAlias = Keys | UnknownKeys | None


def declared(by: Groups, statistic: str) -> Keys | None:
    """Return the groups of a statistic that must be declared.

    Raises:
        InvalidParameter: if nobody declared them.
    """
    if isinstance(by, UnknownKeys):
        raise InvalidParameter(
            f"{statistic} was asked by unknown groups, and takes declared ones only; find them by "
            "a count first, and write those that it shows in [keys.NAME]"
        )
    return by


def _spoken() -> str:
    """Return every noise with the keys of its share, for a message."""
    return ", ".join(f"{name} ({' or '.join(noise.makes)})" for name, noise in NOISES.items())


class SuppressionOf(Section):
    """What is left out: of every group in the same way, after the noise. { } leaves nothing out."""

    sentence = "write one or more of interval_wider_than, interval_wider_than_share, count_below"

    interval_wider_than: Positive | None = None
    """Numbers whose noise interval is wider, from end to end, in the units of the answer."""
    interval_wider_than_share: Positive | None = None
    """Numbers whose noise interval is wider than this share of the number; 0.5 is half of it."""
    count_below: Count | None = None
    """Rows whose noisy count is smaller, where the answer holds a count."""

    def build(self) -> Suppression:
        """Return the rule."""
        return Suppression(
            interval_wider_than=self.interval_wider_than,
            interval_wider_than_share=self.interval_wider_than_share,
            count_below=self.count_below,
        )


class Query(Section, ABC):
    """One statistic or function, and what it may spend.

    A new one is a final class beside the others, named in `neyman.publish._queries`: a
    `statistic`, its keys, `sentence`, `example` and `ask`. The spec, its JSON schema, the table of
    keys, `neyman init` and every error text follow from that.

    Attributes:
        sentence: what it takes, for who writes it wrong.
        example: its own keys in TOML, for `neyman init`; a text that begins with "FILL IN: " is
            to be replaced.
    """

    example: ClassVar[str]

    entry: Annotated[str, Field(min_length=1)]
    """Its id in the ledger; in a batch its name there."""
    batch: Annotated[str, Field(min_length=1)] | None = None
    """The id in the ledger of all queries with the same one: charged together, at once."""
    noise: NoiseName | None = None
    """The noise; by default Gaussian for mu, Laplace for epsilon, discrete Gaussian for rho."""
    mu: Positive | None = None
    """What it may spend, in Gaussian differential privacy."""
    epsilon: Positive | None = None
    """What it may spend, in pure differential privacy."""
    rho: Positive | None = None
    """What it may spend, in zero-concentrated differential privacy."""
    share: Positive | None = None
    """Its weight: queries with a share divide what the others leave of the whole budget."""
    where: Form | None = None
    """Only rows for which a condition such as "age >= 18 and ward = 'north'" holds."""
    max_rows: Count | None = None
    """The most rows of one entity that count, all groups together; by default that of [unit]."""
    max_rows_per_group: Count | None = None
    """The most rows of one entity that count in each group of this query."""
    by: str | None = None
    """The NAME of [keys.NAME] or [unknown.NAME]: an answer for each of its groups."""
    companion: Part | None = None
    """The share of its budget that tells what limits and bounds did; 0.02 by default, 0: none."""
    delta: Delta | None = None
    """What it may spend of delta_aside in [budget], with by = the NAME of [unknown.NAME]."""
    title: str | None = None
    """Of its answer. This and all below are no part of the question, and can change any time."""
    note: str | None = None
    """A sentence below the title."""
    label: str | None = None
    """What its number is called, such as "flights", in place of "count"."""
    unit: str | None = None
    """The unit of measure of its number, in place of that of its column."""
    decimals: Decimals | None = None
    """How many its numbers have; by default as many as its noise leaves."""
    percent: bool = False
    """Whether its numbers are shown in percent: 0.25 as 25 %."""
    order: Order = "declared"
    """Of its groups: as declared, largest or smallest number first, or alphabetical."""
    suppress: SuppressionOf | None = None
    """What is left out of its answer, in place of what [page] says."""

    @abstractmethod
    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Return the question, not computed.

        Args:
            table: with the limits of this query.
            by: the groups that `by` names, or None.

        Raises:
            InvalidParameter: if what is declared is unusable.
            InvalidTable: if it does not go with the table.
        """

    @property
    def bounds(self) -> Mapping[str, str]:
        """The columns that must have bounds in [columns], and what else may be written instead."""
        return {}

    @property
    def statistic_name(self) -> str:
        """What the spec calls the statistic."""
        return str(get_args(type(self).model_fields["statistic"].annotation)[0])

    @property
    def per_unit(self) -> bool:
        """Whether it is of units, and not of their rows."""
        return self.statistic_name in _PER_UNIT

    @property
    def display(self) -> Display:
        """How its answer is displayed."""
        said = {name: getattr(self, name) for name in SHOWN if name != "suppress"}
        return Display(**said, suppress=None if self.suppress is None else self.suppress.build())

    @property
    def limited(self) -> bool:
        """Whether it has limits of its own."""
        return (self.max_rows, self.max_rows_per_group) != (None, None)

    @property
    def spends(self) -> dict[str, Decimal]:
        """What it may spend, by its key."""
        given = {"mu": self.mu, "epsilon": self.epsilon, "rho": self.rho, "share": self.share}
        return {key: share for key, share in given.items() if share is not None}

    @model_validator(mode="before")
    @classmethod
    def _no_limit_of_groups(cls, written: object) -> object:
        if isinstance(written, dict) and "max_groups" in written:
            raise ValueError(
                "max_groups is no limit of a query, for m rows in all with r in each group hide "
                "as much as m / r groups of r rows and keep no fewer rows; write max_rows, and "
                "max_rows_per_group if one entity has few rows in each group of this query"
            )
        return cast("object", written)

    @model_validator(mode="after")
    def _one_share(self) -> Self:
        if len(self.spends) != 1:
            raise ValueError(
                "give mu for Gaussian noise, epsilon for Laplace noise, or share = 1 for an equal "
                "part of the budget, one of them; or noise, a name, with what it takes: "
                + _spoken()
            )
        (key,) = self.spends
        if self.noise is not None and key == "share":
            raise ValueError(
                f'noise = "{self.noise}" was given with share, which takes the noise that the '
                "budget is for; delete noise, or write what it takes in place of share"
            )
        if self.noise is not None and key not in NOISES[self.noise].makes:
            takes = " or ".join(NOISES[self.noise].makes)
            raise ValueError(f'noise = "{self.noise}" takes {takes}; write it in place of {key}')
        return self
