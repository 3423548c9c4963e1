"""The spec: a TOML file that says which statistics of which table are released, and for what."""

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Set
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Self,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
)

from neyman.errors import MissingExtra, SpecError
from neyman.publish._noise import NOISES
from neyman.tradeoff import TradeOff, approx_dp, gdp, pure_dp

try:
    from pydantic import (
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Field,
        ValidationError,
        model_validator,
    )
except ImportError as error:
    raise MissingExtra(
        "a spec was to be read and pydantic is not installed; run pip install 'neyman[tables]'"
    ) from error

__all__ = ["Column", "DomainOf", "Query", "Spec", "UnitOf", "read_spec"]


def _decimal(value: object) -> object:
    """Take TOML's whole numbers for the decimals that they are."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


Number = Annotated[Decimal, BeforeValidator(_decimal)]
Positive = Annotated[Number, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Cell: TypeAlias = bool | int | str | date
NoiseName: TypeAlias = Literal[
    "gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "staircase", "canonical"
]


def _spoken() -> str:
    """Return every noise with the keys of its share, for a message."""
    return ", ".join(f"{name} ({' or '.join(noise.makes)})" for name, noise in NOISES.items())


class Section(BaseModel):
    """Strict: nothing is coerced, nothing unknown is passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Data(Section):
    """Where the table lies."""

    path: str
    max_rows: Count = 2**40


class UnitOf(Section):
    """Who is protected: each row, or all rows of one entity."""

    rows: Literal[True] | None = None
    entity: str | None = None
    max_groups: Count | None = None
    max_rows_per_group: Count | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        limits = (self.max_groups, self.max_rows_per_group)
        if (self.rows is None) == (self.entity is None):
            raise ValueError("give rows = true, or entity = a column, one of the two")
        if self.entity is not None and None in limits:
            raise ValueError("an entity needs max_groups and max_rows_per_group")
        if self.rows is not None and limits != (None, None):
            raise ValueError("with rows = true each row is one unit; delete the limits")
        return self


class Column(Section):
    """Public bounds of a column, and the grid that its values are rounded to."""

    lower: Number
    upper: Number
    grid: Positive


class Budget(Section):
    """The ledger and its cap."""

    ledger: str
    mu: Positive | None = None
    epsilon: Positive | None = None
    delta: Annotated[Number, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _one_cap(self) -> Self:
        if (self.mu is None) == (self.epsilon is None):
            raise ValueError("the cap is mu, epsilon, or epsilon and delta; give one of the three")
        if self.mu is not None and self.delta is not None:
            raise ValueError("delta goes with epsilon; delete it, or write epsilon in place of mu")
        return self

    @property
    def cap(self) -> TradeOff:
        """The most that the ledger spends."""
        if self.mu is not None:
            return gdp(self.mu)
        if self.epsilon is not None and self.delta is not None:
            return approx_dp(self.epsilon, self.delta)
        return pure_dp(self.epsilon or 0)


class DomainOf(Section):
    """Where values lie: between two ends, or on a circle."""

    lower: Number | None = None
    upper: Number | None = None
    outside: Literal["clip", "drop"] | None = None
    period: Positive | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        interval = (self.lower, self.upper, self.outside)
        if (None in interval) if self.period is None else interval != (None, None, None):
            raise ValueError(
                'give lower, upper and outside = "clip" (moved to the nearer end) or "drop" (left '
                "out); or period alone, for hours of the day and the like"
            )
        return self


class Query(Section):
    """One statistic or function, and what it may spend."""

    entry: Annotated[str, Field(min_length=1)]
    statistic: Literal["count", "sum", "mean", "density", "survival"]
    column: str | None = None
    domain: DomainOf | None = None
    bandwidth: Positive | None = None
    records: Count | None = None
    duration: str | None = None
    observed: str | None = None
    horizon: Positive | None = None
    by: str | None = None
    noise: NoiseName | None = None
    mu: Positive | None = None
    epsilon: Positive | None = None
    rho: Positive | None = None
    max_groups: Count | None = None
    max_rows_per_group: Count | None = None

    @property
    def is_function(self) -> bool:
        """Whether a whole curve is asked for, of all rows together."""
        return self.statistic in ("density", "survival")

    @property
    def shares(self) -> dict[str, Decimal]:
        """What it may spend, by its key."""
        given = {"mu": self.mu, "epsilon": self.epsilon, "rho": self.rho}
        return {key: share for key, share in given.items() if share is not None}

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.shares) != 1:
            raise ValueError(
                "give mu for Gaussian noise or epsilon for Laplace noise, one of them; or noise, a "
                "name, with its share: " + _spoken()
            )
        (key,) = self.shares
        if self.noise is not None and key not in NOISES[self.noise].makes:
            takes = " or ".join(NOISES[self.noise].makes)
            raise ValueError(f'noise = "{self.noise}" takes {takes}; write it in place of {key}')
        self._check_fields()
        return self

    def _check_fields(self) -> None:
        wanted, optional, sentence = _FIELDS[self.statistic]
        given = {name for name in _DECLARED if getattr(self, name) is not None}
        if not wanted <= given <= wanted | optional:
            raise ValueError(sentence)
        if self.statistic == "density" and (self.bandwidth is None) == (self.records is None):
            raise ValueError(
                "a density needs bandwidth, or records, a public guess of how many there are, from "
                "which a small one follows; give one of the two"
            )
        if self.is_function and self.by is not None:
            raise ValueError(f"a {self.statistic} is of all rows; delete by")


# What each statistic must say, what it may say, and the sentence for whoever does not.
_FIELDS: Final[Mapping[str, tuple[Set[str], Set[str], str]]] = {
    "count": (frozenset(), frozenset(), "count takes no column, it counts rows"),
    **dict.fromkeys(
        ("sum", "mean"),
        ({"column"}, frozenset(), "sum and mean need a column, and nothing else of the kind"),
    ),
    "density": (
        {"column"},
        {"domain", "bandwidth", "records"},
        "a density needs a column, and takes domain, bandwidth or records",
    ),
    "survival": (
        {"duration", "observed", "horizon", "bandwidth"},
        frozenset(),
        "survival needs the columns duration and observed, a horizon and a bandwidth",
    ),
}
_DECLARED: Final = sorted({name for wanted, may, _ in _FIELDS.values() for name in wanted | may})


class Spec(Section):
    """What to release. Keys are named in `[keys.NAME]`, a list of values for each column."""

    title: str = "Private statistics"
    data: Data
    unit: UnitOf
    columns: dict[str, Column] = {}
    keys: dict[str, dict[str, list[Cell]]] = {}
    budget: Budget
    query: Annotated[list[Query], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        entries = [query.entry for query in self.query]
        for query in self.query:
            if entries.count(query.entry) > 1:
                raise ValueError(f"entry {query.entry!r} stands twice; give each query its own id")
            if query.by is not None and query.by not in self.keys:
                known = ", ".join(self.keys) or "none"
                raise ValueError(
                    f"query {query.entry!r} has by = {query.by!r}, and the key sets are {known}; "
                    f"write [keys.{query.by}] with a list of values for each column"
                )
            if self.unit.rows and (query.max_groups or query.max_rows_per_group):
                raise ValueError(
                    f"query {query.entry!r} limits rows of an entity, and with rows = true each "
                    "row is one unit; delete the limits"
                )
            known = query.domain is not None or query.column in self.columns
            if query.column is not None and not known:
                also = ", or domain in the query" if query.is_function else ""
                raise ValueError(
                    f"query {query.entry!r} needs bounds of {query.column!r}; "
                    f"write [columns.{query.column}] with lower, upper and grid{also}"
                )
        return self


def read_spec(path: Path) -> Spec:
    """Read and check a spec; nothing of the data is touched.

    Raises:
        SpecError: if the file is missing, is no TOML, or does not say what a spec must say. The
            message lists every key that is wrong, and the fix.
    """
    fields: dict[str, Any] = {}
    try:
        # Decimals, so that 0.1 is a tenth.
        fields = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
        return Spec.model_validate(fields)
    except OSError as error:
        reason = f"{error.strerror}; write the path of a TOML file"
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = f"it is no TOML: {error}"
    except ValidationError as error:
        lines = "\n".join(f"  {line}" for line in _sentences(error, fields))
        reason = f"{error.error_count()} to mend\n{lines}"
    raise SpecError(f"the spec {path} cannot be used: {reason}")


def _sentences(error: ValidationError, fields: Mapping[str, Any]) -> Iterator[str]:
    told: set[str] = set()
    for problem in error.errors(include_url=False):
        where = _place(problem["loc"], fields)
        if where in told:
            continue
        told.add(where)
        if problem["type"] == "extra_forbidden":
            known = _fields_at(problem["loc"][:-1])
            near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=1)
            fix = f"write {near[0]}" if near else f"known keys are {', '.join(known)}"
            yield f"{where}: no such key; {fix}"
        elif problem["type"] == "missing":
            yield f"{where}: is missing; write it"
        elif problem["type"] == "value_error":
            yield f"{where}: {problem['msg'].removeprefix('Value error, ')}"
        else:
            rule = problem["msg"].replace("an instance of Decimal", "a number")
            found = problem["input"]
            shown = str(found) if isinstance(found, Decimal) else repr(found)
            yield f"{where}: {rule.replace('Input', 'it')}; found {shown}"


def _place(steps: tuple[int | str, ...], fields: Mapping[str, Any]) -> str:
    """Write where a mistake is, a query by its entry."""
    if steps[:1] == ("query",) and len(steps) > 1:
        query: object = fields["query"][steps[1]]
        named = isinstance(query, Mapping)
        entry = cast("Mapping[str, object]", query).get("entry") if named else None
        name = f"query {entry!r}" if isinstance(entry, str) else f"query number {int(steps[1]) + 1}"
        return ".".join([name, *map(str, steps[2:])])
    # A key's cell may be of several types, and is told once.
    steps = steps[:4] if steps[:1] == ("keys",) else steps
    text = "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in steps)
    return text.lstrip(".") or "spec"


def _fields_at(place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the spec knows at this place."""
    kind: Any = Spec
    for step in place:
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation
        else:
            kind = get_args(kind)[-1]
        while get_origin(kind) in (Annotated, Union, UnionType):
            kind = get_args(kind)[0]
    return sorted(kind.model_fields) if issubclass(kind, BaseModel) else []
