"""Cuts of crowded pairs leave enough rows, and not many more."""

import math
from fractions import Fraction

import duckdb
import pytest

from neyman.tables._limits import Limits
from neyman.tables._statements._bounding import Bounding


@pytest.mark.parametrize("rows", [1, 20, 1000, 2**30, 2**61])
def test_a_cut_leaves_enough(rows):
    limits = Limits.of(rows, rows=None, among=1)
    cut = Bounding(limits, "", ())._cut().sql(dialect="duckdb")
    most = 2 * rows + 92
    near = [most * 4 // 3]
    near += [most * factor * 2**i for factor in (2, 3) for i in range(33)]
    sizes = [n for each in near for n in (each - 1, each, each + 1) if n < 2**62]
    sizes += [rows + 1, most, 2**62 - 1]
    listed = ", ".join(f"({n})" for n in sizes)
    found = duckdb.sql(f"SELECT n, {cut} FROM (VALUES {listed}) AS t(n)").fetchall()
    assert len(found) == len(sizes)
    for n, digits in found:
        share = Fraction(1) if digits == "g" else Fraction(int(digits, 16), 16 ** len(digits))
        assert digits == "g" or share * n >= most
        # The finest cut is 2^-32.
        assert share * n <= Fraction(3, 2) * most or share == Fraction(1, 2**32)


def test_fewer_than_the_limit_are_left_once_in_e_to_the_46():
    for rows in [*range(1, 300), 10**3, 10**6, 10**9]:
        most = 2 * rows + 92
        assert (most - rows) ** 2 / (2 * most) >= 46
    # By the binomial law itself: a limit of 1, and of 188 rows the half.
    assert math.exp(-46) > 0.5**188
