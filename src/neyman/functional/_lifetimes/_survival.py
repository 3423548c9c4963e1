"""Survival times, some of them cut short: a question of two curves, or of one more a cause."""

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
    """Events and censorings on one time axis; a record is in one of them, or in none.

    Attributes:
        horizon: the end of the study; whoever is still at risk then is censored there.
        bandwidth: of the kernels, in the units of time.
        counted: whether the number of records is private and released.
        causes: how many kinds of events there are, of which a record has one at most.
    """

    horizon: Fraction
    bandwidth: Fraction
    counted: bool
    causes: int = 1

    @property
    def bases(self) -> tuple[Basis, ...]:
        """Of the events of each cause, and last of the censored.

        Events are always counted: how many have one is private under both relations. The censored
        are unless the number of records is public, which leaves it by subtraction.
        """
        events = self._basis(counted=True)
        return *[events] * self.causes, self._basis(counted=self.counted)

    @property
    def axes(self) -> tuple[Nodes, ...]:
        """When a record ends, whether beyond the horizon, and by which cause, 0 if by none."""
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
        """How many integers are released."""
        return sum(basis.size for basis in self.bases)

    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""
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
    """Ask for the survival curve of right-censored times, one record a unit.

    Two smoothed counts over time are released: N(t), of events, and C(t), of censorings. The
    product limit of the two, S(t) = prod_{s <= t} (1 - dN(s) / Y(s)), Y = n - N - C before s, is
    post-processing: `functional.function` makes it. Of several causes each has a count of events
    of its own, and noise does not grow with their number.

    Args:
        durations: private times from entry to event or censoring, a NumPy array of shape (n,). They
            are read when the question is paid for, and none can raise an error: a negative one
            counts as 0, and a record with a NaN counts for nothing.
        observed: private; whether the time ended with the event: True, or a number of at least
            1/2, where it did; of several causes 0, or the number of the cause from 1 on; same
            shape.
        horizon: public end of the study, in the units of the durations. A time beyond it is
            censored there.
        bandwidth: public; how finely the budget is divided over time: waves much shorter are not
            released. A twenty-fifth of the horizon is a good first choice for some hundred records,
            a fiftieth for thousands; noise depends little on it.
        causes: how many causes an event can have, up to 16; public. A record has one at most.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; one record is theirs.
        name: stands for these records in the ledger: other records need another name.

    Raises:
        InvalidParameter: if a declaration is unusable, the arrays hold no real numbers or are of
            two shapes, or are empty under replace_one.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
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
    """Ask for the survival curve of whatever can be counted at public nodes.

    As `survival`, of records that say themselves who is protected: arrays, or columns of a table,
    for which `neyman.publish.survival` calls this.

    Args:
        records: private; of each three numbers: the duration, the duration again, and whether the
            event was observed, or by which cause.
        horizon: as for `survival`.
        bandwidth: as for `survival`.
        causes: as for `survival`.

    Raises:
        InvalidParameter: if a declaration is unusable.
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
    """Return what the channels are called."""
    events = ["event"] if causes == 1 else [f"cause {cause}" for cause in range(1, causes + 1)]
    return *events, "censored"


def _sensitivity(bases: tuple[Basis, ...], neighbors: Neighbors) -> Sensitivity:
    """Return the largest move within a channel, or from one to another."""
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
