"""At most r rows of a unit in a group and m rows in all, the same on every engine.

pairs      for each unit and group: rows n, component sums
kept       all pairs; if r is 1, the first m of each unit by md5(salt, group, unit)
weighed    the same with t, the rows of the unit that remain after r; if m can cut
crowded    kept pairs with more than r rows, and all pairs of units with more than m
alike      their rows, with equal rows of a pair counted: c
spread     the same, one row for each 1024 of c or a part of them, with the start of md5's text
numbered   crowded rows, with equal ones of a pair numbered 1, 2, ..., c to make them different
hashed     the same with their md5(salt, group, k0, k1, ..., number, unit)
ranked     rows whose digest is below the pair's cut, in its order within the pair; if r is m, all
           rows, without a place
rationed   the first r of them, ordered by the second half of the digest in their unit; if m can cut
parts      sums of the other kept pairs, and the remaining crowded rows; for a histogram places k
           with rows n instead of sums

The choice within a unit depends on that unit's rows only, so removing another unit changes nothing.
Hashes take integers and text, never the text of a float. The first r rows of a pair have small
digests, but the second halves of these are random. So the size of a pair gives no preference.

The cut limits the number of sorted rows. It is a share of all digests that depends on n only, and
leaves m = 2 r + 92 of a pair's n rows on average, or up to half as many more. By Chernoff's bound
fewer than r remain with a probability below exp(-(m - r)^2 / 2 m) <= e^-46. Then only those are
taken: in any case at most r, and only rows of the unit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree

__all__ = ["Bounding"]

Step: TypeAlias = tuple[str, exp.Query]

# Of the 32 digits of a digest, where the second half begins.
_HALF = 17
# Equal rows are numbered in blocks, for an engine may make a list of the numbers.
_BLOCK = 1024
# Digits, and one of how many digests is below them: 1, 4/3, 2, 8/3, 4, ...
_SHARES = {"c": "12", "8": "8", "6": "6", "4": "4", "3": "3", "2": "2", "18": "3/2", "1": "1"}
_CUTS = (
    ("g", Fraction(1)),
    *(
        ("0" * zeros + digits, 16 ** (zeros + 1) / Fraction(share))
        for zeros in range(8)
        for digits, share in _SHARES.items()
    ),
)


@final
@dataclass(frozen=True, slots=True)
class Bounding:
    """Contribution bounds of one unit, as steps from `neyman_rows` to `neyman_parts`.

    Attributes:
        limits: the contribution limits r and m.
        salt: the salt of the hashes.
        adds: the contributions of a row by name, from the integers of `neyman_rows`.
        integers: the columns of `neyman_rows` that distinguish its rows, k0, k1, ... or place k.
        moved: whether `neyman_rows` has x, which is 1 if a value was moved to its bounds, else 0;
            pairs have its sum.
    """

    limits: Limits
    salt: str
    adds: Sequence[tuple[str, Tree]]
    integers: Sequence[str] = ()
    moved: bool = False

    def equal_rows(self) -> list[Step]:
        """Return the steps if all rows add the same, so that any rows of a group can be kept."""
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
        """Return the steps if the choice of rows matters."""
        names = [name for name, _ in self.adds]
        return [
            self._pairs(self.adds),
            *self._kept("n", *names),
            *self._ranked(self._alike()),
            ("neyman_parts", self._parts(names)),
        ]

    def counted_rows(self) -> list[Step]:
        """Return the steps that count rows at each k; rows without k belong to nobody."""
        k, n = sql.column("k"), sql.column("n")
        cells = _from("rows", "u", "j", "k").select(sql.named(sql.count(), "n"))
        pairs = _from("cells", "u", "j").select(sql.named(sql.total(n), "n"))
        if self.moved:
            x = sql.named(sql.total(sql.column("x")), "x")
            cells, pairs = cells.select(x), pairs.select(x.copy())
        return [
            ("neyman_cells", cells.where(sql.known(k)).group_by(*_columns("u", "j", "k"))),
            ("neyman_pairs", pairs.group_by(*_columns("u", "j"))),
            *self._kept("n"),
            *self._ranked(self._alike_cells()),
            ("neyman_parts", self._cells()),
        ]

    def units(self, parts: Sequence[tuple[str, Tree]]) -> list[Step]:
        """Return the steps if a unit adds once to a group, by the sums of its rows there.

        Args:
            parts: its contributions by name, from its rows n and the sums of the integers.
        """
        sums = [(name, sql.column(name)) for name in self.integers]
        kept = _from("kept", "j").select(*(sql.named(add, name) for name, add in parts))
        return [self._pairs(sums), *self._kept("n", *self.integers), ("neyman_parts", kept)]

    def _pairs(self, sums: Sequence[tuple[str, Tree]]) -> Step:
        added = [*sums, ("x", sql.column("x"))] if self.moved else sums
        pairs = _from("rows", "u", "j").select(sql.named(sql.count(), "n"))
        pairs = pairs.select(*(sql.named(sql.total(add), name) for name, add in added))
        return "neyman_pairs", pairs.group_by(*_columns("u", "j"))

    @property
    def _last(self) -> str:
        """The step with the kept pairs, and whether rows in them are cut."""
        return "kept" if self.limits.cut_total is None else "weighed"

    def _light(self, table: str | None = None) -> Tree:
        """Return whether all rows of a pair are kept."""
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

    def _alike(self) -> exp.Select:
        names = [sql.column(name, "neyman_rows") for name in ("u", "j", *self.integers)]
        n = exp.Min(this=sql.column("n", "neyman_crowded"))
        rows = _crowded("rows", names)
        return rows.select(sql.named(sql.count(), "c"), sql.named(n, "n")).group_by(*names)

    def _alike_cells(self) -> exp.Select:
        names = [sql.column(name, "neyman_cells") for name in ("u", "j", *self.integers)]
        c, n = sql.column("n", "neyman_cells"), sql.column("n", "neyman_crowded")
        return _crowded("cells", names).select(sql.named(c, "c"), n)

    def _hashed(self) -> list[Step]:
        """Return the steps from counted equal rows to numbered rows and their digests."""
        names, c = ("u", "j", *self.integers), sql.column("c")
        head = self._head(*_columns("j", *self.integers))
        begin = sql.each(sql.wide(0), c - sql.integer(1), sql.wide(_BLOCK))
        # Once for all that are equal, and not for each.
        tail = sql.joined(sql.encoded(sql.text(":")), sql.column("u"))
        made = {"cut": self._cut(), "head": head, "tail": tail, "begin": begin}
        spread = _from("alike", *names, "c").select(*(sql.named(made[x], x) for x in made))
        first, last = (sql.column("begin") + sql.wide(more) for more in (1, _BLOCK))
        end = exp.Least(this=last, expressions=[c], ignore_nulls=True)
        number = sql.named(sql.each(first, end, sql.wide(1)), "number")
        numbered = _from("spread", *names, "cut", "head", "tail").select(number)
        middle = sql.joined(sql.encoded(sql.column("number")), sql.column("tail"))
        digest = sql.md5(sql.joined(sql.column("head"), sql.part(middle)))
        hashed = _from("numbered", *names, "cut", "number").select(sql.named(digest, "digest"))
        return [
            ("neyman_spread", spread),
            ("neyman_numbered", numbered),
            ("neyman_hashed", hashed),
        ]

    def _cut(self) -> Tree:
        """Return the digest below which the first r digests of a pair almost surely are."""
        n, most = sql.column("n"), 2 * self.limits.rows + 92
        # A pair has at most 2^62 rows.
        finer = [math.ceil(most * each) for _, each in _CUTS[1:]]
        bounds = [bound for bound in finer if bound < 2**62]
        if not bounds:
            return sql.text(_CUTS[0][0])
        cut = exp.Case(default=sql.text(_CUTS[len(bounds)][0]))
        for bound, (digits, _) in zip(bounds, _CUTS, strict=False):
            cut = cut.when(n < sql.integer(bound), sql.text(digits), copy=False)
        return cut

    def _ranked(self, alike: exp.Query) -> list[Step]:
        crowded = _from(self._last, "u", "j", "n").where(exp.not_(self._light()))
        steps: list[Step] = [("neyman_crowded", crowded), ("neyman_alike", alike)]
        steps += self._hashed()
        rows, total = self.limits.rows, self.limits.cut_total
        names, digest = ("j", *self.integers), sql.column("digest")
        half = exp.Substring(this=digest, start=sql.integer(_HALF))
        in_all = _row_number(_columns("u"), [sql.column("half"), *_columns(*names, "number")])
        if total is None or rows < total:
            order = [digest, *_columns(*self.integers, "number")]
            place = _row_number(_columns("u", "j"), order)
            ranked = _from("hashed", *names).select(sql.named(place, "place"))
            ranked = ranked.where(digest < sql.column("cut"))
            if total is not None:
                ranked = ranked.select(*_columns("u", "number"), sql.named(half, "half"))
            steps.append(("neyman_ranked", ranked))
        else:
            hashed = _from("hashed", *names, "u", "number").select(sql.named(half, "half"))
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
        return exp.union(light, self._chosen("j").select(*rows), distinct=False, copy=False)

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
        return exp.union(light, self._chosen("j", "k").select(one), distinct=False, copy=False)

    def _hash(self, j: Tree) -> Tree:
        """Return md5 of salt:group:unit."""
        return sql.md5(sql.joined(self._head(j), sql.column("u")))

    def _head(self, *integers: Tree) -> Tree:
        """Return salt:group:integer:...: in bytes.

        All inputs of a digest are different: an integer has no colon, and names of unknown groups
        all have the same number of colons.
        """
        parts = [sql.text(f"{self.salt}:")]
        for value in integers:
            parts += [sql.cast(value, "TEXT"), sql.text(":")]
        return sql.encoded(sql.joined(*parts))


def _crowded(step: str, names: Sequence[Tree]) -> exp.Select:
    """Return columns of the rows of a step in crowded pairs."""
    same = exp.and_(
        *(sql.column(x, "neyman_crowded").eq(sql.column(x, f"neyman_{step}")) for x in "uj")
    )
    rows = exp.select(*names).from_(sql.relation(f"neyman_{step}"))
    return rows.join(sql.relation("neyman_crowded"), on=same)


def _from(step: str, *names: str) -> exp.Select:
    return exp.select(*_columns(*names)).from_(sql.relation(f"neyman_{step}"), copy=False)


def _least(most: int) -> Tree:
    """Return the number of rows of a pair, at most `most`."""
    return exp.Least(this=sql.column("n"), expressions=[sql.integer(most)], ignore_nulls=True)


def _columns(*names: str) -> list[Tree]:
    return [sql.column(name) for name in names]


def _row_number(within: Sequence[Tree], order: Sequence[Tree]) -> Tree:
    ordered = [exp.Ordered(this=value, nulls_first=False) for value in order]
    return exp.Window(
        this=exp.RowNumber(), partition_by=list(within), order=exp.Order(expressions=ordered)
    )
