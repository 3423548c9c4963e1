"""The keys and methods of every query of a spec."""

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
"""The keys of a query that change only the presentation."""

_PER_UNIT: Final = ("count_units", "mean_per_unit", "sum_per_unit")

Groups: TypeAlias = Keys | UnknownKeys | None


def declared(by: Groups, statistic: str) -> Keys | None:
    """Return declared groups, for a statistic that takes no others.

    Raises:
        InvalidParameter: if the groups are not declared.
    """
    if isinstance(by, UnknownKeys):
        raise InvalidParameter(
            f"the groups of {statistic} must be declared; got unknown groups. Find them by a count "
            "first, then write those that it shows in [keys.NAME]"
        )
    return by


def _spoken() -> str:
    """Return every noise with its budget keys, for a message."""
    return ", ".join(f"{name} ({' or '.join(noise.makes)})" for name, noise in NOISES.items())


class SuppressionOf(Section):
    """A rule that suppresses rows, applied to every group after the noise. { } suppresses none."""

    sentence = "write one or more of interval_wider_than, interval_wider_than_share, count_below"

    interval_wider_than: Positive | None = None
    """Suppress numbers whose noise interval is wider than this, in the units of the answer."""
    interval_wider_than_share: Positive | None = None
    """Suppress numbers whose noise interval is wider than this share of the number: 0.5 is half."""
    count_below: Count | None = None
    """Suppress rows whose noisy count is smaller, if the answer has a count."""

    def build(self) -> Suppression:
        """Return the rule."""
        return Suppression(
            interval_wider_than=self.interval_wider_than,
            interval_wider_than_share=self.interval_wider_than_share,
            count_below=self.count_below,
        )


class Query(Section, ABC):
    """One statistic or function, with its budget.

    A new one is a final class beside the others, named in `neyman.publish._queries`, with a
    `statistic`, its keys, `sentence`, `example` and `ask`. The spec, its JSON schema, the table of
    keys, `neyman init` and every error message follow from it.

    Attributes:
        sentence: the keys that it takes, for error messages.
        example: its own keys in TOML, for `neyman init`; users replace texts that begin with
            "FILL IN: ".
    """

    example: ClassVar[str]

    entry: Annotated[str, Field(min_length=1)]
    """The id of the release in the ledger; in a batch, its name there."""
    batch: Annotated[str, Field(min_length=1)] | None = None
    """The id of a batch: queries with the same batch are charged together."""
    noise: NoiseName | None = None
    """The noise; by default Gaussian for mu, Laplace for epsilon, discrete Gaussian for rho."""
    mu: Positive | None = None
    """The budget, in Gaussian differential privacy."""
    epsilon: Positive | None = None
    """The budget, in pure differential privacy."""
    rho: Positive | None = None
    """The budget, in zero-concentrated differential privacy."""
    share: Positive | None = None
    """A weight: queries with a share divide what the others leave of the total budget."""
    where: Form | None = None
    """Use only rows that satisfy a condition such as "age >= 18 and ward = 'north'"."""
    max_rows: Count | None = None
    """The most rows of one entity that count, over all groups; by default that of [unit]."""
    max_rows_per_group: Count | None = None
    """The most rows of one entity that count in each group of this query."""
    by: str | None = None
    """The NAME of [keys.NAME] or [unknown.NAME]: gives an answer for each of its groups."""
    companion: Part | None = None
    """The share of its budget that measures the effect of limits and bounds; by default 0.02."""
    delta: Delta | None = None
    """The part of delta_aside in [budget] to spend; needs by = the NAME of [unknown.NAME]."""
    title: str | None = None
    """The title of the answer. This and the keys below only change the presentation."""
    note: str | None = None
    """A sentence below the title."""
    label: str | None = None
    """The label of its number, such as "flights" instead of "count"."""
    unit: str | None = None
    """The unit of measure of its number, instead of that of its column."""
    decimals: Decimals | None = None
    """The number of decimals; by default as many as the noise leaves significant."""
    percent: bool = False
    """Whether numbers are shown in per cent: 0.25 as 25 %."""
    order: Order = "declared"
    """The order of groups: as declared, largest or smallest number first, or alphabetical."""
    suppress: SuppressionOf | None = None
    """The rule that suppresses rows of its answer, instead of that of [page]."""

    @abstractmethod
    def ask(self, table: Table, by: Groups) -> Aggregate:
        """Return the question, not computed.

        Args:
            table: the table, with the limits of this query.
            by: the groups that `by` names, or None.

        Raises:
            InvalidParameter: if a declaration cannot be used.
            InvalidTable: if it does not fit the table.
        """

    @property
    def bounds(self) -> Mapping[str, str]:
        """The columns that need bounds in [columns], with what the user may write instead."""
        return {}

    @property
    def statistic_name(self) -> str:
        """The name of the statistic in a spec."""
        return str(get_args(type(self).model_fields["statistic"].annotation)[0])

    @property
    def per_unit(self) -> bool:
        """Whether it is about units instead of their rows."""
        return self.statistic_name in _PER_UNIT

    @property
    def display(self) -> Display:
        """The presentation of its answer."""
        said = {name: getattr(self, name) for name in SHOWN if name != "suppress"}
        return Display(**said, suppress=None if self.suppress is None else self.suppress.build())

    @property
    def limited(self) -> bool:
        """Whether it has limits of its own."""
        return (self.max_rows, self.max_rows_per_group) != (None, None)

    @property
    def spends(self) -> dict[str, Decimal]:
        """The budget, by its key."""
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
                "a query must have noise or share, because a share takes the noise of the budget; "
                f'got both, with noise = "{self.noise}". Write one: delete noise, or write '
                "what it takes in place of share"
            )
        if self.noise is not None and key not in NOISES[self.noise].makes:
            takes = " or ".join(NOISES[self.noise].makes)
            raise ValueError(f'noise = "{self.noise}" takes {takes}; write it in place of {key}')
        return self
