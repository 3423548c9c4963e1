"""A choice between values by conditions."""

from dataclasses import dataclass
from typing import final

from neyman.tables._expressions._expression import Expression, Given
from neyman.tables._expressions._parts import called, expression_of

__all__ = ["Branches", "Condition", "when"]


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """The result of `when`: a condition that needs its value."""

    before: tuple[Expression, ...]
    condition: Expression

    def then(self, value: Given) -> "Branches":
        """Return the branch with this value."""
        return Branches((*self.before, self.condition, expression_of(value)))


@final
@dataclass(frozen=True, slots=True)
class Branches:
    """The result of `then`: conditions with their values."""

    so_far: tuple[Expression, ...]

    def when(self, condition: Given) -> Condition:
        """Add a condition for rows where the earlier ones are not true."""
        return Condition(self.so_far, expression_of(condition))

    def otherwise(self, value: Given) -> Expression:
        """Return the expression, with this value for all other rows; None for NULL."""
        return called("when", *self.so_far, value)


def when(condition: Given) -> Condition:
    """Start a choice between values; the first true condition decides.

    >>> from neyman.tables import col
    >>> when(col("delay") > 15).then("late").otherwise("in time")
    when((col('delay') > 15)).then('late').otherwise('in time')
    """
    return Condition((), expression_of(condition))
