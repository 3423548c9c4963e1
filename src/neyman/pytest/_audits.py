"""What a suite shares: the probability of a false alarm, and the seed of what audits draw."""

from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, final

from neyman.errors import InvalidParameter

__all__ = ["PROPERTY", "Audits", "level_of"]

PROPERTY: Final = "neyman_audit"
"""What an audit found, as pytest carries it from a test to the end of the run."""


@final
@dataclass(slots=True)
class Audits:
    """Levels and seeds of the audits in one run of a suite.

    A test has an equal share of the level; its first audit takes half of the share, its second a
    quarter, and so on. So the levels of all audits add up to less than that of the suite, however
    many a test makes.

    Attributes:
        level: the probability that any claim that holds is refuted in one run of the suite.
        seed: of what the audits draw themselves.
        tests: how many tests audit something.
    """

    level: float
    seed: int
    tests: int = 1
    _made: Counter[str] = field(default_factory=Counter[str], repr=False)

    def next(self, test: str) -> tuple[float, int]:
        """Return the level and the seed of the next audit of a test, by its name.

        Equal seeds give a test the same seeds, whichever other tests run.
        """
        self._made[test] += 1
        place = self._made[test]
        digest = sha256(f"{self.seed}\n{test}\n{place}".encode()).digest()
        return self.level / self.tests / 2**place, int.from_bytes(digest[:7])


def level_of(written: str) -> float:
    """Return the level in the configuration.

    Raises:
        InvalidParameter: if there is none, or it is outside (0, 1/2).
    """
    try:
        level = float(written)
    except ValueError:
        level = 0.0
    if not 0 < level < 0.5:
        given = f"got {written!r}" if written else "none was given"
        raise InvalidParameter(
            "neyman_level must be in (0, 0.5), the probability that the suite fails although all "
            f'its claims hold; {given}. Write neyman_level = "0.001" under '
            "[tool.pytest.ini_options]"
        )
    return level
