"""What a case is worth: (value, digits, method)."""

from fractions import Fraction

from accounting.allocation import allocation
from accounting.balls import BITS, num, shared
from accounting.contour import invert
from accounting.losses import (
    dpsgd,
    group,
    laplace,
    poisson_replace,
    response,
    subsampled_laplace,
    symmetrised,
)
from accounting.sums import (
    clones,
    discrete_gaussian,
    discrete_laplace,
    few,
    gaussian_delta,
    gaussian_epsilon,
    kov,
    laplace_delta,
    laplace_epsilon,
)
from flint import acb, ctx


def times(case):
    return int(Fraction(case["parameters"]["T"]))


def sampled(case):
    p, n = case["parameters"], times(case)
    if case["quantity"] == "cumulant":
        return *cumulant(p["sigma"], p["q"], case["direction"], case["at"]), "quadrature"
    if n <= 2:
        found = few(p["sigma"], p["q"], n, case["direction"], case["quantity"], case["at"])
        return *found, "closed" if n == 1 else "convolution"
    return inverted(case, lambda f: [(dpsgd(p["sigma"], p["q"], f), n)])


def inverted(case, make):
    found = invert(make, case["direction"], case["quantity"], case["at"])
    return *found, "contour"


def cumulant(sigma, q, side, at):
    """Return ([Re K, Im K], digits) of one step, twice evaluated."""
    found = []
    for fineness in (1.0, 1.13):
        s = acb(*(num(x) for x in at))
        s = 1 - s if side == "add" else s
        found.append(dpsgd(sigma, q, fineness).moment(s, 320, True).log())
    if at[1] == "0":
        found = [x.real for x in found]
        return [found[0], num("0")], shared(*found)
    return [found[0].real, found[0].imag], shared(*found)


def one_gaussian(case):
    mu = num(case["parameters"]["mu"])
    if case["quantity"] == "delta":
        return gaussian_delta(mu, num(case["at"])), 50, "closed"
    return *gaussian_epsilon(mu, case["at"]), "closed"


def many_gaussians(case):
    low, step, count = (case["parameters"][x] for x in ("first", "step", "count"))
    sigmas = [Fraction(low) + k * Fraction(step) for k in range(int(count))]
    return *gaussian_epsilon(sum(1 / num(x) ** 2 for x in sigmas).sqrt(), case["at"]), "closed"


def laplaces(case):
    p = case["parameters"]
    form = laplace_delta if case["quantity"] == "delta" else laplace_epsilon
    return *form(p["epsilon0"], times(case), case["at"]), "finite"


def responses(case):
    p = case["parameters"]
    found = kov(p["epsilon0"], p["delta0"], times(case), case["quantity"], case["at"])
    return *found, "finite" if times(case) <= 20000 else "contour"


def discrete(case):
    p, n = case["parameters"], times(case)
    if case["kind"] == "discrete_gaussian":
        pair = discrete_gaussian(p["sigma"], n)
    else:
        pair = discrete_laplace(p["a"], int(p["shift"]), n)
    return *getattr(pair, case["quantity"])(case["at"]), "finite"


def several(case):
    p = case["parameters"]
    return inverted(
        case,
        lambda f: [
            *((dpsgd(s, q, f), int(t)) for s, q, t in p["phases"]),
            *((laplace(e), int(t)) for e, t in p["laplace"]),
            *((response(e), int(t)) for e, t in p["responses"]),
        ],
    )


def simple(make):
    """Return the way to invert T equal steps, make(parameters, fineness)."""
    return lambda case: inverted(case, lambda f: [(make(case["parameters"], f), times(case))])


WAYS = {
    "dpsgd": sampled,
    "gaussian": one_gaussian,
    "gaussians": many_gaussians,
    "laplace": laplaces,
    "randomized_response": responses,
    "discrete_gaussian": discrete,
    "discrete_laplace": discrete,
    "mixed": several,
    "subsampled_laplace": simple(lambda p, f: subsampled_laplace(p["epsilon0"], p["q"], f)),
    "poisson_replace": simple(lambda p, f: poisson_replace(p["sigma"], p["q"], f)),
    "without_replacement": simple(lambda p, f: symmetrised(p["sigma"], p["q"], f)),
    "group": simple(lambda p, f: group(p["sigma"], p["q"], int(p["k"]), f)),
    "clones": lambda c: (
        *clones(int(c["parameters"]["n"]), c["parameters"]["epsilon0"], c["at"]),
        "finite",
    ),
    "random_allocation": lambda c: (
        *allocation(c["parameters"]["sigma"], times(c), c["direction"], c["at"]),
        "contour",
    ),
}


def value(case):
    ctx.prec = BITS
    return WAYS[case["kind"]](case)
