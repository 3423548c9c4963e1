"""The question of survival: right-censored times, with one or several causes."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Countable, IntArray
from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._arrays import ArrayRecords
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Interval
from neyman.functional._bases._features import clamped, feature_sensitivity, whole_sums
from neyman.functional._bases._target import Cumulative
from neyman.functional._bases._waves import FINE
from neyman.functional._channels import ChannelReading
from neyman.functional._question import question_of
from neyman.nodes import Nodes, beyond
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["Exits", "survival", "survival_of"]

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 4
_MOST_CAUSES: Final = 16


@final
@dataclass(frozen=True, slots=True)
class Exits:
    """Events and censorings on one time axis; a record is in at most one of them.

    Attributes:
        horizon: the end of the study; records still at risk then are censored there.
        bandwidth: bandwidth of the kernels, in the units of time.
        counted: whether the number of records is private and released.
        causes: the number of causes of events; a record has at most one event.
    """

    horizon: Fraction
    bandwidth: Fraction
    counted: bool
    causes: int = 1

    @property
    def bases(self) -> tuple[Basis, ...]:
        """The bases for the events of each cause, and then for censorings.

        Events are always counted, because their number is private under both relations. Censorings
        are counted unless the number of records is public; then their number follows by
        subtraction.
        """
        events = self._basis(counted=True)
        return *[events] * self.causes, self._basis(counted=self.counted)

    @property
    def axes(self) -> tuple[Nodes, ...]:
        """The nodes of the time, whether it is beyond the horizon, and the cause; 0 for none."""
        status = Nodes(
            start=0.0,
            end=float(self.causes),
            step=1.0,
            number=self.causes + 1,
            closed=False,
            dropped=False,
        )
        return *self.bases[0].axes, beyond(float(self.horizon)), status

    def _basis(self, *, counted: bool) -> Basis:
        if self.bandwidth < FINE * self.horizon:
            raise InvalidParameter(
                f"bandwidth must be at least a 1024th of the horizon; got {text(self.bandwidth)}. "
                f"Write {float(FINE * self.horizon):.6g} or more"
            )
        domain = Interval(0, self.horizon, outside="clip")
        return Basis(domain, self.bandwidth, Cumulative(), counted)

    @property
    def size(self) -> int:
        """The number of released integers."""
        return sum(basis.size for basis in self.bases)

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        several = {} if self.causes == 1 else {"causes": self.causes}
        return {
            "horizon": text(self.horizon),
            "bandwidth": text(self.bandwidth),
            "counted": self.counted,
            **several,
        }


def survival(
    durations: npt.NDArray[np.generic],
    observed: npt.NDArray[np.generic],
    *,
    horizon: Real,
    bandwidth: Real,
    causes: int = 1,
    neighbors: Neighbors,
    unit: str,
    name: str,
) -> Aggregate:
    """Ask for the survival curve of right-censored times; each record is one privacy unit.

    The release has two smoothed counts over time: N(t) of events and C(t) of censorings. Their
    product limit S(t) = prod_{s <= t} (1 - dN(s) / Y(s)), Y = n - N - C before s, is
    post-processing by `functional.function`. With several causes, each has its own count of events,
    and the noise does not grow with their number.

    Args:
        durations: private times from entry to event or censoring, a NumPy array of shape (n,). They
            are read after the ledger is charged, and no value raises an error: a negative time
            counts as 0, and a record with NaN counts for nothing.
        observed: private, the same shape; whether the time ended with the event: True, or a number
            of at least 1/2, if it did. For several causes, the number of the cause from 1 on, or 0.
        horizon: the public end of the study, in the units of the durations. A later time is
            censored there.
        bandwidth: public; the time resolution, in the units of the durations. Much shorter waves
            are not released. A twenty-fifth of the horizon is a good first choice for some hundred
            records, a fiftieth for thousands; the noise depends little on it.
        causes: the public number of causes of an event, up to 16. A record has at most one.
        neighbors: "add_remove", where the number of records is private and also released, or
            "replace_one", where it is public.
        unit: the privacy unit, in the words of the ledger; each record is one unit.
        name: the name of the dataset in the ledger; other records need another name.

    Raises:
        InvalidParameter: if an argument is not valid, or the arrays are not of real numbers, have
            different shapes, or are empty under replace_one.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Kaplan and Meier (1958) for the product limit; Gondara and Wang (2020), "Differentially
        private survival function estimation", for counts released instead of curves.
    """
    # The durations twice: where they are, and whether they lie beyond the horizon.
    records = ArrayRecords.of(
        ("durations", durations),
        ("durations", durations),
        ("observed", observed),
        name=name,
        unit=unit,
        neighbors=neighbors,
    )
    if durations.shape != observed.shape:
        raise InvalidParameter(
            "durations and observed must have one shape, with one of each for each record"
        )
    return survival_of(records, horizon=horizon, bandwidth=bandwidth, causes=causes)


def survival_of(
    records: Countable, *, horizon: Real, bandwidth: Real, causes: int = 1
) -> Aggregate:
    """Ask for the survival curve of records that can be counted at public nodes.

    It is `survival` for a `Countable`, arrays or columns of a table, which knows its privacy unit.
    `neyman.publish.survival` calls it.

    Args:
        records: private records with three numbers each: the duration, the duration again, and
            whether the event was observed, or its cause.
        horizon: as for `survival`.
        bandwidth: as for `survival`.
        causes: as for `survival`.

    Raises:
        InvalidParameter: if an argument is not valid.
    """
    end = exact(horizon, "horizon")
    if end <= 0:
        raise InvalidParameter(f"horizon={text(end)} is not positive; write the end of the study")
    kinds = whole("causes", causes, 1, _MOST_CAUSES)
    exits = Exits(end, exact(bandwidth, "bandwidth"), records.records is None, kinds)
    bases = exits.bases

    def sums(counts: IntArray) -> IntArray:
        times = clamped(counts, 2 * kinds + 2).reshape(len(counts), -1, 2, kinds + 1)
        events = [times[:, :, 0, cause] for cause in range(1, kinds + 1)]
        parts = *events, times.sum((2, 3)) - sum(events)
        return np.concatenate(
            [whole_sums(basis, part) for basis, part in zip(bases, parts, strict=True)], axis=1
        )

    return question_of(
        records,
        {
            "statistic": "survival",
            "channels": exits.record(),
            "rules": _RULES,
        },
        rule=exits,
        axes=exits.axes,
        one=_sensitivity(bases, records.neighbors),
        size=exits.size,
        reading=ChannelReading(tuple(zip(_names(kinds), bases, strict=True))),
        ends=False,
        sums=sums,
    )


def _names(causes: int) -> tuple[str, ...]:
    """Return the names of the channels."""
    events = ["event"] if causes == 1 else [f"cause {cause}" for cause in range(1, causes + 1)]
    return *events, "censored"


def _sensitivity(bases: tuple[Basis, ...], neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity: the largest move within a channel, or from one to another."""
    alone = [feature_sensitivity(basis, "add_remove") for basis in bases]
    moves = [feature_sensitivity(basis, neighbors) for basis in bases]
    lengths = sorted(s.l2_squared or Fraction(0) for s in alone)
    squares = [s.l2_squared or Fraction(0) for s in moves]
    if neighbors == "replace_one":
        squares.append(lengths[-1] + lengths[-2])
    return Sensitivity(
        neighbors=neighbors,
        l2_squared=max(squares),
        coordinates=sum(basis.size for basis in bases),
        largest=max(s.largest or 0 for s in moves),
    )
