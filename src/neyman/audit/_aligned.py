"""White-box audit: the likelihood ratio of the noisy sums along the gradients of the canaries."""

import math

import numpy as np
import numpy.typing as npt

from neyman.arguments import got
from neyman.audit._checks import is_number
from neyman.audit._scores import real_array
from neyman.calls import plain_calls
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["aligned_scores"]


@plain_calls
def aligned_scores(
    signals: npt.ArrayLike, *, noise_multiplier: float, sampling_probability: float
) -> Array:
    """Return the scores of canaries whose gradients were compared with the noisy sums.

        score_i = sum_t log(1 - q + q exp((2 x_ti - 1) / (2 sigma^2)))
        x_ti = <gradient of canary i, noisy sum of step t> / clip^2

    For a canary of length clip that is orthogonal to all other gradients it is the privacy loss of
    DP-SGD: no attack tells the canary better. For other canaries it is one attack among many.

    Args:
        signals: x, shape (steps, canaries).
        noise_multiplier: sigma, that is claimed.
        sampling_probability: q, that is claimed.

    Returns:
        One score for each canary; high ones speak for its inclusion.

    Raises:
        InvalidParameter: if the signals are no such array, or a number is outside.

    Source: Nasr, Hayes, Steinke, Balle, Tramèr, Jagielski, Carlini and Terzis (2023), "Tight
        auditing of differentially private machine learning", for Dirac gradients.

    >>> signals = [[0.0, 1.0], [1.0, 3.0]]
    >>> aligned_scores(signals, noise_multiplier=1, sampling_probability=1).tolist()
    [0.0, 3.0]
    """
    sigma, q = noise_multiplier, sampling_probability
    if not is_number(sigma) or not is_number(q) or not (0 < sigma < math.inf and 0 < q <= 1):
        raise InvalidParameter(
            "noise_multiplier must be positive and sampling_probability in (0, 1]; got "
            f"{got(sigma)} and {got(q)}. Write those of the training, such as noise_multiplier=1, "
            "sampling_probability=0.01"
        )
    x = real_array(signals)
    if x is None or x.ndim != 2 or np.isnan(x).any():
        shape = "something else" if x is None else f"an array of shape {x.shape}"
        raise InvalidParameter(
            f"signals must be an array of numbers of shape (steps, canaries), without NaN; got "
            f"{shape}. A step whose sum is not a number shows its records: write inf for the "
            "canaries that were in it, or test that event alone"
        )
    loss = (2 * x - 1) / (2 * sigma * sigma)
    if q == 1:
        return loss.sum(axis=0)
    return np.logaddexp(math.log1p(-q), math.log(q) + loss).sum(axis=0)
