"""Functions of a Spark session that could replace Spark's own.

In Spark 4.0, a function that is registered under the name of a built-in one replaces it. In 4.3 a
setting of the session, or its path, decides. This finds such names under any setting.
"""
# pyright: basic, reportMissingImports=false

from contextlib import suppress
from typing import Any

from neyman.errors import InvalidTable
from neyman.tables._engines._spelling import words_before_brackets

__all__ = ["stand_ins"]

_PATH = "current_path"
_FIRST = ("system.builtin", "system.session,system.builtin")


def stand_ins(session: Any, *texts: str) -> list[str]:
    """Return the called functions that the session or its database also has.

    Raises:
        InvalidTable: if the session does not list its functions, or has a search path before the
            built-in ones.
    """
    found: list[str] | None = None
    path = _FIRST[0]
    with suppress(Exception):
        state = session._jsparkSession.sessionState()  # noqa: SLF001
        known = _Known(session._jvm, state.catalog())  # noqa: SLF001
        if known.is_built_in(_PATH):
            path = session.sql(f"SELECT {_PATH}()").head()[0]
        called = {_PATH}.union(*(words_before_brackets(text, "spark") for text in texts))
        found = [name for name in sorted(called) if known.is_stood_in_for(name)]
    if found is None:
        raise InvalidTable("Spark does not tell its functions; check that its session runs")
    # Temporary functions may come first: each is looked for by its name.
    if not any(path == first or path.startswith(f"{first},") for first in _FIRST):
        raise InvalidTable(
            f"the session's path is {path!r}, by which functions of a database come before Spark's "
            "own; write SET PATH = DEFAULT_PATH there"
        )
    return found


class _Known:
    """Spark's built-in functions, and those of a session."""

    def __init__(self, jvm: Any, catalog: Any):
        catalyst = jvm.org.apache.spark.sql.catalyst
        self._named = catalyst.FunctionIdentifier
        self._built_in = (
            catalyst.analysis.FunctionRegistry.builtin(),
            catalyst.analysis.TableFunctionRegistry.builtin(),
        )
        self._catalog = catalog

    def is_built_in(self, name: str) -> bool:
        return bool(self._own(name))

    def is_stood_in_for(self, name: str) -> bool:
        """Return whether a user function, or one of the current database, has a built-in's name."""
        own, named = self._own(name), self._named(name)
        return bool(own) and (
            self._catalog.isTemporaryFunction(named)
            or self._catalog.isPersistentFunction(named)
            or not any(found.equals(self._catalog.lookupFunctionInfo(named)) for found in own)
        )

    def _own(self, name: str) -> list[Any]:
        found = [registry.lookupFunction(self._named(name)) for registry in self._built_in]
        return [function.get() for function in found if function.isDefined()]
