"""Densities of groups that are estimated together: all groups show their common part.

The groups of a release have disjoint people and the same waves. c is the noisy mean of a wave in
one group. r is its mean in all other groups, with the noise of their sum over the records of all of
them. r is independent of the group, so their difference is estimated as a density is, by shares l
of the least estimated error,

    r_j + l_j (c_j - r_j),       t_j = u_j ((c_j - r_j)^2 - b_j - v_j + k_j / n) n / (n - 1)
    k_j = 2 r_j c_j - r_j^2      the known part of the squared mean, besides t_j

A small group keeps little of its own noise; a large or different one keeps all of its own waves.
The result is the mean of this estimate, of error R, and of the estimate of the group alone, of
error R'. It uses Akaike's weights exp(-(n R + 2) / 2) and exp(-n R' / 2), as if the first had one
parameter more. Half of the standard deviation of R - R' is subtracted first. With few records, that
deviation is large if both estimates are far apart, so a different group is not drawn to the others
by chance.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np

from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._nearest import Table, nearest_density
from neyman.functional._densities._reading import Reading, reading_of

__all__ = ["PooledReading", "together", "without"]

# What is known of a difference must be worth more than chance to be believed: as for one parameter
# by Akaike's criterion, and with its weights.
_CHANCE: Final = 2.0
# So many standard deviations of what is gained are taken off it.
_UNCERTAIN: Final = 0.5
_FAR: Final = 700.0


def together(releases: tuple[ReleasedFunction, ...]) -> ReleasedFunction:
    """Return the release of all records of disjoint groups: the sum of their releases."""
    total = sum(
        (np.array(one.integers, object) for one in releases[1:]),
        np.array(releases[0].integers, object),
    )
    variance = math.fsum(one.stddev**2 for one in releases)
    return replace(releases[0], integers=tuple(total.tolist()), stddev=math.sqrt(variance))


def without(all_of_them: ReleasedFunction, one: ReleasedFunction) -> ReleasedFunction:
    """Return the release of all records except those of one group."""
    rest = np.subtract(all_of_them.integers, one.integers)
    variance = all_of_them.stddev**2 - one.stddev**2
    return replace(all_of_them, integers=tuple(rest.tolist()), stddev=math.sqrt(variance))


@final
@dataclass(frozen=True, slots=True, eq=False)
class PooledReading:
    """The estimate of one group together with others.

    Attributes:
        own: the estimate of its release alone.
        others: the estimate of the sum of all others.
        toward: the estimate of its difference from them.
        trust: the weight of the last; the first has the rest.
    """

    own: Reading = field(repr=False)
    others: Reading = field(repr=False)
    toward: Reading = field(repr=False)
    trust: float

    @classmethod
    def of(cls, release: ReleasedFunction, others: ReleasedFunction) -> "PooledReading":
        """Estimate a group together with the sum of others.

        Raises:
            InvalidParameter: if a released number of records is not positive.
        """
        own, rest = reading_of(release), reading_of(others)
        c, n = own.coefficients, own.coefficients.count
        means = np.real(c.values)
        reference = rest.shares * np.real(rest.coefficients.values)
        away = replace(c, values=means - reference)
        known = reference * (2 * means - reference)
        constant = np.zeros(c.values.shape)
        constant.flat[0] = 1.0
        round_shape = np.eye(1)
        probability = c.signal_probability(c.sampling(constant), round_shape)
        probability.flat[0] = 1.0
        sampling = c.sampling(probability)
        square = np.real(away.values) ** 2 - sampling - c.noise + known / n
        signal = away.signal_probability(sampling, round_shape) * square * (n / (n - 1))
        lies = 1 / max(1.0, 1 + float((c.weight * (signal + known)).sum()))
        variance = sampling - (signal + known) / n + lies * c.noise
        toward = Reading.chosen(away, round_shape, signal, variance)
        gain = (own.risk - toward.risk) * c.volume + float((c.weight * known).sum())
        apart = reference + toward.shares * (means - reference) - own.shares * means
        spread = 2 * float((((c.weight * apart) ** 2) * (sampling / lies + c.noise)).sum()) ** 0.5
        worth = (n * (gain - _UNCERTAIN * spread) - _CHANCE) / 2
        return cls(own, rest, toward, 1 / (1 + math.exp(-min(max(worth, -_FAR), _FAR))))

    @property
    def means(self) -> Coefficients:
        """The estimated waves of the group."""
        c = self.own.coefficients
        own, reference = (
            self.own.means,
            self.others.shares * np.real(self.others.coefficients.values),
        )
        toward = reference + self.toward.shares * np.real(self.toward.coefficients.values)
        found = self.trust * toward + (1 - self.trust) * own
        found.flat[0] = 1.0
        return replace(c, values=found)

    @property
    def table(self) -> Table:
        """The nearest density."""
        means = self.means
        drawn = np.asarray(np.abs(means.values) > 0, np.float64)
        return nearest_density(means.sides, means.on_places(drawn))
