"""What is drawn for a question and for its companion, from the one noise that pays for both."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from neyman.aggregate import COMPANION, Aggregate
from neyman.errors import InvalidParameter
from neyman.ledger import Groups
from neyman.mechanisms import Mechanism
from neyman.numerics import Real, exact, text
from neyman.tradeoff import TradeOff

__all__ = ["SHARE", "Part", "divided"]

# Of the budget of a question, what its companion takes by default.
SHARE: Final = Fraction(1, 50)


class Part(NamedTuple):
    """A question of an entry: its noise, and that of its companion where it has one."""

    aggregate: Aggregate
    noise: Mechanism
    beside: Mechanism | None

    @property
    def curve(self) -> TradeOff:
        """What the answer guarantees, its companion's with it."""
        own = self.noise.tradeoff(self.aggregate.sensitivity)
        if self.beside is None or self.aggregate.companion is None:
            return own
        return own @ self.beside.tradeoff(self.aggregate.companion.sensitivity)

    def size(self, groups: Groups) -> int:
        """Return how many integers are stored of it."""
        unknown = self.aggregate.unknown
        own = self.aggregate.size if unknown is None else unknown.width * len(groups[0])
        return own + (0 if self.beside is None else COMPANION)

    def record(self) -> dict[str, object]:
        """Return the question with its noise, as a ledger keeps it."""
        beside: dict[str, object] = {}
        if self.beside is not None and self.aggregate.companion is not None:
            digest = self.aggregate.companion.digest
            beside = {"companion": {**self.beside.describe(), "computation": digest}}
        return {
            "query": dict(self.aggregate.query),
            "mechanism": self.noise.describe(),
            **beside,
        }

    def require_ready(self, confidence: float) -> None:
        """Refuse, before the charge, a confidence that no interval has, and noise not to be drawn.

        Raises:
            InvalidTable: if functions of the user's could run in the place of the engine's own.
            InvalidParameter: if the confidence is outside.
            MissingExtra, BrokenRandomness: if noise cannot be drawn.
        """
        self.aggregate.check()
        if self.beside is not None and self.aggregate.companion is not None:
            self.aggregate.companion.check()
        self.noise.half_width(confidence)
        self.noise.ratio_interval(0, 1, confidence)
        self.noise.require_sampler()


def divided(
    questions: Sequence[tuple[Aggregate, Mechanism]], companion: Real = SHARE
) -> tuple[Part, ...]:
    """Return what is drawn for each question, its companion included, from its one noise.

    Of questions about the same rows, under the same limits, the first alone has a companion.

    Args:
        questions: each with the noise that spends all of its budget.
        companion: the share of it that tells what contribution limits and bounds did.

    Raises:
        InvalidParameter: if the share is not in [0, 1).
    """
    share, told = exact(companion, "companion"), set[tuple[str, str]]()
    if not 0 <= share < 1:
        raise InvalidParameter(
            f"companion must be in [0, 1), a share of the budget; got {text(share)}. Write such as "
            "0.02, or 0 for none"
        )
    parts: list[Part] = []
    for aggregate, mechanism in questions:
        beside = aggregate.companion
        about = None if beside is None else (aggregate.source, beside.about)
        both = None
        if share and beside is not None and about not in told:
            both = mechanism.beside(aggregate.sensitivity, beside.sensitivity, share)
        if about is not None and both is not None:
            told.add(about)
        parts.append(Part(aggregate, *(both or (mechanism, None))))
    return tuple(parts)
