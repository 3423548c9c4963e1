"""Releases as text."""

from collections.abc import Sequence

from neyman.printable import printable
from neyman.publish import Publication
from neyman.released import Release, text_of

__all__ = ["text_of_all", "told"]


def text_of_all(publication: Publication) -> str:
    """Write releases for people."""
    named = zip(publication.names, publication.releases, strict=True)
    return "\n\n".join(told(name, one, [*publication.batch_of(one)]) for name, one in named)


def told(name: str, release: Release, batch: Sequence[str] = ()) -> str:
    """Write a release for people; of a function, what is read off it and not its coefficients."""
    from neyman.report import read_off

    if "coefficient" not in release.columns:
        return f"{printable(name)}\n{release.to_text(batch=batch)}"
    read, hidden, resolved = read_off(release)
    shown = [] if read is None else [text_of(read)]
    notes = [*hidden, *resolved, *release.limit_notes(batch)]
    lines = [printable(name), *shown, *map(printable, notes), _kept(release)]
    return "\n".join([*lines, release.to_text(rows=0)])


def _kept(release: Release) -> str:
    return f"the release itself: {len(release.groups):,} coefficients; --json prints them"
