"""Roots of matrices, block by block, against LAPACK's."""

import numpy as np
import pytest

from neyman.functional._regressions._roots import measured, products, whitened


def _matrices(size, number):
    rng = np.random.default_rng(size)
    parts = rng.normal(size=(number, size, size)) * np.geomspace(1e3, 1e-3, size)
    return parts @ parts.swapaxes(1, 2) + np.eye(size), rng.normal(size=(number, size))


@pytest.mark.parametrize("size", [1, 2, 47, 48, 49, 96, 143])
def test_determinants_and_squares_are_those_of_one_root(size):
    matrices, vectors = _matrices(size, 3)
    rows = np.stack([vectors, vectors[::-1]], axis=1)
    logarithms, found = measured(matrices, rows)
    np.testing.assert_allclose(logarithms, np.linalg.slogdet(matrices)[1], rtol=1e-10)
    expected = rows @ np.linalg.solve(matrices, rows.swapaxes(1, 2))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * expected.max())
    again = measured(matrices, rows[0])[1]
    np.testing.assert_allclose(again[0], expected[0], rtol=1e-7, atol=1e-7 * expected.max())


@pytest.mark.parametrize("size", [1, 47, 48, 97])
@pytest.mark.parametrize("number", [1, 48, 50])
def test_whitened_rows_have_the_products_of_the_inverse(size, number):
    matrix = _matrices(size, 1)[0][0]
    rows = np.random.default_rng(number).normal(size=(number, size))
    root, white = whitened(matrix, rows)
    np.testing.assert_allclose(root @ root.T, matrix, rtol=1e-9, atol=1e-9 * matrix.max())
    assert np.array_equal(root, np.tril(root))
    expected = rows @ np.linalg.solve(matrix, rows.T)
    np.testing.assert_allclose(products(white), expected, rtol=1e-7, atol=1e-7 * expected.max())


@pytest.mark.parametrize("shape", [(1, 1), (47, 100), (97, 48), (50, 3)])
def test_products_are_those_of_all_rows(shape):
    rows = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_allclose(products(rows), rows @ rows.T, rtol=1e-12, atol=1e-11)
