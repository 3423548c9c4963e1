"""Kernel machines: functions fitted to private records, released at public points."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, IntArray
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._arrays import rows, source
from neyman.functional._gaussian_processes._kernels import COVARIANCE_ERROR, Kernel
from neyman.functional._gaussian_processes._losses import Loss
from neyman.functional._gaussian_processes._values import SCALE, Question, Whitening, in_lattice
from neyman.numerics import Array, Real, ceil_float, exact, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Machine", "kernel_machine", "machine_norm"]

_MOST_RECORDS: Final = 4096
_MOST_STEPS: Final = 20_000
_UNIT: Final = 2.0**-53


def kernel_machine(
    x: npt.NDArray[np.generic],
    y: npt.NDArray[np.generic],
    points: npt.ArrayLike,
    *,
    loss: Loss,
    kernel: Kernel,
    unit: str,
    name: str,
    regularization: Real | None = None,
    penalty: Real | None = None,
) -> Aggregate:
    """Ask for a classifier or regression function at public points, under replace_one.

        f = argmin sum_i l(y_i, f(x_i)) + (r/2) ||f||_H^2
          = argmin (1/n) sum_i l(y_i, f(x_i)) + lambda ||f||_H^2,  r = 2 lambda n

    Write either r or lambda. The number n of records is public; x and y are private.

    A fixed, public number of gradient steps gives f. Each step is a contraction, so one record
    moves the iterate by no more than the minimiser (`machine_norm`), also before convergence. There
    is no test of convergence, which could fail or reveal data.

    Args:
        x: private, a NumPy array of any real dtype, shape (n, d) or (n,), n at most 4096. A record
            with a number that is not finite counts for nothing.
        y: private, a NumPy array of shape (n,). Its sign is the class; for `Huber` it is the
            response.
        points: the public points, shape (m, d), m at most 2048.
        loss: `Logistic()`, `Hinge(smoothing)` with smoothing > 0, or `Huber(threshold)`.
        kernel: k, the kernel of H and the covariance of the noise.
        unit: the privacy unit, in the words of the ledger; each record is one unit.
        name: the name of the dataset in the ledger; other records need another name.
        regularization: r, relative to the sum of losses; 1/C of a support vector machine. Public.
            Give this or `penalty`.
        penalty: lambda, relative to the mean of losses. Public.

    Raises:
        InvalidParameter: if an argument is not valid, the loss has a corner, or r is so small that
            it needs more than 20,000 steps.

    Guarantee: with Gaussian noise of variance v it is mu-GDP under replace_one, mu^2 = l2_squared /
        v, within the numerical model: every rounding between records and integers is bounded and
        included (docs/theory/gaussian_processes.md), about 1e-5 (relative).
    Error: the distance of f from the minimiser is at most 2^-9 times its sensitivity, in ||.||_H.
    Source: Hall, Rinaldo and Wasserman (2013), section 4, for the release and lambda; Hardt, Recht
        and Singer, *Train faster, generalize better*, ICML 2016, for the stability of the steps.
    """
    whitening = Whitening.of(kernel, points)
    private, answers = rows(x, whitening.points.shape[1], "x"), rows(y, 1, "y")[:, 0]
    strength = _strength(regularization, penalty, max(len(private), 1))
    machine = Machine(loss, strength, kernel, len(private))
    if answers.shape != private.shape[:1]:
        raise InvalidParameter(
            f"there must be as many answers as places; got {len(answers)} answers and "
            f"{len(private)} places"
        )
    reach = whitening.error(machine.norm, machine.value_error)
    scale = SCALE / float(machine.distance)
    distance = scale * (machine.distance + 2 * machine.error + 2 * reach)

    def compute() -> IntArray:
        places, targets = private.astype(np.float64), answers.astype(np.float64)
        values = machine.fitted(places, targets, whitening.points)
        return np.rint(scale * whitening.whiten(values[:, None])[:, 0]).astype(np.int64)

    question = Question(
        statistic="kernel_machine",
        whitening=whitening,
        unit=unit,
        source=source(name, private, answers),
        neighbors="replace_one",
        records=len(private),
    )
    return question.aggregate(
        {
            "loss": loss.record(),
            "regularization": text(machine.regularization),
            "steps": machine.steps,
        },
        machine,
        in_lattice(distance, whitening.size),
        1 / scale,
        compute,
    )


def machine_norm(
    loss: Loss,
    *,
    neighbors: Neighbors,
    regularization: Real | None = None,
    penalty: Real | None = None,
    records: int | None = None,
) -> Fraction:
    """Return the most that one unit moves f = argmin sum_i l(y_i, f(x_i)) + (r/2) ||f||_H^2.

        add_remove    L / r
        replace_one   2 L / r, and L / (lambda n) for (1/n) sum_i l(y_i, f(x_i)) + lambda ||f||_H^2

    r is relative to the sum of losses, so to one record. lambda is relative to their mean, so the
    number of records must be public: use lambda with replace_one only.

    Proof: the objective J is r-strongly convex, so J(g) - J(f) >= (r/2) ||f - g||^2 at its
        minimiser f, and the same holds for the neighbour's objective. In the sum of both, only the
        losses of the unit remain: r ||f - g||^2 <= |l(f(x)) - l(g(x))| + |l'(g(x')) - l'(f(x'))|.
        Each is at most L |f(x) - g(x)| <= L sqrt(k(x, x)) ||f - g|| = L ||f - g||. It needs no
        assumption on y or x. One record with r >= 1 and the hinge attains it.

    >>> from neyman.functional import Logistic
    >>> machine_norm(Logistic(), regularization=50, neighbors="replace_one")
    Fraction(1, 25)
    >>> machine_norm(Logistic(), penalty=0.1, records=250, neighbors="replace_one")
    Fraction(1, 25)

    Args:
        loss: l, convex, of slope at most L.
        neighbors: the neighbouring relation.
        regularization: r; give this or `penalty`.
        penalty: lambda; give it with `records`.
        records: n, the public number of records.

    Raises:
        InvalidParameter: if both or neither of r and lambda are given, one is not positive, or
            lambda has no public number of records.

    Source: Bousquet and Elisseeff, *Stability and generalization*, JMLR 2002, theorem 22; Hall,
        Rinaldo and Wasserman (2013), section 4.
    """
    check_type("loss", loss, Loss, "Logistic(), Hinge(smoothing) or Huber(threshold)")
    moved = 1 if check_neighbors(neighbors) == "add_remove" else 2
    if penalty is not None and (records is None or moved == 1):
        raise InvalidParameter(
            "penalty must have a public number of records, because it is relative to the mean of "
            'the losses; got none. Write records=, with neighbors="replace_one", or regularization='
        )
    number = 1 if records is None else whole("records", records, 1, 2**53)
    return moved * loss.lipschitz / _strength(regularization, penalty, number)


def _strength(regularization: Real | None, penalty: Real | None, records: int) -> Fraction:
    """Return r, or 2 lambda n."""
    if (regularization is None) == (penalty is None):
        given = "neither" if penalty is None else "both"
        raise InvalidParameter(
            f"the strength must be one of regularization and penalty; got {given}. Write "
            "regularization=r for sum l + (r/2) ||f||^2, or penalty=lambda for (1/n) sum l + "
            "lambda ||f||^2"
        )
    name, value = "regularization", regularization
    if value is None:
        name, value = "penalty", penalty
    strength = exact(value, name)
    if strength <= 0:
        raise InvalidParameter(
            f"{name}={text(strength)} is not positive; write the weight of the squared norm, "
            "without which one record moves the function without bound"
        )
    return strength if penalty is None else 2 * strength * records


@final
@dataclass(frozen=True, slots=True)
class Machine:
    """A fixed number of gradient steps f <- c f - e sum_i l'(y_i, f(x_i)) k(x_i, .) from f = 0.

    With curvature b of the loss and k(x, x) = 1, the step is a contraction by c if e b n <= 2 c.
    Proof: the gradient of the sum is co-coercive, <u, v> >= ||v||^2 / (b n), so ||c u - e v||^2 <=
    c^2 ||u||^2 + (e^2 - 2 e c / (b n)) ||v||^2. Steps of neighbours differ by 2 L e at the same f.
    So iterates differ by at most 2 L e (1 + c + c^2 + ...) = 2 L e / (1 - c) = 2 L / r.

    Attributes:
        loss: l.
        regularization: r.
        kernel: k.
        records: n, public.
    """

    loss: Loss
    regularization: Fraction
    kernel: Kernel
    records: int
    _step: tuple[float, float, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Choose the doubles e and c."""
        machine_norm(self.loss, regularization=self.regularization, neighbors="replace_one")
        curvature, r, n = self.loss.curvature, self.regularization, self.records
        if curvature is None:
            raise InvalidParameter(
                "the slope of the loss must not jump; write Hinge(smoothing=0.1)"
            )
        if not 1 <= n <= _MOST_RECORDS:
            raise InvalidParameter(
                f"there must be 1 to {_MOST_RECORDS} records; got {n}. Write fewer, or a density"
            )
        # A little shorter than 2 / (b n + 2 r), so that the doubles keep e b n <= 2 c.
        step = float(2 / (curvature * n + 2 * r)) * (1 - 2.0**-30)
        kept = 1 - step * float(r)
        object.__setattr__(self, "_step", (step, kept, float(curvature)))
        if not 0 <= kept < 1 or Fraction(step) * curvature * n > 2 * Fraction(kept):
            raise ArithmeticError("a step is too long")
        if self.steps > _MOST_STEPS:
            raise InvalidParameter(
                f"regularization={text(r)} for {n} records would take {self.steps} steps, more "
                f"than {_MOST_STEPS}; write a larger one. If it is the lambda of (1/n) sum l + "
                "lambda ||f||^2, write it as penalty"
            )

    @property
    def steps(self) -> int:
        """The number of steps after which f is within distance / 2^10 of the limit.

        The norm of the limit is below n L / r.
        """
        kept = self._step[1]
        return 1 if not kept else math.ceil(math.log(self.records * 2.0**9) / -math.log(kept))

    @property
    def distance(self) -> float:
        """2 L e / (1 - c) for the doubles e and c, rounded up."""
        step, kept, _ = self._step
        return ceil_float(2 * self.loss.lipschitz * Fraction(step) / (1 - Fraction(kept)))

    @property
    def norm(self) -> float:
        """A bound on ||f||_H, the sum of |coefficients|: n L e / (1 - c), plus rounding."""
        return 1.01 * self.records * self.distance / 2

    @property
    def value_error(self) -> float:
        """A bound on |computed - exact f(x)|: of each k, and of sums of n products."""
        return 1.01 * self.norm * (COVARIANCE_ERROR + 1.01 * (self.records + 1) * _UNIT)

    @property
    def error(self) -> float:
        """A bound on ||computed f - iterate in exact arithmetic||_H, for given records.

        In each step and for each record, the slope has an error of b value_error + 2^-48 L, and the
        coefficient, at most norm / n, is rounded three times. The contraction sums these with a
        factor of 1 / (1 - c).
        """
        step, kept, curvature = self._step
        slope = curvature * self.value_error + 2.0**-48 * float(self.loss.lipschitz)
        rounding = 4 * _UNIT * self.norm / self.records
        return 1.01 * self.records * (step * slope + rounding) / (1 - kept)

    def fitted(self, x: Array, y: Array, points: Array) -> Array:
        """Return f at the points."""
        finite = np.isfinite(x).all(axis=1) & np.isfinite(y)
        places = np.where(finite[:, None], x, 0.0)
        answers = np.where(finite, y, 0.0)
        gram = self.kernel.covariance(places, places)
        step, kept, _ = self._step
        coefficients = np.zeros(len(x))
        for _ in range(self.steps):
            slopes = np.where(finite, self.loss.slope(answers, gram @ coefficients), 0.0)
            coefficients = kept * coefficients - step * slopes
        return self.kernel.covariance(points, places) @ coefficients
