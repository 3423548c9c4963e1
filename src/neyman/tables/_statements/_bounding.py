"""At most g groups a unit, at most r rows a group and m rows in all, alike on every engine.

pairs      per unit and group: rows n, component sums
kept       the g pairs of each unit that come first by md5(salt, group, unit)
weighed    the same with t, the rows that r leaves of the unit in all; where m has a say
crowded    kept pairs of more than r rows, and all of units of more than m
numbered   their rows, equal ones of a pair numbered 1, 2, ... so that they part ways
ranked     the same rows in the order of md5(salt, group, k0, k1, ..., number, unit) in their pair;
           without a place where r is m
rationed   the first r of them in the order of its second half in their unit; where m has a say
parts      sums of the other kept pairs, and what is left of the crowded ones; of a histogram
           no sums but places k, with rows n

The choice within a unit depends on that unit's rows only, so removing another unit changes
nothing. Hashes take integers and text, never the text of a float. The first r rows of a pair have
small digests; their second halves are as random as any, so no pair is preferred for its size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree

__all__ = ["Bounding"]

Step: TypeAlias = tuple[str, exp.Query]

# Of the 32 digits of a digest, where the second half begins.
_HALF = 17


@final
@dataclass(frozen=True, slots=True)
class Bounding:
    """Contribution bounds of one unit, as steps from `neyman_rows` to `neyman_parts`.

    Attributes:
        limits: g, r and m.
        salt: of the hashes.
        adds: what a row adds, by name; over the integers of `neyman_rows`.
        integers: the columns of `neyman_rows` that tell its rows apart, k0, k1, ... or place k.
    """

    limits: Limits
    salt: str
    adds: Sequence[tuple[str, Tree]]
    integers: Sequence[str] = ()

    def equal_rows(self) -> list[Step]:
        """Return the steps where all rows add the same, so that any of a group will do."""
        if self.limits.cut_total is not None:
            return self.chosen_rows()
        n = _least(self.limits.rows)
        pairs = (
            _from("rows", "u", "j")
            .select(sql.named(sql.count(), "n"))
            .group_by(*_columns("u", "j"))
        )
        parts = _from("kept", "j").select(
            *(sql.named(sql.cast(n, sql.WIDE) * add, name) for name, add in self.adds)
        )
        return [("neyman_pairs", pairs), *self._kept("n"), ("neyman_parts", parts)]

    def chosen_rows(self) -> list[Step]:
        """Return the steps where it matters which rows are kept."""
        names = [name for name, _ in self.adds]
        pairs = (
            _from("rows", "u", "j")
            .select(sql.named(sql.count(), "n"))
            .select(*(sql.named(sql.total(add), name) for name, add in self.adds))
            .group_by(*_columns("u", "j"))
        )
        return [
            ("neyman_pairs", pairs),
            *self._kept("n", *names),
            *self._ranked(self._numbered()),
            ("neyman_parts", self._parts(names)),
        ]

    def counted_rows(self) -> list[Step]:
        """Return the steps where rows are counted at each k; those without one are nobody's."""
        k, n = sql.column("k"), sql.column("n")
        cells = _from("rows", "u", "j", "k").select(sql.named(sql.count(), "n"))
        pairs = _from("cells", "u", "j").select(sql.named(sql.total(n), "n"))
        numbered = self._numbered().where(sql.known(sql.column("k", "neyman_rows")))
        return [
            ("neyman_cells", cells.where(sql.known(k)).group_by(*_columns("u", "j", "k"))),
            ("neyman_pairs", pairs.group_by(*_columns("u", "j"))),
            *self._kept("n"),
            *self._ranked(numbered),
            ("neyman_parts", self._cells()),
        ]

    @property
    def _last(self) -> str:
        """The step that tells which pairs are kept, and whether a cut is to be made in them."""
        return "kept" if self.limits.cut_total is None else "weighed"

    def _light(self, table: str | None = None) -> Tree:
        """Whether all rows of a pair are kept."""
        light: Tree = sql.column("n", table) <= sql.integer(self.limits.rows)
        if self.limits.cut_total is not None:
            light = exp.and_(light, sql.column("t", table) <= sql.integer(self.limits.total))
        return light

    def _kept(self, *names: str) -> list[Step]:
        most = self.limits.cut_groups
        kept = _from("pairs", "u", "j", *names)
        if most is not None:
            order = self._hash(sql.column("j"))
            place = _row_number(_columns("u"), [order, sql.column("j")])
            placed = kept.select(sql.named(place, "place")).subquery(sql.identifier("placed"))
            kept = exp.select(*_columns("u", "j", *names)).from_(placed)
            kept = kept.where(sql.column("place") <= sql.integer(most))
        if self.limits.cut_total is None:
            return [("neyman_kept", kept)]
        left = exp.Window(this=sql.total(_least(self.limits.rows)), partition_by=_columns("u"))
        weighed = _from("kept", "u", "j", *names).select(sql.named(left, "t"))
        return [("neyman_kept", kept), ("neyman_weighed", weighed)]

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

    def _ranked(self, numbered: exp.Query) -> list[Step]:
        crowded = _from(self._last, "u", "j").where(exp.not_(self._light()))
        steps: list[Step] = [("neyman_crowded", crowded), ("neyman_numbered", numbered)]
        rows, total = self.limits.rows, self.limits.cut_total
        names = ("j", *self.integers)
        digest = self._hash(sql.column("j"), *_columns(*self.integers, "number"))
        half = exp.Substring(this=digest.copy(), start=sql.integer(_HALF))
        in_all = _row_number(_columns("u"), [sql.column("half"), *_columns(*names, "number")])
        if total is None or rows < total:
            order = [digest, *_columns(*self.integers, "number")]
            place = _row_number(_columns("u", "j"), order)
            ranked = _from("numbered", *names).select(sql.named(place, "place"))
            if total is not None:
                ranked = ranked.select(*_columns("u", "number"), sql.named(half, "half"))
            steps.append(("neyman_ranked", ranked))
        else:
            hashed = _from("numbered", *names, "u", "number").select(sql.named(half, "half"))
            steps.append(("neyman_ranked", hashed))
        if total is not None:
            rationed = _from("ranked", *names).select(sql.named(in_all, "place"))
            if rows < total:
                rationed = rationed.where(sql.column("place") <= sql.integer(rows))
            steps.append(("neyman_rationed", rationed))
        return steps

    def _chosen(self, *names: str) -> exp.Select:
        if self.limits.cut_total is None:
            most, step = self.limits.rows, "ranked"
        else:
            most, step = self.limits.total, "rationed"
        return _from(step, *names).where(sql.column("place") <= sql.integer(most))

    def _parts(self, names: Sequence[str]) -> exp.Query:
        light = _from(self._last, "j", *names).where(self._light())
        rows = (sql.named(sql.cast(add, sql.WIDE), name) for name, add in self.adds)
        return exp.union(light, self._chosen("j").select(*rows), distinct=False)

    def _cells(self) -> exp.Query:
        last = f"neyman_{self._last}"
        same = exp.and_(*(sql.column(x, last).eq(sql.column(x, "neyman_cells")) for x in "uj"))
        light = (
            exp.select(*(sql.column(name, "neyman_cells") for name in "jkn"))
            .from_(sql.relation("neyman_cells"))
            .join(sql.relation(last), on=same)
            .where(self._light(last))
        )
        one = sql.named(sql.cast(sql.integer(1), "BIGINT"), "n")
        return exp.union(light, self._chosen("j", "k").select(one), distinct=False)

    def _hash(self, *integers: Tree) -> Tree:
        """md5 of salt:group:integer:...:unit.

        No two inputs are alike: no integer holds a colon, and names of unknown groups all hold as
        many.
        """
        parts = [sql.text(f"{self.salt}:")]
        for value in integers:
            parts += [sql.cast(value, "TEXT"), sql.text(":")]
        return sql.md5(sql.joined(sql.encoded(sql.joined(*parts)), sql.column("u")))


def _from(step: str, *names: str) -> exp.Select:
    return exp.select(*_columns(*names)).from_(sql.relation(f"neyman_{step}"))


def _least(most: int) -> Tree:
    """The rows of a pair, or at most so many."""
    return exp.Least(this=sql.column("n"), expressions=[sql.integer(most)], ignore_nulls=True)


def _columns(*names: str) -> list[Tree]:
    return [sql.column(name) for name in names]


def _row_number(within: Sequence[Tree], order: Sequence[Tree]) -> Tree:
    ordered = [exp.Ordered(this=value, nulls_first=False) for value in order]
    return exp.Window(
        this=exp.RowNumber(), partition_by=list(within), order=exp.Order(expressions=ordered)
    )
