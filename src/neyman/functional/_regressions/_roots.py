"""Roots of many matrices of a few hundred rows, on one thread."""

from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.numerics import Array

__all__ = ["measured", "products", "whitened"]

# OpenBLAS shares products of more than 64^3 terms and roots of 64 rows or more among threads, which
# wait for each other longer than such a piece takes wherever other work is going on.
_BLOCK: Final = 48


def measured(matrices: Array, rows: Array) -> tuple[Array, Array]:
    """Return log det V and Z V^-1 Z' for matrices V >= 1, by one Cholesky root of both.

    The root of V bordered by the rows Z has Z V^-1/2 as its border.

    Args:
        matrices: V, shape (number, k, k); only the lower triangles are used.
        rows: Z, shape (number, few, k) or (few, k).

    Returns:
        Arrays of shapes (number,) and (number, few, few).
    """
    size, few = matrices.shape[-1], rows.shape[-2]
    bordered = _padded(matrices, size + few)
    border = slice(size, size + few)
    bordered[:, border, :size] = rows
    own: npt.NDArray[np.int64] = np.arange(size, size + few, dtype=np.int64)
    bordered[:, own, own] += 2 * np.sum(rows**2, axis=(-2, -1))[..., None]
    _root(bordered)
    diagonal = np.diagonal(bordered, axis1=1, axis2=2)[:, :size]
    white = bordered[:, border, :size]
    return 2 * np.log(diagonal).sum(axis=1), white @ white.swapaxes(1, 2)


def whitened(matrix: Array, rows: Array) -> tuple[Array, Array]:
    """Return L of V = L L', lower triangular, and L^-1 times each row.

    Args:
        matrix: V >= 1, shape (k, k); only the lower triangle is used.
        rows: the rows, shape (number, k).
    """
    size = len(matrix)
    both = _padded(matrix[None], size, more=len(rows))
    both[0, both.shape[2] : both.shape[2] + len(rows), :size] = rows
    _root(both)
    white = both[0, both.shape[2] : both.shape[2] + len(rows), :size]
    return np.tril(both[0, :size, :size]), white


def products(rows: Array) -> Array:
    """Return the products of all pairs of rows."""
    number, size = rows.shape
    padded = np.zeros((_whole(number), _whole(size)))
    padded[:number, :size] = rows
    blocks = padded.reshape(len(padded) // _BLOCK, _BLOCK, -1, _BLOCK).transpose(2, 0, 1, 3)
    found = np.zeros((len(padded) // _BLOCK, len(padded) // _BLOCK, _BLOCK, _BLOCK))
    for part in blocks:
        found += part[:, None] @ part.swapaxes(1, 2)[None]
    return found.swapaxes(1, 2).reshape(len(padded), len(padded))[:number, :number]


def _whole(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _padded(matrices: Array, size: int, *, more: int = 0) -> Array:
    """Return them padded to whole blocks: rows of the identity below, then rows of zeros."""
    whole = _whole(size)
    padded = np.zeros((len(matrices), whole + _whole(more), whole))
    given = matrices.shape[-1]
    padded[:, :given, :given] = matrices
    each: npt.NDArray[np.int64] = np.arange(given, whole, dtype=np.int64)
    padded[:, each, each] = 1.0
    return padded


def _root(matrices: Array) -> None:
    """Replace lower triangles by their Cholesky roots, block by block, with the rows below."""
    number, height, whole = matrices.shape
    rows = matrices.reshape(number, height // _BLOCK, _BLOCK, whole)
    for block in range(whole // _BLOCK):
        own = slice(block * _BLOCK, (block + 1) * _BLOCK)
        column = rows[:, block:, :, own]
        for before in range(block):
            known = slice(before * _BLOCK, (before + 1) * _BLOCK)
            column -= rows[:, block:, :, known] @ rows[:, block, None, :, known].swapaxes(2, 3)
        root = np.linalg.cholesky(column[:, 0])
        column[:, 0] = root
        if block + 1 < rows.shape[1]:
            column[:, 1:] = column[:, 1:] @ np.linalg.inv(root).swapaxes(1, 2)[:, None]
