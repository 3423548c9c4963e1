"""The companion: four more integers of the same statement on the effect of limits and bounds.

units   for each unit, before the cut: its rows t, the kept rows k, and x of n rows moved to a bound
shares  for each cut unit b, the lost share of its rows; for each unit c, the moved share
row     1024 (units without a cut), sum of 1024 - b, sum of b, sum of c, all in 1024ths

A unit adds (1024, 0, 0) or (0, 1024 - b, b), and c in [0, 1024], by its own rows only. So it moves
the row by at most 2 * 1024 in l1 and by 2 * 1024^2 in squared l2.
"""

from fractions import Fraction
from typing import Final

from sqlglot import exp

from neyman.aggregate import COMPANION, PARTS
from neyman.sensitivity import Sensitivity
from neyman.tables import _sql as sql
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree
from neyman.tables._unit import Unit

__all__ = ["MARK", "companion_of", "companion_record", "companion_sensitivity"]

# Of the row, in the place of a group: no index of a group, and no name of one.
MARK: Final[tuple[int, str]] = (-1, "-")
_MOST: Final = 2**62


def companion_sensitivity() -> Sensitivity:
    """Return the sensitivity of the four integers to one unit."""
    return Sensitivity(
        neighbors="add_remove",
        l1=Fraction(2 * PARTS),
        l2_squared=Fraction(2 * PARTS**2),
        coordinates=COMPANION,
        largest=PARTS,
    )


def companion_record(
    unit: Unit, limits: Limits, *, units: bool, bounds: bool, totals: bool = False
) -> dict[str, object]:
    """Return their public record: the limits, and the number of each.

    Args:
        unit: the privacy unit.
        limits: the contribution limits r and m.
        units: whether a unit adds once to a group, so that the limits are on groups and not on
            rows.
        bounds: whether values are moved to bounds.
        totals: whether the total of a unit is moved to them, and not each value.
    """
    of = "groups" if units else "rows"
    if units and limits.cut_groups is None:
        of = None
    one = limits.total if limits.rows == limits.total or units else None
    return {
        "entity": unit.entity,
        "of": of,
        "limit": None if of is None else one,
        "least": limits.total if units else limits.rows,
        "bounds": bounds,
        **({"totals": True} if totals else {}),
    }


def companion_of(
    limits: Limits, *, units: bool, moved: Tree | None
) -> tuple[list[tuple[str, exp.Query]], list[Tree]]:
    """Return the steps after `neyman_pairs`, and the four integers of the last step.

    Args:
        limits: the contribution limits r and m.
        units: whether a unit adds once to a group, so that the limits are on groups and not on
            rows.
        moved: the number of rows of a pair that were moved to a bound; None if there are no bounds.
    """
    n = sql.column("n")
    rows = exp.Least(this=n, expressions=[sql.integer(limits.rows)], ignore_nulls=True)
    all_rows = sql.count() if units else sql.total(n)
    kept = exp.Least(
        this=sql.count() if units else sql.total(rows),
        expressions=[sql.integer(limits.total)],
        ignore_nulls=True,
    )
    of_units = {"t": all_rows, "k": kept, "n": sql.total(n)}
    if moved is not None:
        of_units["x"] = sql.total(moved)
    # No table has the 2^52 rows that 64 bits do not hold a thousand times.
    named = [sql.named(sql.cast(value, "BIGINT"), name) for name, value in of_units.items()]
    u, pairs = sql.column("u"), sql.relation("neyman_pairs")
    counted = exp.select(*named).from_(pairs).group_by(u)
    t, k = sql.column("t"), sql.column("k")
    lost = exp.Case(ifs=[exp.If(this=k < t, true=_part(exp.paren(t - k), t))])
    c = _part(sql.column("x"), n) if moved is not None else sql.wide(0)
    shares = exp.select(sql.named(lost, "b"), sql.named(c, "c")).from_(sql.relation("neyman_units"))
    b = sql.column("b")
    whole = exp.Case(ifs=[exp.If(this=sql.known(b), true=sql.integer(0))], default=_parts())
    left = exp.Coalesce(this=_parts() - b, expressions=[sql.integer(0)])
    sums = [whole, left, exp.Coalesce(this=b, expressions=[sql.integer(0)]), sql.column("c")]
    steps: list[tuple[str, exp.Query]] = [("neyman_units", counted), ("neyman_shares", shares)]
    return steps, [_clamped(value) for value in sums]


def _parts() -> Tree:
    return sql.wide(PARTS)


def _part(some: Tree, of: Tree) -> Tree:
    """Write 1024 some / of, rounded down."""
    return sql.cast(exp.IntDiv(this=some * _parts(), expression=of), "BIGINT")


def _clamped(value: Tree) -> Tree:
    total = exp.Coalesce(this=sql.total(value), expressions=[sql.integer(0)])
    return sql.cast(sql.clamped(sql.integer(0), total, sql.integer(_MOST)), "BIGINT")
