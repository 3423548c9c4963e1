"""Every error that neyman raises on purpose.

Each message says what was asked, what was found, and what to write instead.
None carries a value of a private row.
"""

from neyman.printable import printable_lines

__all__ = [
    "BrokenRandomness",
    "BudgetExceeded",
    "EmptyIntersection",
    "EngineFailure",
    "EntryConflict",
    "InvalidCall",
    "InvalidParameter",
    "InvalidTable",
    "InvalidTraining",
    "LedgerCorrupt",
    "LedgerMismatch",
    "LedgerUnavailable",
    "MissingExtra",
    "NeymanError",
    "NotCertified",
    "RelationMismatch",
    "SensitivityMismatch",
    "SpecError",
    "UnknownColumn",
    "UnsupportedComposition",
]


class NeymanError(Exception):
    """Base of every error raised on purpose."""

    def __str__(self) -> str:
        """Give the sentence; what it quotes of a name or a spec moves no terminal."""
        return printable_lines(super().__str__())


class InvalidParameter(NeymanError, ValueError):
    """A number or name is outside what the formula allows."""


class InvalidCall(InvalidParameter, TypeError):
    """A function was called with arguments that it does not have, or without those it needs."""


class UnsupportedComposition(NeymanError, TypeError):
    """These curves do not compose, or a solver cannot read their composition."""


class NotCertified(NeymanError, TypeError):
    """A bound was asked of a curve that gives only estimates."""


class EmptyIntersection(NeymanError, ArithmeticError):
    """Two proved bounds of one number exclude each other: a mistake of neyman, not of yours."""


class MissingExtra(NeymanError, ImportError):
    """An optional dependency is not installed, or of a version that was not tested."""


class SensitivityMismatch(NeymanError, TypeError):
    """The mechanism needs a sensitivity in a norm that the query does not bound."""


class RelationMismatch(NeymanError, ValueError):
    """The neighbouring relation or the unit differs from the ledger's."""


class InvalidTable(NeymanError, ValueError):
    """A table, a unit, bounds or keys are not usable as declared."""


class InvalidTraining(NeymanError, RuntimeError):
    """A training does not do what its guarantee says; the step was not released."""


class UnknownColumn(InvalidTable, KeyError):
    """The table's schema has no such column."""

    def __str__(self) -> str:
        """Give the sentence itself; `KeyError` would quote it."""
        return printable_lines(self.args[0]) if self.args else ""


class EngineFailure(NeymanError, RuntimeError):
    """The engine failed; its own text is withheld, for it can quote private values."""


class BrokenRandomness(NeymanError, RuntimeError):
    """The random bits are missing, too few, or visibly not random; noise of them hides nothing."""


class BudgetExceeded(NeymanError, RuntimeError):
    """The charge would pass the ledger's cap; nothing was drawn and nothing charged."""


class EntryConflict(NeymanError, RuntimeError):
    """The entry id stands for another query, another dataset, or has used up its redraw."""


class LedgerMismatch(NeymanError, ValueError):
    """The ledger was opened with another cap, unit or neighbouring relation."""


class LedgerCorrupt(NeymanError, RuntimeError):
    """The ledger's file does not hold what a ledger writes."""


class LedgerUnavailable(NeymanError, OSError):
    """The ledger's file cannot be used safely where it lies."""


class SpecError(NeymanError, ValueError):
    """A spec names a key or value that is missing, unknown or wrong."""
