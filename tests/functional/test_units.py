"""Units with several values: the first few count, and all of them together are covered."""

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Circle, Units

DECLARED = {
    "domain": Circle(24),
    "bandwidth": 1,
    "neighbors": "add_remove",
    "unit": "all visits of one patient",
    "name": "hours",
}


def test_the_first_values_of_each_unit_count_in_the_order_of_the_array():
    random = np.random.default_rng(0)
    for kind in (np.int64, np.uint8, "U3", "S3"):
        ids = random.integers(0, 20, 200).astype(kind)
        values = random.uniform(0, 24, 200)
        seen, expected = {}, []
        for unit, value in zip(ids.tolist(), values.tolist(), strict=True):
            seen[unit] = seen.get(unit, 0) + 1
            if seen[unit] <= 3:
                expected.append(value)
        assert Units(ids, 3).kept(values).tolist() == expected


def test_no_unit_moves_the_sums_by_more_and_one_moves_them_by_as_much():
    random = np.random.default_rng(1)
    ids, values = random.integers(0, 8, 60), random.uniform(0, 24, 60)
    values[ids == 3] = 12

    def sums(kept):
        question = functional.density(
            values[kept], units=Units(ids[kept], max_values=4), **DECLARED
        )
        return question.compute(), float(question.sensitivity.l2_squared)

    whole, allowed = sums(ids >= 0)
    moved = {}
    for unit in range(8):
        difference = (whole - sums(ids != unit)[0]).astype(float)
        moved[unit] = difference @ difference
    assert max(moved.values()) <= allowed
    assert moved[3] > 0.999999 * allowed
    one = functional.density(values, **DECLARED).sensitivity
    # Without the limit the same unit moves them by more: the limit is what holds.
    difference = functional.density(values, **DECLARED).compute()
    difference -= functional.density(values[ids != 3], **DECLARED).compute()
    assert (ids == 3).sum() > 4
    assert difference.astype(float) @ difference.astype(float) > allowed
    assert allowed == 16 * float(one.l2_squared)


def test_the_limit_is_part_of_the_question_and_the_ids_are_not():
    question = functional.density(
        np.array([1.0]), units=Units(np.array(["secret"]), max_values=4), **DECLARED
    )
    assert question.query["max_values"] == 4
    assert "secret" not in repr(question) + str(question.query) + repr(
        Units(np.array(["secret"]), 1)
    )
    assert functional.density(np.array([1.0]), **DECLARED).query["max_values"] is None


def test_an_empty_array_has_no_units():
    question = functional.density(
        np.array([]), units=Units(np.array([], int), max_values=4), **DECLARED
    )
    assert not question.compute().any()


@pytest.mark.parametrize(
    ("ids", "max_values"),
    [
        ([1, 2], 1),
        (np.array([1.0, 2.0]), 1),
        (np.array([1, None]), 1),
        (np.array([1, 2]), 0),
        (np.array([1, 2]), 1001),
        (np.array([1, 2]), 2.0),
        (np.array([1, 2, 3]), 1),
    ],
)
def test_wrong_units_are_refused(ids, max_values):
    with pytest.raises(InvalidParameter, match=r"(?s)must .*got "):
        functional.density(np.array([1.0, 2.0]), units=Units(ids, max_values), **DECLARED)


def test_replaced_units_are_refused():
    with pytest.raises(InvalidParameter, match="add_remove"):
        functional.density(
            np.array([1.0]),
            units=Units(np.array([1]), 1),
            **(DECLARED | {"neighbors": "replace_one"}),
        )
