"""At most g groups a unit, then at most r rows a group, chosen alike on every engine.

pairs      per unit and group: rows n, component sums
kept       the g pairs of each unit that come first by md5(salt, group, unit)
crowded    kept pairs of more than r rows
numbered   their rows, equal ones of a pair numbered 1, 2, ... so that they part ways
ranked     the same rows in the order of md5(salt, group, k0, k1, ..., number, unit)
parts      sums of the other kept pairs, and the first r rows of the crowded ones; of a histogram
           no sums but places k, with rows n

The choice within a unit depends on that unit's rows only, so removing another unit changes
nothing. Hashes take integers and text, never the text of a float.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._sql import Tree

__all__ = ["Bounding"]

Step: TypeAlias = tuple[str, exp.Query]


@final
@dataclass(frozen=True, slots=True)
class Bounding:
    """Contribution bounds of one unit, as steps from `neyman_rows` to `neyman_parts`.

    Attributes:
        groups: g, or None where there is one group only.
        rows: r.
        salt: of the hashes.
        adds: what a row adds, by name; over the integers of `neyman_rows`.
        integers: the columns of `neyman_rows` that tell its rows apart, k0, k1, ... or place k.
    """

    groups: int | None
    rows: int
    salt: str
    adds: Sequence[tuple[str, Tree]]
    integers: Sequence[str] = ()

    def equal_rows(self) -> list[Step]:
        """Return the steps where all rows add the same, so that any r of them will do."""
        n = exp.Least(this=sql.column("n"), expressions=[sql.integer(self.rows)], ignore_nulls=True)
        pairs = (
            _from("rows", "u", "j")
            .select(sql.named(sql.count(), "n"))
            .group_by(*_columns("u", "j"))
        )
        parts = _from("kept", "j").select(
            *(sql.named(sql.cast(n, sql.WIDE) * add, name) for name, add in self.adds)
        )
        return [("neyman_pairs", pairs), self._kept("n"), ("neyman_parts", parts)]

    def chosen_rows(self) -> list[Step]:
        """Return the steps where it matters which rows are kept."""
        names = [name for name, _ in self.adds]
        pairs = (
            _from("rows", "u", "j")
            .select(sql.named(sql.count(), "n"))
            .select(*(sql.named(sql.total(add), name) for name, add in self.adds))
            .group_by(*_columns("u", "j"))
        )
        crowded = _from("kept", "u", "j").where(sql.column("n") > sql.integer(self.rows))
        return [
            ("neyman_pairs", pairs),
            self._kept("n", *names),
            ("neyman_crowded", crowded),
            ("neyman_numbered", self._numbered()),
            ("neyman_ranked", self._ranked()),
            ("neyman_parts", self._parts(names)),
        ]

    def counted_rows(self) -> list[Step]:
        """Return the steps where rows are counted at each k; those without one are nobody's."""
        k, n = sql.column("k"), sql.column("n")
        cells = _from("rows", "u", "j", "k").select(sql.named(sql.count(), "n"))
        pairs = _from("cells", "u", "j").select(sql.named(sql.total(n), "n"))
        crowded = _from("kept", "u", "j").where(n > sql.integer(self.rows))
        return [
            ("neyman_cells", cells.where(sql.known(k)).group_by(*_columns("u", "j", "k"))),
            ("neyman_pairs", pairs.group_by(*_columns("u", "j"))),
            self._kept("n"),
            ("neyman_crowded", crowded),
            ("neyman_numbered", self._numbered().where(sql.known(sql.column("k", "neyman_rows")))),
            ("neyman_ranked", self._ranked()),
            ("neyman_parts", self._cells()),
        ]

    def _kept(self, *names: str) -> Step:
        if self.groups is None:
            return "neyman_kept", _from("pairs", "u", "j", *names)
        order = self._hash(sql.column("j"))
        place = _row_number(_columns("u"), [order, sql.column("j")])
        ranked = _from("pairs", "u", "j", *names).select(sql.named(place, "place"))
        kept = exp.select(*_columns("u", "j", *names)).from_(
            ranked.subquery(sql.identifier("placed"))
        )
        return "neyman_kept", kept.where(sql.column("place") <= sql.integer(self.groups))

    def _numbered(self) -> exp.Select:
        u, j, *k = (sql.column(name, "neyman_rows") for name in ("u", "j", *self.integers))
        same = exp.and_(
            sql.column("u", "neyman_crowded").eq(u), sql.column("j", "neyman_crowded").eq(j)
        )
        # In no order: the rows of one number are alike, and sorting them costs a third more.
        number = exp.Window(this=exp.RowNumber(), partition_by=[u, j, *k])
        return (
            exp.select(u, j, *k, sql.named(number, "number"))
            .from_(sql.relation("neyman_rows"))
            .join(sql.relation("neyman_crowded"), on=same)
        )

    def _ranked(self) -> exp.Query:
        rows = _columns(*self.integers, "number")
        order = self._hash(sql.column("j"), *rows)
        place = _row_number(_columns("u", "j"), [order, *rows])
        return _from("numbered", "j", *self.integers).select(sql.named(place, "place"))

    def _parts(self, names: Sequence[str]) -> exp.Query:
        most = sql.integer(self.rows)
        light = _from("kept", "j", *names).where(sql.column("n") <= most)
        rows = (sql.named(sql.cast(add, sql.WIDE), name) for name, add in self.adds)
        chosen = _from("ranked", "j").select(*rows).where(sql.column("place") <= most)
        return exp.union(light, chosen, distinct=False)

    def _cells(self) -> exp.Query:
        most = sql.integer(self.rows)
        same = exp.and_(
            *(sql.column(x, "neyman_kept").eq(sql.column(x, "neyman_cells")) for x in "uj")
        )
        light = (
            exp.select(*(sql.column(name, "neyman_cells") for name in "jkn"))
            .from_(sql.relation("neyman_cells"))
            .join(sql.relation("neyman_kept"), on=same)
            .where(sql.column("n", "neyman_kept") <= most)
        )
        one = sql.named(sql.cast(sql.integer(1), "BIGINT"), "n")
        chosen = _from("ranked", "j", "k").select(one).where(sql.column("place") <= most)
        return exp.union(light, chosen, distinct=False)

    def _hash(self, *integers: Tree) -> Tree:
        """md5 of salt:integer:...:unit; no integer holds a colon, so no two inputs are alike."""
        parts = [sql.text(f"{self.salt}:")]
        for value in integers:
            parts += [sql.cast(value, "TEXT"), sql.text(":")]
        return sql.md5(sql.joined(sql.encoded(sql.joined(*parts)), sql.column("u")))


def _from(step: str, *names: str) -> exp.Select:
    return exp.select(*_columns(*names)).from_(sql.relation(f"neyman_{step}"))


def _columns(*names: str) -> list[Tree]:
    return [sql.column(name) for name in names]


def _row_number(within: Sequence[Tree], order: Sequence[Tree]) -> Tree:
    ordered = [exp.Ordered(this=value, nulls_first=False) for value in order]
    return exp.Window(
        this=exp.RowNumber(), partition_by=list(within), order=exp.Order(expressions=ordered)
    )
