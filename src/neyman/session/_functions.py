"""A release of a function, read as well as it can be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy.typing as npt

from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional import (
    DensityFunction,
    Function,
    Functions,
    RegressionCurve,
    RegressionFit,
    SurvivalCurve,
    function,
    functions,
)
from neyman.functional._functions import Key
from neyman.numerics import Array
from neyman.released import Guarantee, Release, Spending, pandas_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FunctionRelease", "FunctionReleases", "functions_of"]

Best: TypeAlias = DensityFunction | RegressionFit | SurvivalCurve


@final
@dataclass(frozen=True)
class FunctionRelease(Displayed):
    """A released function at its best reading. All that it does is free post-processing.

    A density, or a map of several columns, is read with the least estimated error; a regression as
    a Gaussian process; a survival curve as it is. Whatever that reading has, this has:
    `survival.until`, `density.mean()`.

    Attributes:
        release: what the ledger holds, with the guarantee and what it cost.
        found: what `functional.function` makes of it.
    """

    release: Release
    found: Function

    def __repr__(self) -> str:
        found = f"<{self.found.kind} of release {self.release.entry!r}>"
        match self.found:
            case DensityFunction(unresolved=str(why)):
                return f"{found}  # {why}"
            case _:
                return found

    def __str__(self) -> str:
        return f"{self!r}\n{self.release.to_text(rows=0)}"

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the values at x.

        Raises:
            InvalidParameter: if the noise hides the function.
        """
        return self.best(x)

    def __getattr__(self, name: str) -> Any:
        """Return what the function at its best reading has, such as `until` of a survival curve.

        Raises:
            AttributeError: if it has no such thing.
            InvalidParameter: if the noise hides the function.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        best = self.best
        if name not in dir(best):
            has = ", ".join(one for one in dir(best) if not one.startswith("_"))
            raise AttributeError(f"a {self.found.kind} has no {name!r}; at its best reading: {has}")
        return getattr(best, name)

    @cached_property
    def best(self) -> Best:
        """The function that the values are read from.

        Raises:
            InvalidParameter: if the noise hides it.
        """
        self.found.require_records(self.release.confidence)
        match self.found:
            case RegressionCurve():
                return self.found.gaussian_process()
            case DensityFunction() | SurvivalCurve():
                return self.found
            case _:
                raise InvalidParameter(
                    f"a {self.found.kind} has no reading of its own here; write .raw, the function "
                    "as it was released"
                )

    @property
    def raw(self) -> Function:
        """The function as it was released: of a density the kernel estimate, hardly smoothed."""
        return self.found.raw if isinstance(self.found, DensityFunction) else self.found

    @property
    def guarantee(self) -> Guarantee:
        """Of this release alone."""
        return self.release.guarantee

    @property
    def spending(self) -> Spending:
        """What it cost and what remains."""
        return self.release.spending

    def quantile(self, q: npt.ArrayLike) -> Array:
        """Return the quantiles of a density of one column, or the times of a survival curve.

        Raises:
            InvalidParameter: if it has none, or the noise hides it.
        """
        match self.best:
            case SurvivalCurve() as best:
                return best.quantile(q)
            case DensityFunction(sides=[_]) as best:
                return best.ppf(q)
            case _:
                raise self._lacks("quantiles")

    def cdf(self, x: npt.ArrayLike) -> Array:
        """Return the distribution function of a density of one column.

        Raises:
            InvalidParameter: if it has none, or the noise hides it.
        """
        match self.best:
            case DensityFunction(sides=[_]) as best:
                return best.cdf(x)
            case _:
                raise self._lacks("distribution function")

    def plot(self) -> "Figure":
        """Draw it with its bands.

        Raises:
            InvalidParameter: if the noise hides it.
            MissingExtra: if matplotlib is not installed.
        """
        return self.release.plot()

    def to_json(self) -> dict[str, object]:
        """Return the release, JSON-able."""
        return self.release.to_json()

    def to_pandas(self) -> Any:
        """Return the values with their bands as a `pandas.DataFrame`.

        Raises:
            InvalidParameter: if the noise hides it.
            MissingExtra: if pandas is not installed.
        """
        from neyman.report import read_off

        read, hidden, _ = read_off(self.release)
        if read is None:
            raise InvalidParameter(" ".join(hidden) or "this function has no table of values")
        return pandas_frame(read, {})

    def _lacks(self, what: str) -> InvalidParameter:
        return InvalidParameter(
            f"a {self.found.kind} has no {what}; write .best or .raw for what it has"
        )


@final
@dataclass(frozen=True)
class FunctionReleases(Displayed, Mapping[Key, FunctionRelease]):
    """A function for each group of one release.

    Of groups by one column, the key alone finds its function too.

    Attributes:
        release: what the ledger holds.
        found: what `functional.functions` makes of it.
    """

    release: Release
    found: Functions[Function]

    @cached_property
    def by_key(self) -> Mapping[Key, FunctionRelease]:
        """The functions, each at its best reading."""
        return {key: FunctionRelease(self.release, one) for key, one in self.found.items()}

    def __getitem__(self, key: Key | str | int | bool) -> FunctionRelease:
        """Return the function of a group.

        Raises:
            InvalidParameter: if there is no such group.
        """
        found = self.by_key.get(key if isinstance(key, tuple) else (key,))
        if found is None:
            some = ", ".join(
                repr(key[0] if len(key) == 1 else key) for key in list(self.by_key)[:3]
            )
            raise InvalidParameter(f"{key!r} is no group of this release; write such as {some}")
        return found

    def __iter__(self) -> Iterator[Key]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        return f"<{len(self)} functions of release {self.release.entry!r}>"

    def plot(self) -> "Figure":
        """Draw a panel for each group, up to 12."""
        return self.release.plot()


def functions_of(release: Release) -> FunctionRelease | FunctionReleases:
    """Return what was released as a function, or as one for each group."""
    if not release.question.grouped:
        return FunctionRelease(release, function(release))
    return FunctionReleases(release, functions(release))
