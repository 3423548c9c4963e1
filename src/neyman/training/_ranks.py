"""Records of several processes, merged into the record of one training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from neyman.arguments import brief
from neyman.errors import InvalidParameter
from neyman.training._phase import Phase

__all__ = ["check_alike", "merged_phases"]


def check_alike(facts: Sequence[Mapping[str, object]]) -> None:
    """Check that records have the same facts.

    Raises:
        InvalidParameter: if one fact differs.
    """
    first, *others = facts
    for other in others:
        for name, value in first.items():
            if other[name] != value:
                raise InvalidParameter(
                    f"records of one training must have the same {name}; got {brief(value)} and "
                    f"{brief(other[name])}. Write records of ranks that trained together"
                )


def merged_phases(of_ranks: Sequence[tuple[Phase, ...]], *, sharded: bool) -> tuple[Phase, ...]:
    """Return the phases of a training from those of its ranks.

    The phases of ranks are not composed: a step of all ranks is one step, because each record is on
    one rank and the noise is added once, for the whole batch.

    Args:
        of_ranks: the phases of each rank, in the order of ranks.
        sharded: whether each rank sampled from its own share of the records.

    Raises:
        InvalidParameter: if the phases differ, or the seeds are not what `sharded` needs.
    """
    check_alike([{"number of phases": len(phases)} for phases in of_ranks])
    merged: list[Phase] = []
    for i, alike in enumerate(zip(*of_ranks, strict=True)):
        bare = [replace(phase, seeds=()) for phase in alike]
        check_alike([{f"phase {i}": str(one), f"record of phase {i}": one} for one in bare])
        seeds = [seed for phase in alike for seed in phase.seeds]
        merged.append(replace(alike[0], seeds=_checked(seeds, alike, i, sharded=sharded)))
    return tuple(merged)


def _checked(
    seeds: Sequence[str], alike: Sequence[Phase], place: int, *, sharded: bool
) -> tuple[str, ...]:
    known = sum(bool(phase.seeds) for phase in alike)
    if known not in (0, len(alike)):
        raise InvalidParameter(
            f"either every rank or no rank must have recorded the seed of phase {place}; got some. "
            "Write the digest of each rank's seed"
        )
    few = tuple(dict.fromkeys(seeds))
    if sharded and len(few) != len(seeds):
        raise InvalidParameter(
            f"ranks that sample from their own shares must have different seeds; phase {place} has "
            "one seed twice, so that these ranks chose the same positions at each step and their "
            "batches are not independent. Seed each rank with seed + rank"
        )
    if not sharded and len(few) > 1:
        raise InvalidParameter(
            f"ranks that divide one batch must have the same seed; phase {place} has "
            f"{len(few)} seeds, so that a record may be in no rank's part or in several. Write "
            "one seed, or sharded=True where each rank sampled from its own share of the records"
        )
    return few if sharded or few else ()
