"""How far one unit moves a function, in the norm of a kernel's Hilbert space."""

import math
from fractions import Fraction

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._gaussian_processes._kernels import Kernel, check_kernel
from neyman.functional._gaussian_processes._losses import Loss
from neyman.numerics import ULP, Real, exact, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["density_norm", "machine_norm", "mean_norm"]


def density_norm(
    kernel: Kernel, *, bandwidth: Real, dimension: int, diameter: Real, neighbors: Neighbors
) -> float:
    """Return how far one unit moves the sum of its Gaussian bumps sum_i K_h(. - x_i).

        add_remove    ||K_h||_H
        replace_one   sup ||K_h(. - x) - K_h(. - y)||_H; sqrt(2 (1 - exp(-R^2 / (2 h^2)))) K_h(0)
                      for noise with l = h

    The mean under replace_one, where the number n of records is public, moves by an n-th of it.

    >>> from neyman.functional import SquaredExponential
    >>> places = dict(bandwidth=0.5, dimension=1, diameter=100)
    >>> round(density_norm(SquaredExponential(0.5), **places, neighbors="replace_one"), 6)
    1.128379

    Args:
        kernel: the covariance of the noise.
        bandwidth: h.
        dimension: d.
        diameter: R, the largest distance of two values, in the units of h.
        neighbors: the neighbouring relation.

    Raises:
        InvalidParameter: if the norm is infinite or unknown: see `Kernel.bump_norm_squared`.

    Error: rounded up, within 1e-13 relatively; for Matern kernels under replace_one at most
        sqrt(2) too large.
    Source: Hall, Rinaldo and Wasserman (2013), section 4.1, for l = h.
    """
    check_kernel(kernel)
    if check_neighbors(neighbors) == "add_remove":
        squared = kernel.bump_norm_squared(bandwidth, dimension)
    else:
        squared = kernel.bump_distance_squared(bandwidth, dimension, diameter)
    return math.sqrt(squared) * (1 + ULP)


def machine_norm(loss: Loss, *, regularization: Real, neighbors: Neighbors) -> Fraction:
    """Return how far one unit moves the f that minimises sum_i l(y_i, f(x_i)) + (r/2) ||f||_H^2.

        add_remove    L / r
        replace_one   2 L / r

    The losses are added up, not averaged, so that r stands against one record: with averages and
    (lambda/2) ||f||^2 write r = lambda n, with lambda ||f||^2 write r = 2 lambda n; r is 1/C of a
    support vector machine.

    Proof: the objective J is r-strongly convex, so J(g) - J(f) >= (r/2) ||f - g||^2 at its
    minimiser f, and the same for the neighbour's. Adding both, everything cancels but the losses of
    the unit: r ||f - g||^2 <= |l(f(x)) - l(g(x))| + |l'(g(x')) - l'(f(x'))|, each at most
    L |f(x) - g(x)| <= L sqrt(k(x, x)) ||f - g|| = L ||f - g||. Nothing is asked of y or x.
    One record with r >= 1 and the hinge attains it.

    >>> from neyman.functional import Logistic
    >>> machine_norm(Logistic(), regularization=50, neighbors="replace_one")
    Fraction(1, 25)

    Args:
        loss: l, convex, of slope at most L.
        regularization: r.
        neighbors: the neighbouring relation.

    Raises:
        InvalidParameter: if r is not positive.

    Source: Bousquet and Elisseeff, *Stability and generalization*, JMLR 2002, theorem 22; Hall,
        Rinaldo and Wasserman (2013), section 4.2.
    """
    check_type("loss", loss, Loss, "Logistic(), Hinge(smoothing) or Huber(threshold)")
    strength = exact(regularization, "regularization")
    if strength <= 0:
        raise InvalidParameter(
            f"regularization={text(strength)} is not positive; write the weight of the squared "
            "norm, without which one record moves the function without bound"
        )
    moved = 1 if check_neighbors(neighbors) == "add_remove" else 2
    return moved * loss.lipschitz / strength


def mean_norm(radius: Real, *, neighbors: Neighbors) -> Fraction:
    """Return how far one unit moves a sum of curves, each of norm ||f||_H at most `radius`.

    add_remove    radius
    replace_one   2 radius
    """
    bound = exact(radius, "radius")
    if bound <= 0:
        raise InvalidParameter(f"radius={text(bound)} is not positive; write the largest norm kept")
    return bound if check_neighbors(neighbors) == "add_remove" else 2 * bound
