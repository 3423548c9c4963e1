"""A public table in place of the private one: the same steps, the same questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self, cast, final, runtime_checkable

from neyman.arguments import check_type
from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables._engines._engine import Engine
from neyman.tables._expressions._read import read_expression
from neyman.tables._statements._statement import Question
from neyman.tables._statistics._statistics import Count
from neyman.tables._unit import Rows, Unit
from neyman.tables._view import View

__all__ = ["Alike"]

_MOST = 2**62


@runtime_checkable
class _Opened(Protocol):
    """The part of `Table` that this needs."""

    @property
    def engine(self) -> Engine: ...
    @property
    def view(self) -> View: ...


@final
@dataclass(frozen=True, slots=True)
class Alike:
    """Public rows for the questions of private rows.

    Attributes:
        engine: the engine that reads them.
        view: the public rows with the private table's filters and columns.
        unit: the unit of the question; `Rows()` if the public table does not name units.
    """

    engine: Engine
    view: View
    unit: Unit

    @classmethod
    def of(cls, public: object, engine: Engine, view: View, unit: Unit) -> Self:
        """Return the public rows, made by the steps of the private ones.

        Raises:
            InvalidParameter: if they are the private rows.
            InvalidTable: if there is a step that only the owner can repeat, such as a join.
            UnknownColumn: if a column is missing.
        """
        check_type("public", public, _Opened, "a public table, from open_table(...)")
        opened = cast("_Opened", public)
        if not set(opened.engine.identities).isdisjoint(engine.identities):
            raise InvalidParameter(
                "the public table must hold other rows than the private one, because its "
                "statistics are shown without noise; got the private table itself. Write a "
                "published table, a table of another year, or simulated rows"
            )
        made = _repeated(opened.view, view)
        named = unit.entity is not None and unit.entity in made.schema.names
        return cls(opened.engine, made, unit if named else Rows())

    def rows(self) -> int:
        """Return the number of rows after joins and before filters."""
        whole = View(self.view.schema, self.view.relation, joins=self.view.joins)
        statement = Question(Count(), Rows(), None, "", _MOST).statement(whole)
        return int(self.engine.integers(statement, 2)[:, 1].sum())


def _repeated(public: View, private: View) -> View:
    """Return the public rows with the steps that they lack."""
    done = len(public.made)
    if private.made[:done] != public.made:
        raise _other_steps()
    for step in private.made[done:]:
        match step.get("step"):
            case "where":
                public = public.where(read_expression(step["condition"]))
            case "with_columns":
                forms = cast("Mapping[str, object]", step["columns"])
                made = {name: read_expression(form) for name, form in forms.items()}
                public = public.with_columns(made)
            case _:
                raise _other_steps()
    return public


def _other_steps() -> InvalidTable:
    return InvalidTable(
        "the public table must be joined as the private one is; the private one is joined, and "
        "the public one is not, or otherwise. Open it with open_table(...), join public tables to "
        "it in the same order, and give the result"
    )
