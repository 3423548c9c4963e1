"""The fixture, its options, and what is printed at the end of a run: what pytest loads."""

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from neyman.pytest._audits import PROPERTY, Audits, level_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from neyman.audit import MechanismAudit

__all__ = ["assert_private"]

_AUDITS: Final = pytest.StashKey[Audits]()
_FIXTURE: Final = "assert_private"


@pytest.fixture
def assert_private(request: pytest.FixtureRequest) -> "Callable[..., MechanismAudit]":
    """Audit a mechanism: `assert_private(run, data, neighbor, claim, seconds=2)`."""
    # Imported here, so that a suite without audits starts as fast as before.
    from neyman.pytest._assert_private import Auditor

    audits = request.config.stash[_AUDITS]
    # Checked here, so that only tests that audit need a level.
    audits.level = level_of(request.config.getini("neyman_level"))
    return Auditor(audits, request.node).assert_private


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the level of the suite, the seed and the report."""
    parser.addini(
        "neyman_level", "probability that the suite fails although all its claims hold", default=""
    )
    group = parser.getgroup("neyman", "audits of private mechanisms")
    group.addoption(
        "--neyman-seed",
        type=int,
        metavar="SEED",
        help="repeats the random numbers of the audits; drawn if left out",
    )
    group.addoption(
        "--neyman-report", type=Path, metavar="FILE.json", help="write what the audits found"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Fix the seed: the one given, or that of the process that started this one.

    Raises:
        pytest.UsageError: if the report has no folder.
    """
    given = cast("int | None", config.getoption("neyman_seed"))
    shared = cast("dict[str, int]", getattr(config, "workerinput", {})).get(PROPERTY)
    report = cast("Path | None", config.getoption("neyman_report"))
    if report is not None and not report.absolute().parent.is_dir():
        raise pytest.UsageError(
            f"--neyman-report must be a file in a folder that exists; got {report}. Make the "
            "folder, or write another path"
        )
    known = given if given is not None else shared
    seed = secrets.randbits(32) if known is None else known
    config.stash[_AUDITS] = Audits(level=0.0, seed=seed)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give each process of pytest-xdist the same seed."""
    node.workerinput[PROPERTY] = node.config.stash[_AUDITS].seed


def pytest_collection_finish(session: pytest.Session) -> None:
    """Count the tests that share the level."""
    users = sum(_FIXTURE in getattr(item, "fixturenames", ()) for item in session.items)
    session.config.stash[_AUDITS].tests = max(users, 1)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print what each audit found, and how to repeat it."""
    found = sorted(_found(terminalreporter), key=lambda one: str(one["test"]))
    audits = config.stash[_AUDITS]
    report = cast("Path | None", config.getoption("neyman_report"))
    if report is not None:
        record = {"format": "neyman.audits", "version": 1, "seed": audits.seed, "audits": found}
        report.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if found:
        terminalreporter.section("audits of private mechanisms")
        for one in found:
            terminalreporter.line(f"{one['test']}: {one['verdict']}")
        terminalreporter.line(f"Repeat them with --neyman-seed {audits.seed}.")


def _found(terminalreporter: pytest.TerminalReporter) -> Iterator[dict[str, object]]:
    """Yield what the tests noted."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for name, value in report.user_properties:
                    if name == PROPERTY:
                        yield value
