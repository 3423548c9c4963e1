"""A whole spec, tried on public rows before anything is spent."""

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
    """Answer every query of a spec on public rows, and say what limits, bounds and noise do to it.

    The ledger is not opened, nothing is charged, and no private row is asked. The public rows are,
    and exact answers of them are shown: who calls private rows public publishes them. A file with
    the very content of one of the spec's own is refused. That another file holds the same rows, in
    another order or format, is not seen.

    Args:
        spec: from `read_spec`.
        folder: that the spec's paths are relative to.
        data: a file with the columns of the spec's table, of rows that need no protection: those of
            last year, published, or simulated ones.
        joins: a public file for each [join.NAME] by its NAME, for each [unit.through] by its `to`;
            and for a [join_public.NAME], if it shall be another one.
        runs: answers with noise that intervals are looked at for, in [1, 10^6]; fewer where they
            have many numbers.
        max_rows: limits to try for counts, sums and means; by default 1, 2, 3, 5, 10, ... to the
            most rows of one unit.

    Raises:
        InvalidParameter: if a public file is a private one, or a replacement is missing.
        InvalidTable, SpecError: if the public files do not go with the spec.
        UnknownColumn: if they lack a column.

    Error: it says nothing of the private rows but how they would behave if they were like the
        public ones.
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
    found = [row for asked in queries_of(public, folder) for row in rehearsed(asked, runs, limits)]
    return Rehearsal(title=spec.title, rows=tuple(found), notes=notes)


def _public(spec: Spec, data: Path, replaced: Mapping[str, Path]) -> Spec:
    """Return the spec with a public file in the place of every private one.

    Raises:
        InvalidParameter: if one is missing, or one is for a table that is not there.
    """
    needed = [*spec.join, *(step.to for step in spec.unit.through or ())]
    missing = [name for name in dict.fromkeys(needed) if name not in replaced]
    if missing:
        raise InvalidParameter(
            f"every private table needs a public one in its place; {_listed(missing)} "
            f"{'have' if len(missing) > 1 else 'has'} none. "
            "Give the public file of each: --join NAME=PATH, or joins={NAME: PATH}"
        )
    known = [*needed, *spec.join_public]
    for name in replaced:
        if name not in known:
            raise InvalidParameter(
                f"a public file can only replace a table of the spec; {name!r} is none. Its tables "
                f"beside the data are {_listed(known) or 'none'}"
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
    """Refuse a file with the content of a private one; return what could not be compared.

    Raises:
        InvalidParameter: naming the first.
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
                    "a rehearsal shows answers without noise, so its rows must be public; "
                    f"{path.name} has the content of {own[identity].name}, which the spec "
                    "protects. Give other rows, published or simulated"
                )
    return tuple(f"Not compared with {name}: it is not here." for name in absent)


def _new_lookups(spec: Spec, public: Spec, folder: Path) -> Iterator[Path]:
    for name, join in public.join_public.items():
        if join.path != spec.join_public[name].path:
            yield folder / join.path


def _identities(path: Path) -> tuple[str, ...]:
    return tuple(open_table(path, unit=Rows()).engine.identities)
