"""The options of `neyman count`, `mean`, `quantiles` and `density`. Nothing is guessed."""

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Final, final

from neyman.accounting import budget_for
from neyman.cli._numbers import as_usage, number, positive, whole
from neyman.cli._parser import WrongUsage
from neyman.curves import TradeOff
from neyman.functional import Circle, Interval, Side
from neyman.ledger import Ledger, Store, store_of
from neyman.mechanisms import Mechanism
from neyman.numerics import rational
from neyman.publish import Plan, PlanPreview, Preview, Step
from neyman.session import By, Ends, Question, Session, Spends, cap_given, check_share
from neyman.session import open as open_session
from neyman.tables import Bins, Keys, Rows, files_of

__all__ = ["Request", "read_request"]

_ROWS: Final = "rows"
_SPENT: Final = ("mu", "epsilon", "rho", "share")
_BUDGETS: Final = ("mu", "epsilon", "delta", "rho", "delta_aside")


@final
@dataclass(frozen=True, slots=True)
class Request:
    """A question with its noise, and the ledger that pays. Nothing has been charged.

    Attributes:
        question: about the table.
        noise: the mechanism that spends the budget of the question.
        plan: the question with its ledger; None for a preview without a ledger.
        records: a public number of rows, for a preview.
        data: the files of the rows.
    """

    question: Question
    noise: Mechanism
    plan: Plan | None
    records: int | None
    data: tuple[Path, ...]

    @property
    def files(self) -> set[Path]:
        """The files that are read, which no answer may replace."""
        return {*self.data, *(() if self.plan is None else self.plan.ledger.files)}

    def require_plan(self) -> Plan:
        """Return the plan.

        Raises:
            WrongUsage: if no ledger was given.
        """
        if self.plan is None:
            raise WrongUsage("--ledger PLACE is missing")
        return self.plan

    def preview(self) -> Preview | PlanPreview:
        """Return the price and the size of the noise."""
        if self.plan is None:
            return self.question.preview(noise=self.noise, records=self.records)
        return self.plan.preview(records=self.records)


def read_request(options: argparse.Namespace, statistic: str) -> Request:
    """Return the question that the options describe.

    Raises:
        WrongUsage: if an option is missing or malformed, or two options contradict each other.
        NeymanError: if the table, or a declaration about it, cannot be used.
    """
    _check_together(options)
    budget = _budget(options.budget)
    store = None if options.ledger is None else store_of(options.ledger)
    missing = list(_missing(options, statistic, store))
    if missing:
        raise WrongUsage("\n  ".join(["options are missing; write also", *missing]))
    data: list[Path] = options.data
    session = open_session(
        data if len(data) > 1 else data[0],
        unit=Rows() if options.unit == _ROWS else options.unit,
        max_rows=None if options.max_rows is None else whole(options.max_rows, "--max-rows"),
        bounds=_bounds(options.bounds or ()),
    )
    if options.where is not None:
        session = session.where(options.where)
    records = whole(options.records, "--records") if options.records else None
    question = _question(options, statistic, session, records)
    aside = None if options.budget is None else _budget_words(options.budget).get("delta_aside")
    if store is not None and aside is None and store.exists():
        ledger = Ledger.existing(store)
        budget = ledger.cap if budget is None else budget
        aside = ledger.delta_aside if budget == ledger.cap else None
    noise = _noise(options, question, budget, aside)
    files = tuple(file for path in data for file in files_of(path))
    plan = None
    if store is not None and budget is not None:
        plan = Plan(
            title=f"{statistic} of {data[0].name}" + (" and others" if len(data) > 1 else ""),
            steps=(
                Step(entry=options.id or "preview", aggregate=question.aggregate, mechanism=noise),
            ),
            files=files,
            ledger=store,
            cap=budget,
            unit=question.aggregate.unit,
            neighbors=question.sensitivity.neighbors,
            delta_aside=aside,
        )
    return Request(question, noise, plan, records, files)


def _check_together(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    spent = [f"--{name}" for name in _SPENT if name in given]
    if len(spent) > 1:
        raise WrongUsage(
            f"the amount must be one option; got {' and '.join(spent)}. Write one of them"
        )
    for first, second in (("domain", "period"), ("outside", "period")):
        if {first, second} <= given.keys():
            raise WrongUsage(
                f"--{second} must be given without --{first}; got both. Write one of them"
            )
    if "max_rows" in given and given.get("unit") == _ROWS:
        raise WrongUsage(
            "--max-rows must have a --unit other than rows; got --unit rows. Write one of the two"
        )
    if options.preview and options.output:
        raise WrongUsage("-o writes an answer, and --preview releases none; write --preview > FILE")
    if options.preview and options.csv:
        raise WrongUsage(
            "--csv prints an answer, and --preview releases none; write --preview --json"
        )


def _missing(options: argparse.Namespace, statistic: str, store: Store | None) -> Iterator[str]:
    """Yield each option that is missing, with its meaning."""
    yield from _missing_of(options, statistic)
    yield from _missing_payment(options, store)


def _missing_of(options: argparse.Namespace, statistic: str) -> Iterator[str]:
    if statistic != "count" and options.column is None:
        yield "--column NAME, the column of the values"
    if statistic in ("mean", "quantiles") and options.bounds is None:
        column = options.column or "NAME"
        yield f"--bounds {column}=LOW:HIGH, the range of the values, from public knowledge"
    if statistic == "density":
        if not (options.domain or options.period or options.bounds):
            yield "--domain LOW:HIGH, the range of the values, or --period P for values on a circle"
        if options.bandwidth is None and options.records is None:
            yield (
                "--records N, a public estimate of the number of rows, from which the release "
                "chooses its bandwidth; or --bandwidth H, the smallest bandwidth of interest"
            )
    if options.unit is None:
        yield (
            "--unit COLUMN, the column that names the privacy unit of a row; or --unit rows, if "
            "each row is a unit of its own"
        )
    if options.unit != _ROWS and options.max_rows is None:
        yield "--max-rows K, the most rows of one unit that count"


def _missing_payment(options: argparse.Namespace, store: Store | None) -> Iterator[str]:
    released = not options.preview
    if all(getattr(options, name) is None for name in _SPENT):
        yield "--mu M, the budget of this release, such as 0.3; or --epsilon, --rho or --share"
    by = getattr(options, "by", None) or ()
    if by and not any("=" in written for written in by):
        yield from _missing_of_unknown(options)
    if store is None and (released or options.share or options.budget):
        yield "--ledger PLACE, the ledger that records everything spent on these data"
    if options.budget is None and (
        (store is not None and not store.exists()) or (store is None and released)
    ):
        yield "--budget mu=1, the total budget of a new ledger"
    if released and options.id is None:
        yield "--id ID, the id of this release in the ledger"


def _missing_of_unknown(options: argparse.Namespace) -> Iterator[str]:
    """Yield each option that undeclared groups need and that is missing."""
    if options.delta is None:
        yield (
            "--delta D, the probability that a group with a single unit appears, such as 1e-7; "
            "or --by COLUMN=VALUE,VALUE, which declares all groups"
        )
    if options.budget and not any(name in options.budget for name in ("delta_aside", "epsilon")):
        yield "--budget ...,delta_aside=1e-6, the delta that undeclared groups may spend"


def _question(
    options: argparse.Namespace, statistic: str, session: Session, records: int | None
) -> Question:
    rest = getattr(options, "rest", False)
    by = _groups(getattr(options, "by", None) or (), session, rest=rest)
    match statistic:
        case "count":
            return session.count(by)
        case "mean":
            return session.mean(options.column, by)
        case "quantiles":
            if options.probabilities is None:
                return session.quantiles(options.column, by=by)
            shares = [number(p, "--probabilities") for p in options.probabilities.split(",")]
            return session.quantiles(options.column, shares, by)
        case _:
            bandwidth = options.bandwidth
            return session.density(
                options.column,
                domain=_domain(options),
                bandwidth=None if bandwidth is None else positive(bandwidth, "--bandwidth"),
                # With a bandwidth, only the preview uses the number of rows.
                records=records if bandwidth is None else None,
            )


def _groups(given: Sequence[str], session: Session, *, rest: bool) -> By:
    """Read --by: COLUMN=VALUE,VALUE; bins, COLUMN=LOW:HIGH:STEP; or COLUMN, undeclared groups.

    Args:
        given: the values of --by.
        session: the session that has the columns.
        rest: whether declared groups get two more, for missing and for other values.
    """
    declared: dict[str, list[object] | Bins] = {}
    unknown: list[str] = []
    for written in given:
        name, equals, listed = written.partition("=")
        if name in declared or name in unknown:
            raise WrongUsage(
                f"--by {name} must be given once; got it twice. Write it once, with all values"
            )
        if not equals:
            unknown.append(name)
            continue
        values: list[str] = [
            value for row in csv.reader([listed], skipinitialspace=True) for value in row
        ]
        if not values:
            raise WrongUsage(f"--by {written} has no values; write {name}=VALUE,VALUE")
        kinds = session.table.view.schema[name].kind.keys
        numbers = str not in kinds and bool not in kinds and date not in kinds
        # All columns of a CSV file are text, also those of numbers.
        if len(values) == 1 and ((numbers and ":" in values[0]) or _is_range(values[0])):
            declared[name] = _bins(values[0], name)
        else:
            declared[name] = [_key(value, kinds, name) for value in values]
    if declared and unknown:
        raise WrongUsage(
            f"--by {unknown[0]} has no values and --by {next(iter(declared))} has some; write "
            "values for all columns or for none"
        )
    if rest and not declared:
        raise WrongUsage("--rest needs declared groups; write --by COLUMN=VALUE,VALUE as well")
    if rest:
        with_missing = {
            name: values if isinstance(values, Bins) else [*values, None]
            for name, values in declared.items()
        }
        return Keys(with_missing, other=True)
    return declared or unknown or None


def _is_range(written: str) -> bool:
    """Whether this is LOW:HIGH:STEP in numbers, and no group's name."""
    parts = [rational(part) for part in written.split(":")]
    return len(parts) == 3 and None not in parts


def _bins(written: str, column: str) -> Bins:
    """Read LOW:HIGH:STEP; rows outside the range are in no bin."""
    ends = _numbers(written, "--by")
    if len(ends) != 3 or ends[2] <= 0 or ((ends[1] - ends[0]) / ends[2]).denominator != 1:
        raise WrongUsage(
            f"bins must be LOW:HIGH:STEP, with a STEP that divides the distance; got --by "
            f"{column}={written}. Write for example --by {column}=0:100:10"
        )
    lower, upper, step = ends
    return Bins.uniform(lower, upper, int((upper - lower) / step), outside="drop")


def _key(written: str, kinds: Sequence[type], column: str) -> object:
    """Return a key in the type of the column."""
    if str in kinds or not kinds:
        return written
    try:
        if bool in kinds:
            return {"true": True, "false": False}[written.lower()]
        # Codes such as 1.0 are whole numbers.
        return date.fromisoformat(written) if date in kinds else int(written.removesuffix(".0"))
    except (KeyError, ValueError):
        fit = "true or false" if bool in kinds else "dates such as 2026-02-28"
        takes = fit if bool in kinds or date in kinds else "whole numbers"
        raise WrongUsage(f"--by {column} takes {takes}; got {written!r}") from None


def _bounds(given: Sequence[str]) -> dict[str, Ends]:
    """Read COLUMN=LOW:HIGH, or COLUMN=LOW:HIGH:GRID."""
    found: dict[str, Ends] = {}
    for written in given:
        name, equals, ends = written.rpartition("=")
        if not equals or ends.count(":") not in (1, 2):
            raise WrongUsage(
                f"--bounds must be COLUMN=LOW:HIGH; got {written}. Write for example --bounds "
                "minutes=0:240"
            )
        if name in found:
            raise WrongUsage(f"--bounds {name} must be given once; got it twice. Write it once")
        lower, upper, *grid = _numbers(ends, "--bounds")
        found[name] = (lower, upper, grid[0]) if grid else (lower, upper)
    return found


def _numbers(written: str, option: str) -> tuple[Fraction, ...]:
    """Read numbers with colons between them."""
    return tuple(number(end, option) for end in written.split(":"))


def _domain(options: argparse.Namespace) -> Side | None:
    """Return the domain of a density; None if the bounds of the column give it."""
    if options.period is not None:
        return Circle(positive(options.period, "--period"))
    if options.domain is None:
        return None
    ends = _numbers(options.domain, "--domain")
    if len(ends) != 2:
        raise WrongUsage(
            f"--domain must be LOW:HIGH; got {options.domain}. Write for example --domain 0:240"
        )
    return Interval(*ends, outside=options.outside or "count")


def _budget_words(written: str) -> dict[str, Fraction]:
    """Read mu=1, or epsilon=3,delta=1e-6."""
    found: dict[str, Fraction] = {}
    for part in written.split(","):
        name, equals, value = part.strip().partition("=")
        if not equals or name not in _BUDGETS or name in found:
            raise WrongUsage(
                f"--budget must be NAME=NUMBER, each name once; got {written}. "
                "Write for example mu=1, "
                "rho=0.5 or epsilon=3,delta=1e-6"
            )
        found[name] = positive(value, f"--budget {name}=")
    return found


def _budget(written: str | None) -> TradeOff | None:
    """Return the total budget of a new ledger."""
    if written is None:
        return None
    amounts = _budget_words(written)
    with as_usage():
        cap = cap_given(None, *(amounts.get(name) for name in _BUDGETS))
    if cap is None:
        raise WrongUsage(f"--budget {written} names no budget; write it such as mu=1")
    return cap


def _noise(
    options: argparse.Namespace, question: Question, cap: TradeOff | None, aside: Fraction | None
) -> Mechanism:
    """Return the noise that spends the budget of the question."""
    delta = None if options.delta is None else positive(options.delta, "--delta")
    spent = {
        name: positive(getattr(options, name), f"--{name}")
        for name in _SPENT
        if getattr(options, name) is not None
    }
    whole = None
    if "share" in spent and cap is not None:
        budget = budget_for(cap, aside)
        whole = budget.filter.account, budget.capacity.cost
        with as_usage():
            check_share("--share", spent["share"])
    return Spends(
        mu=spent.get("mu"),
        epsilon=spent.get("epsilon"),
        rho=spent.get("rho"),
        share=spent.get("share"),
        delta=delta,
    ).of(question.aggregate, whole)
