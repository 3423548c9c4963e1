"""Private arrays: taken by class, dtype and public shape, for a record that decides is seen."""

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_name
from neyman.errors import InvalidParameter
from neyman.functional._bases._features import MOST_RECORDS
from neyman.sensitivity import Neighbors

__all__ = ["public_number", "real", "records_of", "rows", "source"]


def real(values: npt.NDArray[np.generic], name: str = "values") -> npt.NDArray[np.generic]:
    """Take an array by its dtype alone: no value decides whether an error is raised.

    The dtype of a list, or of a nullable column, depends on the values in it.

    Raises:
        InvalidParameter: if it is none of NumPy's own, or not of real numbers.
    """
    if type(values) not in (np.ndarray, np.memmap):
        raise InvalidParameter(
            f"{name} in a {type(values).__name__} were given, whose type of numbers can depend on "
            f"the values; write {_instead(values, name)}"
        )
    if values.dtype.kind not in "fiub" or values.dtype.itemsize > 8:
        raise InvalidParameter(
            f"{name} in an array of dtype {values.dtype} were given; write one of real numbers, of "
            "float64 or narrower"
        )
    if values.size > MOST_RECORDS:
        raise InvalidParameter(
            f"more than {MOST_RECORDS} numbers were given as {name}; write fewer"
        )
    return values


def _instead(values: object, name: str) -> str:
    """Return what to write for a list, a masked array, a data frame or one of its columns."""
    if isinstance(values, np.ma.MaskedArray):
        return f"{name}.filled(np.nan), or what it hides comes back"
    kinds = {type(values).__name__, type(values).__module__.split(".", maxsplit=1)[0]}
    if not kinds & {"pandas", "polars"}:
        return f"np.asarray({name}, dtype=float)"
    taken = "to_numpy(float)" if "pandas" in kinds else "cast(float).to_numpy()"
    if "DataFrame" not in kinds:
        return f"{name}.{taken}"
    return f'{name}["column"].{taken}, or open_table({name}, ...) and publish, which ask a table'


def rows(
    values: npt.NDArray[np.generic], width: int, name: str = "values"
) -> npt.NDArray[np.generic]:
    """Take an array of one row a record, shape (n, width); (n,) for a width of 1.

    Raises:
        InvalidParameter: if it is no array of real numbers, or of another shape. The message
            says no size: that of an array turned round is n, which can be private.
    """
    array = real(values, name)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != width:
        raise InvalidParameter(
            f"{name} of {values.ndim} axes whose rows are not of length {width} were given; write "
            f"shape (n, {width}), one row a record"
        )
    return array


def records_of(values: npt.NDArray[np.generic], width: int) -> npt.NDArray[np.generic]:
    """Take one record a row, shape (n, width); for a width of 1 an array of any shape."""
    return real(values).reshape(-1, 1) if width == 1 else rows(values, width)


def public_number(array: npt.NDArray[np.generic], neighbors: Neighbors) -> int | None:
    """Return the number of records where it is public, under replace_one, else None.

    Raises:
        InvalidParameter: if it is public and 0.
    """
    if neighbors == "add_remove":
        return None
    if not len(array):
        raise InvalidParameter(
            "no records were given under replace_one, where their number is public; give at least "
            'one, or write neighbors="add_remove"'
        )
    return len(array)


def source(name: str, *arrays: npt.NDArray[np.generic]) -> str:
    """Return what stands for the arrays in the ledger: the name and their dtypes.

    Raises:
        InvalidParameter: if the name is no text, empty, too long, or not printable.
    """
    check_name("name", name)
    return ":".join(["array", name, *(str(array.dtype) for array in arrays)])
