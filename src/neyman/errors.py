"""Every error that neyman raises on purpose.

Each message says what must hold, what was given, and what to write instead. None carries a value of
a private row.
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
        """Return the sentence; names and specs that it quotes cannot control a terminal."""
        return printable_lines(super().__str__())


class InvalidParameter(NeymanError, ValueError):
    """A number or name is out of range."""


class InvalidCall(InvalidParameter, TypeError):
    """A function was called with unknown arguments, or without those it needs."""


class UnsupportedComposition(NeymanError, TypeError):
    """These curves do not compose, or no solver can compute their composition."""


class NotCertified(NeymanError, TypeError):
    """A bound was requested from a curve that has only estimates."""


class EmptyIntersection(NeymanError, ArithmeticError):
    """Two proved bounds of one number exclude each other: a mistake in neyman, not in your code."""


class MissingExtra(NeymanError, ImportError):
    """An optional dependency is not installed, or has a version that was not tested."""


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
        """Return the sentence itself; `KeyError` would quote it."""
        return printable_lines(self.args[0]) if self.args else ""


class EngineFailure(NeymanError, RuntimeError):
    """The engine failed; its own text is withheld, because it can quote private values."""


class BrokenRandomness(NeymanError, RuntimeError):
    """The random bits are missing, too few, or visibly not random; their noise hides nothing."""


class BudgetExceeded(NeymanError, RuntimeError):
    """The charge would exceed the ledger's cap; nothing was drawn and nothing charged."""


class EntryConflict(NeymanError, RuntimeError):
    """The entry id belongs to another query or dataset, or its redraw is used up."""


class LedgerMismatch(NeymanError, ValueError):
    """The ledger was opened with another cap, unit or neighbouring relation."""


class LedgerCorrupt(NeymanError, RuntimeError):
    """The ledger's store does not hold what a ledger writes."""


class LedgerUnavailable(NeymanError, OSError):
    """The ledger's store cannot be reached or used safely."""


class SpecError(NeymanError, ValueError):
    """A spec names a key or value that is missing, unknown or wrong."""
