"""For tests and pages: noise from a seed where the text shows what was drawn."""

from collections.abc import Callable, Iterator
from zlib import crc32

import pytest

# What these show of a release changes with what is drawn: chance must not decide their tests.
REPEATED = (
    "README.md",
    "docs/",
    "src/",
    *(f"tests/{room}/" for room in ("report", "session", "cli", "docs", "plots", "released")),
)


@pytest.fixture(scope="module", autouse=True)
def seeded(request: pytest.FixtureRequest) -> Iterator[Callable[[str], None] | None]:
    """Draw noise from a seed where tests show what is drawn; elsewhere it is real."""
    if not request.node.nodeid.startswith(REPEATED):
        yield None
        return
    from neyman.mechanisms import OperatingSystem
    from neyman.testing import SeededBits

    source = SeededBits(0)

    def seed(name: str) -> None:
        nonlocal source
        source = SeededBits(crc32(name.encode()))

    seed(request.node.nodeid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OperatingSystem, "uint64", lambda _, n: source.uint64(n))
        yield seed


@pytest.fixture(autouse=True)
def seeded_by_name(
    request: pytest.FixtureRequest, seeded: Callable[[str], None] | None
) -> Iterator[None]:
    """Give a test draws of its own, whichever tests run before it."""
    if seeded is not None:
        seeded(request.node.nodeid)
    yield
    if seeded is not None:
        seeded(request.node.parent.nodeid)
