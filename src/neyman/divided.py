"""The noise for a question and for its companion, from the one noise that pays for both."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from neyman.aggregate import COMPANION, Aggregate, Companion
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.ledger import Groups
from neyman.mechanisms import Mechanism
from neyman.numerics import Real, exact, text

__all__ = ["SHARE", "Part", "companions_at", "divided"]

# The companion's default share of a question's budget.
SHARE: Final = Fraction(1, 50)


class Part(NamedTuple):
    """A question of an entry: its noise, and that of its companion if it has one."""

    aggregate: Aggregate
    noise: Mechanism
    beside: Mechanism | None

    @property
    def companion(self) -> tuple[Companion, Mechanism] | None:
        """The companion that is drawn, and its noise."""
        companion = self.aggregate.companion
        return None if companion is None or self.beside is None else (companion, self.beside)

    @property
    def curve(self) -> TradeOff:
        """The guarantee of the answer, including its companion."""
        own = self.noise.tradeoff(self.aggregate.sensitivity)
        if self.companion is None:
            return own
        companion, noise = self.companion
        return own @ noise.tradeoff(companion.sensitivity)

    def size(self, groups: Groups) -> int:
        """Return how many integers are stored for it."""
        unknown = self.aggregate.unknown
        own = self.aggregate.kept if unknown is None else unknown.width * len(groups[0])
        return own + self.beside_size

    @property
    def beside_size(self) -> int:
        """How many of them are the companion's; they are the last."""
        return 0 if self.companion is None else COMPANION

    def record(self) -> dict[str, object]:
        """Return the question with its noise, as a ledger records it."""
        record: dict[str, object] = {
            "query": dict(self.aggregate.query),
            "mechanism": self.noise.describe(),
        }
        if self.companion is not None:
            companion, noise = self.companion
            record["companion"] = {**noise.describe(), "computation": companion.digest}
        return record

    def require_ready(self, confidence: float) -> None:
        """Refuse, before the charge, an impossible confidence, and noise that cannot be drawn.

        Raises:
            InvalidTable: if functions of the user could run in place of the engine's own.
            InvalidParameter: if the confidence is out of range.
            SensitivityMismatch: if a question in rounds has noise other than Gaussian.
            MissingExtra, BrokenRandomness: if noise cannot be drawn.
        """
        if self.aggregate.adaptive is not None and not self.noise.normal:
            raise SensitivityMismatch(
                "a question in rounds needs Gaussian noise, because each round depends on the "
                f"answers before it; got {self.noise.describe()['mechanism']} noise. Write "
                "Gaussian.calibrate(question.sensitivity, mu=...)"
            )
        # Only one statement is run; a companion's includes the question's own.
        (self.aggregate if self.companion is None else self.companion[0]).check()
        self.noise.half_width(confidence)
        self.noise.ratio_interval(0, 1, confidence)
        self.noise.require_sampler()


def divided(questions: Sequence[tuple[Aggregate, Mechanism, Real]]) -> tuple[Part, ...]:
    """Return the parts to draw for each question, including its companion, from its one noise.

    If several questions are about the same rows under the same limits, only the first with a share
    for it has a companion.

    Args:
        questions: each with the noise that spends all of its budget, and the share of the budget
            for the effect of contribution limits and bounds.

    Raises:
        InvalidParameter: if a share is not in [0, 1).
    """
    parts, told = list[Part](), set[tuple[str, str]]()
    for aggregate, mechanism, companion in questions:
        share, beside = _share(companion), aggregate.companion
        # Spend nothing on a companion that has nothing to report.
        if beside is not None and not beside.tells:
            beside = None
        about = None if beside is None else (aggregate.source, beside.about)
        both = None
        if share and beside is not None and about not in told:
            both = mechanism.beside(aggregate.sensitivity, beside.sensitivity, share)
        if about is not None and both is not None:
            told.add(about)
        parts.append(Part(aggregate, *(both or (mechanism, None))))
    return tuple(parts)


def _share(companion: Real) -> Fraction:
    share = exact(companion, "companion")
    if not 0 <= share < 1:
        raise InvalidParameter(
            f"companion must be in [0, 1), a share of the budget; got {text(share)}. "
            "Write for example 0.02, or 0 for none"
        )
    return share


def companions_at(parts: Sequence[Part]) -> tuple[int | None, ...]:
    """Return, for each part without a companion, the index of the part whose companion covers it.

    None for a part that has its own, and if no companion covers it.
    """
    places = {
        (part.aggregate.source, part.companion[0].about): place
        for place, part in reversed(list(enumerate(parts)))
        if part.companion is not None
    }
    return tuple(
        None
        if part.beside is not None or part.aggregate.companion is None
        else places.get((part.aggregate.source, part.aggregate.companion.about))
        for part in parts
    )
