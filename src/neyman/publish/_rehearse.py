"""Rehearses a spec on public rows before anything is spent."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.publish._compile import private_files, queries_of
from neyman.publish._data import UnitOf
from neyman.publish._rehearsal import Rehearsal
from neyman.publish._rehearsed_query import rehearsed
from neyman.publish._spec import Spec
from neyman.tables import Rows, open_table

__all__ = ["rehearse"]

_NO_JOINS: Final[Mapping[str, str | Path]] = MappingProxyType({})


def rehearse(
    spec: Spec,
    folder: Path,
    *,
    data: str | Path,
    joins: Mapping[str, str | Path] = _NO_JOINS,
    runs: int = 200,
    max_rows: Sequence[int] = (),
) -> Rehearsal:
    """Answer every query of a spec on public rows, with the effect of limits, bounds and noise.

    The ledger is not opened, nothing is charged, and no private row is read. The result has exact
    answers about the public rows, so do not pass private rows as public ones. A file with the same
    content as one of the spec is refused. The check does not recognise the same rows in another
    order or format.

    Args:
        spec: a result of `read_spec`.
        folder: the folder that the paths of the spec are relative to.
        data: a file with the columns of the spec's table, whose rows need no protection, such as
            published rows of last year, or simulated ones.
        joins: a public file for each [join.NAME] by its NAME, and for each [unit.through] by its
            `to`; for a [join_public.NAME] only if you want another one.
        runs: the number of noisy answers to simulate, in [1, 10^6]; fewer for answers with many
            numbers.
        max_rows: limits to try for counts, sums and means; by default 1, 2, 3, 5, 10, ... up to the
            most rows of one unit.

    Raises:
        InvalidParameter: if a public file is a private one, or a replacement is missing.
        InvalidTable, SpecError: if the public files do not fit the spec.
        UnknownColumn: if they do not have a column.

    Error: the results apply to the private rows only if these resemble the public ones.
    """
    check_type("spec", spec, Spec, "a spec, from read_spec(path)")
    check_type("joins", joins, Mapping, 'public files by NAME, such as {"stays": "stays.parquet"}')
    for name, path in (("data", data), *joins.items()):
        check_type(name, path, str | Path, "the path of a file of public rows")
    runs = whole("runs", runs, 1, 10**6)
    limits = [whole("max_rows", limit, 1, 2**40) for limit in max_rows]
    replaced = {name: Path(path).resolve() for name, path in joins.items()}
    public = _public(spec, Path(data).resolve(), replaced)
    notes = _refuse_private(spec, public, folder)
    found = [row for query in queries_of(public, folder) for row in rehearsed(query, runs, limits)]
    return Rehearsal(title=spec.title, rows=tuple(found), notes=notes)


def _public(spec: Spec, data: Path, replaced: Mapping[str, Path]) -> Spec:
    """Return the spec with a public file instead of every private one.

    Raises:
        InvalidParameter: if one is missing, or one is for an unknown table.
    """
    needed = [*spec.join, *(step.to for step in spec.unit.through or ())]
    missing = [name for name in dict.fromkeys(needed) if name not in replaced]
    if missing:
        raise InvalidParameter(
            f"every private table needs a public replacement; {_listed(missing)} "
            f"{'have' if len(missing) > 1 else 'has'} none. "
            "Write the public file of each: --join NAME=PATH, or joins={NAME: PATH}"
        )
    known = [*needed, *spec.join_public]
    for name in replaced:
        if name not in known:
            raise InvalidParameter(
                f"a public file must replace a table of the spec; got {name!r}. Write one of "
                f"{_listed(known) or 'none, as there are no other tables'}"
            )
    return spec.model_copy(
        update={
            "data": spec.data.model_copy(update={"path": str(data)}),
            "unit": _unit(spec.unit, replaced),
            "join": {
                name: join.model_copy(update={"path": str(replaced[name])})
                for name, join in spec.join.items()
            },
            "join_public": {
                name: join.model_copy(update={"path": str(replaced.get(name, join.path))})
                for name, join in spec.join_public.items()
            },
        }
    )


def _unit(unit: UnitOf, replaced: Mapping[str, Path]) -> UnitOf:
    if unit.through is None:
        return unit
    steps = [step.model_copy(update={"to": str(replaced[step.to])}) for step in unit.through]
    return unit.model_copy(update={"through": steps})


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _refuse_private(spec: Spec, public: Spec, folder: Path) -> tuple[str, ...]:
    """Refuse a file with the content of a private one; return the files that are not compared.

    Raises:
        InvalidParameter: if there is one; the error names it.
    """
    own: dict[str, Path] = {}
    absent: list[str] = []
    for path in private_files(spec, folder):
        if path.is_file():
            own |= dict.fromkeys(_identities(path), path)
        else:
            absent.append(path.name)
    shown = (*private_files(public, folder), *_new_lookups(spec, public, folder))
    for path in shown:
        for identity in _identities(path):
            if identity in own:
                raise InvalidParameter(
                    "a rehearsal needs public rows, because its answers have no noise; "
                    f"{path.name} has the content of {own[identity].name}, which the spec "
                    "protects. Write a file with other rows, published or simulated"
                )
    return tuple(f"Not compared with {name}, which does not exist here." for name in absent)


def _new_lookups(spec: Spec, public: Spec, folder: Path) -> Iterator[Path]:
    for name, join in public.join_public.items():
        if join.path != spec.join_public[name].path:
            yield folder / join.path


def _identities(path: Path) -> tuple[str, ...]:
    return tuple(open_table(path, unit=Rows()).engine.identities)
