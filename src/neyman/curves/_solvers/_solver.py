"""The solvers that a caller may name, and the one in use."""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text

__all__ = ["Auto", "Contour", "Effort", "Lattice", "Solver", "in_use", "using"]


@final
@dataclass(frozen=True, slots=True)
class Auto:
    """Every solver that can read the curve, the cheapest first, until the bracket is narrow.

    The brackets of all of them are intersected, so that another solver can only help. Without
    `seconds` an answer depends on the question alone: the work of each solver is limited by the
    size of its tables, never by the clock.

    Attributes:
        tolerance: relative width at which a bracket is narrow enough, positive.
        seconds: stop asking further solvers after so much time; None for no such limit. What was
            proved by then is returned. One solver is not interrupted, which may take some seconds
            more.

    >>> from neyman.curves import Auto, laplace
    >>> f = laplace(0.1) ** 30
    >>> f"{f.epsilon(1e-5, solver=Auto(seconds=5)):.4f}"
    '2.0628'
    """

    tolerance: float = 1e-4
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse what would never stop."""
        if not 0 < self.tolerance < math.inf:
            raise InvalidParameter(
                f"tolerance must be positive; got {self.tolerance!r}. Write a relative width such "
                "as 1e-4"
            )
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise InvalidParameter(
                f"seconds must be a number from 0 on, or None; got {self.seconds!r}. Write a time "
                "such as 10"
            )


@final
@dataclass(frozen=True, slots=True)
class Contour:
    """Reads a composition by inverting its cumulant along a line in the complex plane.

    Of laws whose cumulant is known; docs/theory/contour.md. A question about another composition
    raises UnsupportedComposition. One pair with formulas of its own is read by these.
    """


@final
@dataclass(frozen=True, slots=True)
class Lattice:
    """Reads a composition on a grid of losses with this step, and by the bounds that always hold.

    See docs/theory/lattice.md. A step that takes too many cells raises InvalidParameter with one
    that does not. One pair with formulas of its own is read by these.

    Attributes:
        step: of the lattice, positive. The width of a bracket falls with the square of the step
            for smooth losses, and with the step for atoms that are no multiples of it.

    >>> from neyman.curves import Lattice, gdp, poisson
    >>> f = poisson(gdp(1), 0.01) ** 100
    >>> bounds = f.delta(0.5, solver=Lattice(0.001), bracket=True)
    >>> bounds.lower <= f.delta(0.5, bracket=True).lower <= f.delta(0.5) <= bounds.upper
    True
    """

    step: Real

    def __post_init__(self) -> None:
        """Refuse a step that is not positive."""
        if exact(self.step, "step") <= 0:
            raise InvalidParameter(
                f"step must be positive; got {text(exact(self.step, 'step'))}. Write one such as "
                "0.001"
            )


Solver: TypeAlias = Auto | Contour | Lattice


@dataclass(slots=True)
class Effort:
    """The solver in use, when it began, and which methods have answered since."""

    solver: Solver
    began: float = field(default_factory=time.monotonic)
    methods: set[str] = field(default_factory=set[str])

    @property
    def tolerance(self) -> float:
        """The relative width that is narrow enough."""
        return self.solver.tolerance if isinstance(self.solver, Auto) else 0.0

    @property
    def step(self) -> Fraction | None:
        """The step of the lattice, if the caller has chosen one."""
        return exact(self.solver.step, "step") if isinstance(self.solver, Lattice) else None

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        limit = self.solver.seconds if isinstance(self.solver, Auto) else None
        return limit is not None and time.monotonic() - self.began >= limit

    @property
    def method(self) -> str:
        """What answered, in words."""
        if "class" in self.methods:
            return "Rényi orders"
        return " and ".join(sorted(self.methods)) or "closed form"


_IN_USE: ContextVar[Effort | None] = ContextVar("effort", default=None)
_DEFAULT = Auto()


def in_use() -> Effort:
    """Return the effort of the question that is being answered; a default one outside of any."""
    return _IN_USE.get() or Effort(_DEFAULT)


@contextmanager
def using(solver: Solver | None) -> Generator[Effort]:
    """Use this solver inside the block; None for the one in use, or the default."""
    outer = _IN_USE.get()
    if solver is None and outer is not None:
        yield outer
        return
    effort = Effort(solver or _DEFAULT)
    token = _IN_USE.set(effort)
    try:
        yield effort
    finally:
        _IN_USE.reset(token)
