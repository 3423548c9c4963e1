"""The group of a row for undeclared groups.

The name of a group has the UTF-8 bytes of its keys' canonical texts, in hexadecimal digits with a
colon between columns. So different groups have different names, and no collation, case rule or
setting of an engine changes a name. The hash of names orders the groups of a unit, as the hash of
indices does for declared keys, so the choice within a unit depends on that unit's rows only.
"""

from collections.abc import Callable

from sqlglot import exp

from neyman.aggregate import FoundGroups, UnknownGroups
from neyman.errors import InvalidTable
from neyman.sensitivity import NewGroups
from neyman.tables import _sql as sql
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._limits import Limits
from neyman.tables._sql import Tree
from neyman.tables._statistics._statistic import Statistic
from neyman.tables._view import View

__all__ = ["named_groups", "new_groups", "unknown_groups"]


def named_groups(keys: UnknownKeys, view: View) -> tuple[exp.Select, Tree]:
    """Return the rows that are in a group, and the name of the group.

    Raises:
        UnknownColumn: if a grouping column is not in the view.
        InvalidTable: if its values cannot be keys.
    """
    query = view.rows()
    parts: list[Tree] = []
    for i, name in enumerate(keys.columns):
        value, _ = view.schema[name].grouped()
        query = query.where(sql.known(value))
        parts += [sql.text(":")] * (i > 0) + [sql.hexadecimal(value)]
    return query, sql.joined(*parts)


def deciding(statistic: Statistic) -> int:
    """Return the integer that counts rows: the largest constant contribution.

    Its limits identify it, because the statement clamps contributions to them. So it counts rows
    for any statistic, even a wrong one.

    Raises:
        InvalidTable: if no integer counts rows.
    """
    counts = {
        i: part.low for i, part in enumerate(statistic.components) if part.low == part.high > 0
    }
    if not counts:
        raise InvalidTable(
            "unknown groups are found by a noisy count of their rows, and "
            f"{statistic.describe()['statistic']} does not count rows. Write a mean, a variance, a "
            "covariance, a correlation or a linear regression, which do, or put Count() among "
            "the statistics, or count by UnknownKeys first and then write by=Keys({...}) with the "
            "groups in the answer"
        )
    return max(counts, key=counts.__getitem__)


def new_groups(statistic: Statistic, limits: Limits) -> NewGroups:
    """Return the contributions of one unit alone: its rows in each of its groups."""
    weight = statistic.components[deciding(statistic)].high
    return NewGroups(most=limits.groups, largest=limits.rows * weight)


def unknown_groups(
    keys: UnknownKeys, statistic: Statistic, view: View, find: Callable[[], FoundGroups]
) -> UnknownGroups:
    """Return the public part of the groups, and the function that finds them."""
    parsers = {name: view.schema[name].grouped()[1] for name in keys.columns}
    return UnknownGroups(
        parsers=parsers,
        width=len(statistic.components),
        count=deciding(statistic),
        rows=statistic.rows,
        find=find,
    )
