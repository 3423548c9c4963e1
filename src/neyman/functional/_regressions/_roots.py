"""Roots of many matrices of a few hundred rows, on one thread."""

from typing import Final

import numpy as np

from neyman.numerics import Array

__all__ = ["measured", "root_of"]

# OpenBLAS shares products of more than 64^3 terms and roots of 64 rows or more among threads, which
# wait for each other longer than such a piece takes wherever other work is going on.
_BLOCK: Final = 48


def measured(matrices: Array, vectors: Array) -> tuple[Array, Array]:
    """Return log det V and z' V^-1 z of matrices of at least 1, by one root of both.

    The root of V bordered by z has V^-1/2 z as its border.

    Args:
        matrices: V, shape (number, k, k); their lower triangles are read.
        vectors: z, shape (number, k) or (k,).
    """
    size = matrices.shape[-1]
    bordered = _padded(matrices, size + 1)
    bordered[:, size, :size] = vectors
    bordered[:, size, size] += 2 * np.sum(vectors**2, axis=-1)
    _root(bordered)
    diagonal = np.diagonal(bordered, axis1=1, axis2=2)[:, :size]
    return 2 * np.log(diagonal).sum(axis=1), np.sum(bordered[:, size, :size] ** 2, axis=1)


def root_of(matrix: Array) -> Array:
    """Return the lower triangular L of a matrix L L', of which the lower triangle is read."""
    size = len(matrix)
    padded = _padded(matrix[None], size)
    _root(padded)
    return np.tril(padded[0, :size, :size])


def _padded(matrices: Array, size: int) -> Array:
    """Return them with rows of the identity below, of a whole number of blocks."""
    whole = -(-size // _BLOCK) * _BLOCK
    padded = np.zeros((len(matrices), whole, whole))
    given = matrices.shape[-1]
    padded[:, :given, :given] = matrices
    each = np.arange(given, whole)
    padded[:, each, each] = 1.0
    return padded


def _root(matrices: Array) -> None:
    """Replace lower triangles by those of the roots, block by block."""
    number, whole, _ = matrices.shape
    rows = matrices.reshape(number, whole // _BLOCK, _BLOCK, whole)
    for block in range(whole // _BLOCK):
        own = slice(block * _BLOCK, (block + 1) * _BLOCK)
        column = rows[:, block:, :, own]
        for before in range(block):
            known = slice(before * _BLOCK, (before + 1) * _BLOCK)
            column -= rows[:, block:, :, known] @ rows[:, block, None, :, known].swapaxes(2, 3)
        root = np.linalg.cholesky(column[:, 0])
        column[:, 0] = root
        if block + 1 == rows.shape[1]:
            return
        column[:, 1:] = column[:, 1:] @ np.linalg.inv(root).swapaxes(1, 2)[:, None]
