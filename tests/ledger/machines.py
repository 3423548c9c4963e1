"""Stateful models of a ledger, run at their two sizes in both stores."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

SIZES = pytest.mark.parametrize(
    ("home", "examples"),
    [
        ("files", 20),
        ("database", 2),
        pytest.param("files", 400, marks=pytest.mark.soak),
        pytest.param("database", 40, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)


def run_machine(
    machine: Callable[[object], RuleBasedStateMachine],
    home,
    folder: Path,
    examples: int,
    steps: int,
) -> None:
    """Run a model of a ledger, each time at a new place."""
    numbers = count()
    run_state_machine_as_test(
        lambda: machine(home.place(folder / f"{next(numbers)}")),
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
