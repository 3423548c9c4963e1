"""What `neyman density` is told: all of it, for nothing about private values is guessed."""

import argparse
from fractions import Fraction

from neyman.cli._numbers import WrongUsage, number, whole
from neyman.functional import Circle, Interval, Side
from neyman.ledger import Ledger, store_of
from neyman.mechanisms import Gaussian
from neyman.publish import Plan, Step, density
from neyman.tables import Entity, Rows, open_table
from neyman.tradeoff import TradeOff, gdp

__all__ = ["plan_of"]


def plan_of(options: argparse.Namespace) -> Plan:
    """Return the plan of one release.

    Raises:
        WrongUsage: if an option is missing, or two do not go together.
        NeymanError: if the table, or what is declared of it, is unusable.
    """
    _check_together(options)
    missing = _missing(options)
    if missing:
        raise WrongUsage("\n  ".join(["nothing is guessed; write also", *missing]))
    mu = _positive(options.mu, "--mu")
    domain = _domain(options)
    table = open_table(options.data, unit=_unit(options), bounds={})
    question = density(
        table,
        options.column,
        domain=domain,
        bandwidth=number(options.bandwidth, "--bandwidth") if options.bandwidth else None,
        records=whole(options.records, "--records") if options.records else None,
    )
    noise = Gaussian.calibrate(question.sensitivity, mu=mu)
    cap, delta = _cap(options)
    return Plan(
        title=f"density of {options.column}",
        steps=(Step(entry=options.entry, aggregate=question, mechanism=noise),),
        files=(options.data,),
        ledger=store_of(options.ledger),
        cap=cap,
        unit=question.unit,
        neighbors=question.sensitivity.neighbors,
        delta_for_groups=delta,
    )


def _check_together(options: argparse.Namespace) -> None:
    """Refuse two ways of saying one thing."""
    for first, second, both in (
        ("--domain", "--period", options.domain and options.period),
        ("--outside", "--period", options.outside and options.period),
        ("--bandwidth", "--records", options.bandwidth and options.records),
        ("--unit", "--entity", options.unit and options.entity),
        ("--unit", "--max-rows", options.unit and options.max_rows),
    ):
        if both:
            raise WrongUsage(f"{first} and {second} were given; write one of them")


def _missing(options: argparse.Namespace) -> list[str]:
    """Return what is missing, and what each means."""
    line = options.period is None
    old = options.ledger is not None and store_of(options.ledger).exists()
    wanted = (
        (options.column, "--column NAME, whose values"),
        (
            options.domain or options.period,
            "--domain LOW HIGH, where they lie, or --period P, after which they begin anew",
        ),
        (
            options.outside or not line,
            "--outside clip, to move values outside to the nearer end, or drop, to leave them out",
        ),
        (
            options.bandwidth or options.records,
            "--records N, about how many there are, known in public; or --bandwidth H, the least "
            "that shall be read, in place of the release's own choice",
        ),
        (options.mu, "--mu M, what the release may spend, such as 0.5"),
        (options.ledger, "--ledger PLACE, which adds up all that is ever spent on these data"),
        (options.cap_mu or old, "--cap-mu M, all that it may ever spend; the ledger is new"),
        (
            options.unit or options.entity,
            "--unit rows, where each row is a person of its own; or --entity COLUMN, whose it is",
        ),
        (
            options.max_rows or not options.entity,
            "--max-rows K, how many rows of one entity count",
        ),
        (options.entry, "--entry ID, the name of this release in the ledger"),
    )
    return [words for given, words in wanted if not given]


def _domain(options: argparse.Namespace) -> Side:
    if options.period is not None:
        return Circle(number(options.period, "--period"))
    lower, upper = (number(end, "--domain") for end in options.domain)
    return Interval(lower, upper, outside=options.outside)


def _unit(options: argparse.Namespace) -> Rows | Entity:
    if options.entity is None:
        return Rows()
    rows = whole(options.max_rows, "--max-rows")
    return Entity(options.entity, max_rows=rows)


def _cap(options: argparse.Namespace) -> tuple[TradeOff, Fraction | None]:
    """Return the cap, and what of its delta is set aside."""
    if options.cap_mu is None:
        ledger = Ledger.existing(options.ledger)
        return ledger.cap, ledger.delta_for_groups or None
    return gdp(_positive(options.cap_mu, "--cap-mu")), None


def _positive(text: str, name: str) -> Fraction:
    value = number(text, name)
    if value <= 0:
        raise WrongUsage(f"{name} {text} is not positive; write one such as 0.5")
    return value
