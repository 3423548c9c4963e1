"""Linear regression of a column on others, from noisy sums of products."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Final, final

from neyman.aggregate import SumsReading
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.tables._statistics._linear_reading import LinearReading
from neyman.tables._statistics._moments import Axis, Layout, OfMoments, Term
from neyman.tables._statistics._statistic import Measured, check_measured

__all__ = ["LinearRegression"]

_MOST: Final = 32


@final
@dataclass(frozen=True, slots=True)
class LinearRegression(OfMoments):
    """Least squares of a column on an intercept and other columns, for rows without NULL.

    Each row adds N (1, u_i, 2 (u_i^2 - 1/2), u_i u_j) over all columns, with the response last.
    These are X'X, X'y and y'y of centred columns: (p + 2)(p + 3)/2 integers for p features, each
    within N.

    Attributes:
        response: the column y.
        features: the columns x_1, ..., x_p.
    """

    response: Measured
    features: tuple[Measured, ...]

    def __post_init__(self) -> None:
        """Check the columns.

        Raises:
            InvalidParameter: if there is no feature or more than 32, or a column occurs twice or
                has no bounds.
        """
        check_measured("response", self.response)
        check_type("features", self.features, tuple, '(table.measured("distance"),)')
        for feature in self.features:
            check_measured("features", feature)
        names = [measured.column for measured in self.columns]
        if not 1 <= len(self.features) <= _MOST or len(set(names)) < len(names):
            raise InvalidParameter(
                "a regression must have 1 to 32 features, each once, without the response; got "
                f"{self.response.column!r} on {names[:-1]}"
            )

    @property
    @override
    def layout(self) -> Layout:
        count = len(self.columns)
        pairs = combinations_with_replacement(range(count), 2)
        terms: list[Term] = [(), *((i,) for i in range(count)), *pairs]
        return Layout(tuple(map(Axis, self.columns)), tuple(terms))

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return (*self.features, self.response)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return LinearReading.names

    @property
    @override
    def rows(self) -> int:
        return 1 + len(self.features)

    @override
    def describe(self) -> dict[str, object]:
        return {
            "statistic": "linear_regression",
            "response": self.response.describe(),
            "features": [feature.describe() for feature in self.features],
        }

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:  # noqa: ARG002
        return LinearReading(self.layout, weight)
