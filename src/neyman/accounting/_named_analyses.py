"""Analyses of known algorithms that follow shortly from composition."""

from neyman.curves import TradeOff, approx_dp, dominated_by, gdp, identity
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text

__all__ = ["gaussian_votes", "propose_test_release"]


def propose_test_release(test: TradeOff, release: TradeOff, *, failure: Real) -> TradeOff:
    """Return f_{0,failure} ⊗ test ⊗ release, the guarantee of propose-test-release.

    1. Propose a bound b of the local sensitivity, without the data or privately beforehand.

    2. `test` decides privately whether the data are far from every dataset at which b fails:
    typically with noise on the distance to the nearest one, which has sensitivity 1.

    3. Only if the test says yes, release the answer with noise for b: `release`.

    The guarantee holds under these conditions, which the function cannot check:

    * `test` is the guarantee of the answer to 2, for all neighbours;
    * `release` is that of 3 for neighbours between which the answer moves by at most b;
    * for every dataset with a neighbour at which the answer differs by more than b, the test says
      yes with probability at most `failure`;
    * nothing else depends on the data: not b, not the time taken, not what is published after a no.

    If the answer moves by more than b, both datasets get a yes with probability at most `failure`,
    and a no reveals nothing: f_{0,failure}. Otherwise the guarantee is test ⊗ release. So
    `worst(approx_dp(0, failure), test @ release)` holds as well, and is sharper. The result is a
    bound (`answer.of`).

    Args:
        test: guarantee of the test.
        release: guarantee of the release at sensitivity b.
        failure: in [0, 1).

    Raises:
        InvalidParameter: if `failure` is outside [0, 1).

    Source: Dwork and Lei (2009), "Differential privacy and robust statistics".

    >>> from neyman.curves import laplace
    >>> f = propose_test_release(laplace(0.5), gdp(1), failure=1e-6)
    >>> f"{f.delta(6):.2e}"
    '1.02e-06'
    """
    share = exact(failure, "failure")
    if not 0 <= share < 1:
        raise InvalidParameter(f"failure={text(share)} is outside [0, 1); write a probability")
    return dominated_by(approx_dp(0, share) @ test @ release)


def gaussian_votes(*, queries: int, noise_scale: Real) -> TradeOff:
    """Return the guarantee of noisy votes of teachers (PATE, GNMax), for any votes.

        mu^2 = 2 queries / noise_scale^2

    Every record is in the data of one teacher. Replacing it, or all data of that teacher, changes
    one vote in a query. One count moves down and another up: an L2 distance of sqrt(2). Only the
    label with the most noisy votes is published, which is post-processing.

    Args:
        queries: the number of labels requested, at least 0; each may depend on those before.
        noise_scale: standard deviation of the Gaussian noise on each count; positive.

    Guarantee: for neighbors="replace_one"; a bound (`answer.of`) that covers all the noisy votes.
        It does not depend on the data, so it is larger than analyses that charge less if teachers
        agree.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson (2018), "Scalable private
        learning with PATE", for the mechanism.

    >>> gaussian_votes(queries=200, noise_scale=40).mu()
    0.5
    """
    sigma = exact(noise_scale, "noise_scale")
    if sigma <= 0 or type(queries) is not int or queries < 0:
        raise InvalidParameter(
            "queries must be an int of at least 0 and noise_scale positive; got "
            f"queries={queries!r}, noise_scale={text(sigma)}"
        )
    return dominated_by(gdp(squared=2 * queries / sigma**2)) if queries else identity()
