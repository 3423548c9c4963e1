"""Audits of mechanisms, made by tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import pytest

import neyman.audit as audit
from neyman.calls import plain_calls
from neyman.curves import Pair, TradeOff
from neyman.pytest._audits import PROPERTY, Audits

__all__ = ["Auditor"]


@final
@dataclass(frozen=True, slots=True)
class Auditor:
    """Audits the mechanisms of one test; the fixture is its method `assert_private`.

    Attributes:
        audits: what the suite shares.
        item: the test.
    """

    audits: Audits
    item: pytest.Item

    @plain_calls
    def assert_private(
        self,
        run: Callable[[Any], object],
        data: object,
        neighbor: object,
        claim: TradeOff | Pair,
        *,
        seconds: float = 2.0,
        draws: int | None = None,
    ) -> audit.MechanismAudit:
        """Fail the test if runs on two neighbouring inputs refute the claim.

        Args:
            run: as for `neyman.audit.mechanism`.
            data: an input.
            neighbor: an input that the claim calls a neighbour of the first.
            claim: the guarantee that is claimed.
            seconds: how long the mechanism is run; less where it is refuted at once.
            draws: how often it is run on each input, in place of seconds. Then equal seeds run it
                equally often.

        Returns:
            The verdict.

        Guarantee: if all claims of the suite hold, one of them is refuted in a run of the suite
            with probability at most `neyman_level`.

        Raises:
            AssertionError: if the claim is refuted.
            InvalidParameter: as `neyman.audit.mechanism`.
        """
        __tracebackhide__ = True
        level, seed = self.audits.next(self.item.nodeid)
        found = audit.mechanism(
            run,
            data,
            neighbor,
            claim,
            seconds=seconds if draws is None else None,
            draws=draws,
            level=level,
            seed=seed,
        )
        self.item.user_properties.append((PROPERTY, _record(self.item.nodeid, found)))
        if found.refuted:
            # No assert: what the inputs hold would be printed with it.
            raise AssertionError(f"{found}\nRepeat it with --neyman-seed {self.audits.seed}.")
        return found


def _record(test: str, found: audit.MechanismAudit) -> dict[str, object]:
    return {
        "test": test,
        "claim": str(found.verdict.claim),
        "refuted": found.refuted,
        "p_value": found.p_value,
        "level": found.verdict.level,
        "verdict": str(found),
    }
