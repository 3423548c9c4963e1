"""Records and questions of older releases: read, and known again by ledgers that hold them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from neyman import functional
from neyman.digests import digest
from neyman.functional import (
    Box,
    Circle,
    Cumulative,
    Huber,
    Interval,
    Matern,
    SquaredExponential,
    Weights,
)

# Written before a density of one coordinate was the one-sided case of those of several.
RECORDS = json.loads(Path(__file__).with_name("stored_records.json").read_text("utf-8"))
VALUES = {
    "density": ([2.0, 5.0], [0.028545116305763847, 0.2816057100603364]),
    "marginal": ([3.0, 20.0], [0.04078254724583783, 0.04163653422409669]),
    "field": ([[5.0, 3.0, 4.0]], [0.00017618022670446332]),
    "plane": ([[5.0, 4.0]], [0.004316766124378426]),
    "survival": ([1.0, 4.0], [0.996457374695486, 0.811104220671632]),
    "values": ([1.5], [9.572837470596216]),
    "projected_field": ([[0.25, 0.75]], [1.0]),
}
LINE, TURN = Interval(0, 10, outside="clip"), Circle(24)
ONE, ROW = np.array([1.0, 2.0]), np.array([[1.0, 2.0]])
WHOSE = {"unit": "one row", "name": "x"}
ASKED = WHOSE | {"neighbors": "add_remove"}
QUESTIONS = {
    "8cb67f350ff50fb067c3e64153c55b5166eacec663b173c48162c3adb40afc40": lambda: functional.density(
        ONE, domain=LINE, bandwidth=1, **ASKED
    ),
    "0c59154aaff955c95809966e106a073d1cccefbbcd1e79176fdcbcd9e4ed4db7": lambda: functional.density(
        ONE, domain=TURN, bandwidth=1, target=Cumulative(), **ASKED
    ),
    "2844fe89d9b516ab0509e4f30429179e3f2725f1c4bf990ab40305f0f3d76678": lambda: functional.density(
        ONE, domain=TURN, bandwidth=1, target=Weights(1, 2), **ASKED
    ),
    "2a17edc550165cdd1c9c02e2392ac75caac317019624b212dc3a46ad478f7fcf": lambda: functional.density(
        ROW, domain=Box(LINE, TURN), bandwidth=(1, 1), **ASKED
    ),
    "7a4a7fb9d3dd50412332f4749cf2d5a9f2da1a5a4f4cb397f048f8d4956ef1e3": lambda: functional.survival(
        ONE, ONE > 1, horizon=10, bandwidth=1, **ASKED
    ),
    "71c97b2cbe4514f4073341f4903d78306225d79b0ac7a8a7af31df86691e2efe": (
        lambda: functional.regression(ONE, ONE, domain=LINE, bandwidth=1, response=LINE, **ASKED)
    ),
    "3ce5a0816d72f42dae5d254fea410a35126d268e6e5ae7478c5fc821d5c17b8e": (
        lambda: functional.quantiles(
            ONE, [k / 8 for k in range(9)], lower=0, upper=10, grid=1, **WHOSE
        )
    ),
    "bcc1cc5af4091fba239f575c44ffbf60c61833c58d040b5177170aa37ce70d5a": (
        lambda: functional.density_at(ONE, [1.0, 2.0], domain=LINE, bandwidth=1, **ASKED)
    ),
    "1cc489cfff299ef65e2b3efdc436d9ac206623a42ba2bb3cf4840f0e8758875a": (
        lambda: functional.curve_mean(
            ROW, [1.0, 2.0], kernel=Matern(0.5, 1), nugget=0.1, radius=1, **ASKED
        )
    ),
    "55d289537e0542f24e435a551b09018a48c37ae6594dcd84589cf63d7ef60ad9": (
        lambda: functional.kernel_machine(
            ONE,
            ONE,
            [1.0, 2.0],
            loss=Huber(1),
            regularization=1,
            kernel=SquaredExponential(1),
            **WHOSE,
        )
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_an_older_release_is_read_and_written_the_same(name):
    found = functional.read(RECORDS[name])
    assert json.loads(json.dumps(found.to_json())) == RECORDS[name]
    if name in VALUES:
        places, values = VALUES[name]
        np.testing.assert_allclose(np.ravel(found(places)), values, rtol=1e-9)


@pytest.mark.parametrize("digest", QUESTIONS)
def test_a_question_has_the_identity_that_older_ledgers_hold(digest):
    """Another one would be refused as another question, for which its release id is taken."""
    assert QUESTIONS[digest]().query["computation"] == digest


def test_a_class_that_moved_keeps_its_stored_name_and_its_heir_has_another():
    @dataclass(frozen=True)
    class Moved:
        held: int
        digest_name: ClassVar[str] = f"{__name__}.Before"

    class Heir(Moved):
        """Computes something else."""

    class Before:
        def __init__(self, held):
            self.held = held

    Before.__qualname__ = "Before"
    assert digest(Moved(1)) == digest(Before(1))
    assert len({digest(one) for one in (Moved(1), Moved(2), Heir(1))}) == 3
