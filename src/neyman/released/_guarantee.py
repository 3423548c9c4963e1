"""The guarantee of a release, and its cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import cast, final

from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import at_least, at_most, rational, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Guarantee", "Spending"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantee(Displayed):
    """A trade-off function, with everything that makes it a statement about people.

    Attributes:
        curve: no test distinguishes two neighbouring tables better than this.
        neighbors: the relation: "add_remove" or "replace_one".
        unit: the privacy unit, in words.
        assumptions: what is assumed, one sentence each.
    """

    curve: TradeOff
    neighbors: Neighbors
    unit: str
    assumptions: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Return the record, for JSON."""
        return {
            "curve": self.curve.to_json(),
            "neighbors": self.neighbors,
            "unit": self.unit,
            "assumptions": list(self.assumptions),
        }

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Guarantee":
        """Return the guarantee that `to_json` recorded.

        Args:
            record: from `to_json`.

        Raises:
            InvalidParameter: if the record is malformed.

        >>> from neyman.curves import gdp
        >>> g = Guarantee(curve=gdp(1), neighbors="add_remove", unit="one row", assumptions=("a",))
        >>> Guarantee.from_json(g.to_json()) == g
        True
        """
        known: Mapping[str, object] = record if isinstance(record, Mapping) else {}  # pyright: ignore[reportUnnecessaryIsInstance]
        unit, said = known.get("unit"), known.get("assumptions")
        sentences = cast("list[object]", said) if isinstance(said, list) else [None]
        if not isinstance(unit, str) or not all(isinstance(one, str) for one in sentences):
            raise InvalidParameter(
                "a record of a guarantee must name the unit and the list of assumptions; write "
                "what Guarantee.to_json gives"
            )
        return Guarantee(
            curve=TradeOff.from_json(cast("Mapping[str, object]", known.get("curve"))),
            neighbors=check_neighbors(str(known.get("neighbors"))),
            unit=unit,
            assumptions=tuple(map(str, sentences)),
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """A charge in the ledger's own unit of account, exact.

    Attributes:
        account: what is added up: "mu^2" or "epsilon".
        cost: of this entry.
        remaining: in the ledger when the release was read.
        cap: the most that the ledger spends.
        delta: the charge to the delta that was set aside.
        delta_remaining: what remained of the delta that was set aside.
    """

    account: str
    cost: Fraction
    remaining: Fraction
    cap: Fraction
    delta: Fraction = Fraction(0)
    delta_remaining: Fraction = Fraction(0)

    def to_json(self) -> dict[str, object]:
        """Return the record, for JSON."""
        return {
            "account": self.account,
            "cost": str(self.cost),
            "remaining": str(self.remaining),
            "cap": str(self.cap),
            "delta": str(self.delta),
            "delta_remaining": str(self.delta_remaining),
        }

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Spending":
        """Return the spending that `to_json` recorded.

        Args:
            record: from `to_json`.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        cost, remaining, cap = (_fraction(record.get(x)) for x in ("cost", "remaining", "cap"))
        # Records written before there was an account of delta do not have these.
        delta, left = (_fraction(record.get(x, "0")) for x in ("delta", "delta_remaining"))
        account = str(record.get("account"))
        return Spending(
            account=account,
            cost=cost,
            remaining=remaining,
            cap=cap,
            delta=delta,
            delta_remaining=left,
        )

    def __str__(self) -> str:
        if not self.cap:
            return f"{self.account} 0 of 0"
        cost = at_most(100 * self.cost / self.cap, 4)
        left = at_least(100 * self.remaining / self.cap, 4)
        said = f"{self.account} {_short(self.cost)}, {cost} % of the ledger; {left} % left"
        if not self.delta:
            return said
        most, least = at_most(self.delta, 6), at_least(self.delta_remaining, 6)
        return f"{said}; delta {most}, {least} remain of what was set aside"


def _short(value: Fraction) -> str:
    exact_text = text(value)
    return exact_text if len(exact_text) <= 12 else at_most(value, 6)


def _fraction(written: object) -> Fraction:
    found = rational(written)
    if found is not None:
        return found
    raise InvalidParameter("the amount spent must be a fraction; write what Spending.to_json gives")
