"""The record of a training, a file beside the weights: the evidence for its guarantee."""

import json
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, cast, final

from neyman.arguments import brief, check_name, whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.files import check_target, write_text
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.training._fields import MOST_ITEMS, Fields, object_of_text
from neyman.training._finding import Finding
from neyman.training._phase import Phase
from neyman.training._pricing import guarantee_of
from neyman.training._progress import Progress, along
from neyman.training._ranks import check_alike, merged_phases

__all__ = ["Check", "RunRecord", "loaded_versions"]

_FORMAT, _VERSION = "neyman.run", 1
_MOST_BYTES: Final = 2**25
_MOST_RECORDS: Final = 2**52
_MOST_RANKS: Final = 2**20
_KEYS: Final = {
    *("format", "version", "versions", "unit", "neighbors", "records", "dataset", "phases"),
    *("curve", "assumptions", "checks", "findings", "ranks", "world", "sharded"),
    "tuning_runs",
}
_HEAD: Final = 100
# What the ranks of one training have in common.
_SHARED: Final = (
    *("versions", "unit", "neighbors", "records", "dataset", "assumptions", "tuning_runs"),
    *("world", "sharded"),
)
_LIBRARIES: Final = ("neyman", "numpy", "torch", "opacus", "jax")


def loaded_versions() -> dict[str, str]:
    """Return the versions of Python, neyman, numpy, and the loaded frameworks.

    >>> {"neyman", "numpy", "python"} <= set(loaded_versions())
    True
    """
    loaded = {name: sys.modules[name] for name in _LIBRARIES if name in sys.modules}
    found = {name: getattr(module, "__version__", "unknown") for name, module in loaded.items()}
    return {"python": platform.python_version()} | {name: str(one) for name, one in found.items()}


@final
@dataclass(frozen=True, slots=True)
class Check:
    """A check that was made during the training.

    Attributes:
        name: name of the fault that it looks for, as in `Finding.name`.
        passed: whether the fault was not found.
    """

    name: str
    passed: bool


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(Displayed):
    """The record of a training: what it did, and what that guarantees.

    Write it beside the weights. From the file, anybody can compute the guarantee again, and
    `doctor` and `neyman check` find faults without the training's framework.

    Attributes:
        phases: the phases of the training, in order.
        unit: the privacy unit in words, such as "one image".
        neighbors: the neighbouring relation, "add_remove" or "replace_one".
        records: the number of records if it is public; else None.
        dataset: a name or a keyed digest that you choose; None if it is not recorded.
        assumptions: the assumptions of the guarantee, one sentence each.
        checks: the checks that were made during the training.
        findings: the faults that were found during the training.
        versions: versions of Python and the libraries of the training.
        ranks: the ranks whose records are merged in this one.
        world: the number of processes of the training.
        sharded: whether each process sampled from its own share of the records, with its own seed.
            If not, all processes draw the same batch and divide it.
        tuning_runs: number of other trainings on the same data that helped to choose this one; None
            if it is not declared.
        claimed: the guarantee that the file states; None if it is that of the phases.

    >>> phase = Phase.poisson(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    >>> run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove")
    >>> f"{run.curve.epsilon(1e-5):.4f}"
    '1.8282'
    """

    phases: tuple[Phase, ...]
    unit: str
    neighbors: Neighbors
    records: int | None = None
    dataset: str | None = None
    assumptions: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()
    versions: Mapping[str, str] = field(default_factory=loaded_versions, hash=False)
    ranks: tuple[int, ...] = (0,)
    world: int = 1
    sharded: bool = False
    tuning_runs: int | None = None
    claimed: TradeOff | None = None

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a field is out of range.
        """
        check_name("unit", self.unit)
        check_neighbors(self.neighbors)
        if self.dataset is not None:
            check_name("dataset", self.dataset)
        if self.records is not None:
            whole("records", self.records, 1, _MOST_RECORDS)
        if self.tuning_runs is not None:
            whole("tuning_runs", self.tuning_runs, 0, _MOST_RECORDS)
        whole("world", self.world, 1, _MOST_RANKS)
        ranks = sorted(set(self.ranks))
        if list(self.ranks) != ranks or not ranks or ranks[0] < 0 or ranks[-1] >= self.world:
            raise InvalidParameter(
                f"ranks must be increasing numbers from 0 to world - 1 = {self.world - 1}; got "
                f"{brief(self.ranks)}. Write the ranks of torch.distributed"
            )
        object.__setattr__(self, "phases", _phases(self.phases))
        several = (self.phases, self.assumptions, self.checks, self.findings, self.versions)
        if max(map(len, several)) > MOST_ITEMS:
            raise InvalidParameter(
                f"a record holds at most {MOST_ITEMS} phases, assumptions, checks, findings and "
                "versions of each; merge phases that are alike"
            )
        object.__setattr__(self, "versions", MappingProxyType(dict(self.versions)))

    @property
    def curve(self) -> TradeOff:
        """The guarantee of the phases together, computed now.

        Guarantee: it holds if each phase did what it records, and no step of a seed was taken
            twice;
            `doctor` checks both as far as a record shows them.

        Raises:
            InvalidParameter: if a sampler is not known.
            RelationMismatch: if no guarantee is proved for the relation.
        """
        return guarantee_of(self.phases, self.neighbors)

    @property
    def steps(self) -> int:
        """The number of steps that were taken."""
        return sum(phase.steps for phase in self.phases)

    def epsilon_over_steps(self, delta: float, points: int = 100) -> Progress:
        """Return epsilon along the training.

        Args:
            delta: the delta of every epsilon, in [0, 1).
            points: number of points, at least 2; the ends of phases are added to them.

        Returns:
            The arrays `steps` and `epsilon`.

        Guarantee: every epsilon is an upper bound for all steps up to its point, released together.
        """
        return along(self.phases, self.neighbors, delta, whole("points", points, 2, MOST_ITEMS))

    def merge(self, others: Iterable["RunRecord"]) -> "RunRecord":
        """Return this rank's record merged with the records of other ranks.

        Args:
            others: the records of the other ranks.

        Returns:
            The record of the whole training. Its guarantee is that of the phases, which must be
            equal.

        Raises:
            InvalidParameter: if the records are not of one training: versions, phases or facts
                differ, or a rank occurs twice, or ranks with shares of their own have the same
                seed, or ranks that divide one batch have different seeds.
        """
        records = sorted((self, *others), key=lambda record: record.ranks)
        check_alike([{name: getattr(one, name) for name in _SHARED} for one in records])
        ranks = [rank for one in records for rank in one.ranks]
        if len(set(ranks)) != len(ranks):
            raise InvalidParameter(
                "each rank must be merged once; got a rank twice. Write one record for each rank"
            )
        passed: dict[str, bool] = {}
        for check in (check for one in records for check in one.checks):
            passed[check.name] = passed.get(check.name, True) and check.passed
        return replace(
            self,
            phases=merged_phases([one.phases for one in records], sharded=self.sharded),
            ranks=tuple(sorted(ranks)),
            checks=tuple(Check(name, good) for name, good in passed.items()),
            findings=tuple(dict.fromkeys(x for one in records for x in one.findings)),
            claimed=None,
        )

    def to_json(self) -> dict[str, object]:
        """Return the record for JSON, with the version of its format; its numbers are exact."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "versions": dict(self.versions),
            "unit": self.unit,
            "neighbors": self.neighbors,
            "records": self.records,
            "dataset": self.dataset,
            "phases": [phase.to_json() for phase in self.phases],
            "curve": (self.curve if self.claimed is None else self.claimed).to_json(),
            "assumptions": list(self.assumptions),
            "checks": [{"name": one.name, "passed": one.passed} for one in self.checks],
            "findings": [one.to_json() for one in self.findings],
            "ranks": list(self.ranks),
            "world": self.world,
            "sharded": self.sharded,
            "tuning_runs": self.tuning_runs,
        }

    @staticmethod
    def from_json(record: object) -> "RunRecord":
        """Return the record that `to_json` wrote; `claimed` is the guarantee that it states.

        Raises:
            InvalidParameter: if the record is of another format or version, or is malformed.
        """
        _check_format(record)
        found = Fields(record, "run", _KEYS)
        versions = found.plain("versions")
        if not all(isinstance(one, str) for one in versions.values()):
            raise InvalidParameter("run.versions must be texts; write what to_json gives")
        ranks = found.items("ranks")
        if not all(type(rank) is int for rank in ranks):
            raise InvalidParameter("run.ranks must be whole numbers; write what to_json gives")
        return RunRecord(
            phases=tuple(
                Phase.from_json(one, f"run.phases[{i}]")
                for i, one in enumerate(found.items("phases"))
            ),
            unit=found.text("unit"),
            neighbors=check_neighbors(found.text("neighbors")),
            records=found.whole_or_none("records"),
            dataset=found.text_or_none("dataset"),
            assumptions=found.texts("assumptions"),
            checks=tuple(
                _check(one, f"run.checks[{i}]") for i, one in enumerate(found.items("checks"))
            ),
            findings=tuple(
                Finding.from_json(one, f"run.findings[{i}]")
                for i, one in enumerate(found.items("findings"))
            ),
            versions=versions,
            ranks=tuple(ranks),
            world=found.whole("world"),
            sharded=found.flag("sharded"),
            tuning_runs=found.whole_or_none("tuning_runs"),
            claimed=TradeOff.from_json(_mapping(found.any("curve"))),
        )

    def save(self, path: str | Path) -> None:
        """Write the record to a file, completely or not at all.

        A file at the path is replaced only if it is a run record.

        Args:
            path: path of the file, such as "model.run.json".

        Raises:
            InvalidParameter: if the path cannot be written, or another kind of file is there.
            OSError: if the disk fails.
        """
        place = Path(path)
        check_target("path", place, set(), "run record", _is_record)
        write_text(place, json.dumps(self.to_json(), indent=1, allow_nan=False) + "\n")

    @staticmethod
    def read(path: str | Path) -> "RunRecord":
        """Return the record in a file that `save` wrote.

        Args:
            path: path of the file.

        Raises:
            InvalidParameter: if the file is not a run record, malformed or too large.
            OSError: if there is no such file.
        """
        with Path(path).open("rb") as file:
            found = file.read(_MOST_BYTES + 1)
        if len(found) > _MOST_BYTES:
            raise InvalidParameter(
                f"a run record must be at most {_MOST_BYTES} bytes long; the file is larger. Write "
                "the path of a file that save() made"
            )
        try:
            text = found.decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidParameter(
                "a run record must be UTF-8 text; the file is not. Write the path of a file that "
                "save() made"
            ) from None
        return RunRecord.from_json(object_of_text(text, "a run record"))


def _check_format(record: object) -> None:
    known = _mapping(record)
    found = known.get("format"), known.get("version")
    if found != (_FORMAT, _VERSION) or type(found[1]) is not int:
        raise InvalidParameter(
            f"a run record must have format={_FORMAT!r} and version={_VERSION}; got "
            f"format={found[0]!r:.80}, version={found[1]!r:.80}. Write the path of a file that "
            "RunRecord.save made"
        )


def _check(record: object, where: str) -> Check:
    found = Fields(record, where, {"name", "passed"})
    return Check(found.text("name"), found.flag("passed"))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _is_record(place: Path) -> bool:
    with place.open("rb") as file:
        return f'"format": "{_FORMAT}"'.encode() in file.read(_HEAD)


def _phases(given: object) -> tuple[Phase, ...]:
    kind, listed = type(given).__name__, isinstance(given, tuple | list)
    phases = tuple(cast("Iterable[object]", given)) if listed else ()
    if not listed or not all(isinstance(one, Phase) for one in phases):
        raise InvalidParameter(
            f"phases must be a tuple of Phase; got an object of type {kind}, or with other things "
            "in it. Write phases=(Phase.of(sampler, ...),)"
        )
    return cast("tuple[Phase, ...]", phases)
