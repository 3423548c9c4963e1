"""Functions of a session: the domain of a question, and the function that a release gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast, final

import numpy.typing as npt

from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional import (
    Box,
    DensityFunction,
    Domain,
    Function,
    Functions,
    Interval,
    RegressionCurve,
    RegressionFit,
    Side,
    SurvivalCurve,
    function,
    functions,
)
from neyman.functional._bases._domain import Outside
from neyman.functional._functions import Key
from neyman.numerics import Array, Real
from neyman.released import Guarantee, Release, Spending, pandas_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FunctionRelease", "FunctionReleases", "domain_of", "functions_of", "side_of"]

Best: TypeAlias = DensityFunction | RegressionFit | SurvivalCurve


@final
@dataclass(frozen=True)
class FunctionRelease(Displayed):
    """A released function. Everything it computes is post-processing, which is free.

    `best` is the function that its values come from: a density, or a map of several columns, with
    the least estimated error; a regression as a Gaussian process; a survival curve unchanged. Every
    attribute of `best` is also an attribute here: `survival.until`, `density.mean()`.

    Attributes:
        release: the release in the ledger, with its guarantee and its cost.
        found: the result of `functional.function(release)`.
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
        """Return an attribute of `best`, such as `until` of a survival curve.

        Raises:
            AttributeError: if `best` has no such attribute.
            InvalidParameter: if the noise hides the function.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        best = self.best
        if name not in dir(best):
            has = ", ".join(one for one in dir(best) if not one.startswith("_"))
            raise AttributeError(f"a {self.found.kind} has no {name!r}; it has {has}")
        return getattr(best, name)

    @cached_property
    def best(self) -> Best:
        """The function that the values come from.

        Raises:
            InvalidParameter: if the noise hides the function.
        """
        self.found.require_records(self.release.confidence)
        match self.found:
            case RegressionCurve():
                return self.found.gaussian_process()
            case DensityFunction() | SurvivalCurve():
                return self.found
            case _:
                raise InvalidParameter(
                    f"`best` must be a density, a regression or a survival curve; got a "
                    f"{self.found.kind}. Write .raw, the function as it was released"
                )

    @property
    def raw(self) -> Function:
        """The function as it was released; for a density, the kernel estimate."""
        return self.found.raw if isinstance(self.found, DensityFunction) else self.found

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of this release alone."""
        return self.release.guarantee

    @property
    def spending(self) -> Spending:
        """The cost of this release, and what remains of the budget."""
        return self.release.spending

    def quantile(self, q: npt.ArrayLike) -> Array:
        """Return the quantiles of a density of one column, or the times of a survival curve.

        Raises:
            InvalidParameter: if the function has none, or the noise hides it.
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
            InvalidParameter: if the function has none, or the noise hides it.
        """
        match self.best:
            case DensityFunction(sides=[_]) as best:
                return best.cdf(x)
            case _:
                raise self._lacks("distribution function")

    def plot(self) -> "Figure":
        """Draw the function with its bands.

        Raises:
            InvalidParameter: if the noise hides the function.
            MissingExtra: if matplotlib is not installed.
        """
        return self.release.plot()

    def to_json(self) -> dict[str, object]:
        """Return the release, JSON-able."""
        return self.release.to_json()

    def to_pandas(self) -> Any:
        """Return the values with their bands as a `pandas.DataFrame`.

        Raises:
            InvalidParameter: if the noise hides the function.
            MissingExtra: if pandas is not installed.
        """
        from neyman.report import read_off

        values, hidden, _ = read_off(self.release)
        if values is None:
            raise InvalidParameter(" ".join(hidden) or "this function has no table of values")
        return pandas_frame(values, {})

    def _lacks(self, what: str) -> InvalidParameter:
        return InvalidParameter(
            f"a {self.found.kind} has no {what}. Write .best or .raw, and use what it has"
        )


@final
@dataclass(frozen=True)
class FunctionReleases(Displayed, Mapping[Key, FunctionRelease]):
    """The functions of a release, one for each group.

    If the groups are those of one column, you can write the key without a tuple.

    Attributes:
        release: the release in the ledger.
        found: the result of `functional.functions(release)`.
    """

    release: Release
    found: Functions[Function]

    @cached_property
    def by_key(self) -> Mapping[Key, FunctionRelease]:
        """The functions, by the keys of their groups."""
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
            raise InvalidParameter(
                f"key must be a group of this release; got {key!r}. Write for example {some}"
            )
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
    """Return the function of a release, or one for each of its groups."""
    if not release.question.grouped:
        return FunctionRelease(release, function(release))
    return FunctionReleases(release, functions(release))


def domain_of(domain: object, outside: Outside = "count") -> Domain | None:
    """Return a domain; for two ends, the interval between them.

    Args:
        domain: a `Side` or `Box`; two ends; one of these for each column; or None.
        outside: how the interval treats values outside.

    Raises:
        InvalidParameter: if it is anything else.
    """
    if domain is None or isinstance(domain, Side | Box):
        return domain
    listed = isinstance(domain, tuple | list)
    given = tuple(cast("Sequence[object]", domain)) if listed else ()
    if len(given) == 2 and not any(isinstance(end, tuple | list | Side) for end in given):
        lower, upper = cast("tuple[Real, Real]", given)
        return Interval(lower, upper, outside=outside)
    if not given:
        raise InvalidParameter(
            f"domain must be two ends; got {type(domain).__name__}. Write domain=(0, 240), "
            'Interval(0, 240, outside="drop") or Circle(24)'
        )
    return Box(*cast("list[Side]", [domain_of(side, "clip") for side in given]))


def side_of(domain: object) -> Side | None:
    """Return the domain of one column.

    Raises:
        InvalidParameter: if it is anything else.
    """
    found = domain_of(domain, "clip")
    if found is not None and not isinstance(found, Side):
        raise InvalidParameter(
            f"domain must be of one column; got {len(found.sides)} sides. Write domain=(0, 240)"
        )
    return found
