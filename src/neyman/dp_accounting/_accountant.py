"""The accountant for dp_accounting's calibration."""

from typing import final

from neyman.accounting import from_dp_event
from neyman.curves import TradeOff
from neyman.dp_accounting._package import NeighboringRelation, PrivacyAccountant, dp_event
from neyman.errors import NeymanError
from neyman.overriding import override

__all__ = ["NeymanAccountant"]


@final
class NeymanAccountant(PrivacyAccountant):
    """A `dp_accounting.PrivacyAccountant` whose state is a trade-off function.

    It replaces `PLDAccountant` and `RdpAccountant`: `compose`, `supports`, `ledger`, `get_epsilon`,
    `get_delta`, and `dp_accounting.calibrate_dp_mechanism(NeymanAccountant, ...)`. `compose`
    refuses an event that is not supported, alone or with the earlier events, and then adds nothing.

    Args:
        neighboring_relation: a member of dp_accounting's enum.

    Guarantee: that of `from_dp_event` for all composed events together. You can choose events
        adaptively, but each number holds for the whole sequence only.
    Error: epsilon and delta are upper bounds; `accountant.curve` has brackets and every other view.
    Source: Zhu, Dong and Wang (2022), theorem 10.

    >>> from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    >>> accountant = NeymanAccountant()
    >>> step = PoissonSampledDpEvent(0.01, GaussianDpEvent(1.0))
    >>> f"{accountant.compose(step, 1000).get_epsilon(1e-5):.4f}"
    '1.8282'
    >>> f"{accountant.curve.tpr(0.01):.4f}"
    '0.0291'
    """

    def __init__(
        self, neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE
    ) -> None:
        super().__init__(neighboring_relation)
        self._curve: TradeOff | None = None

    @property
    def curve(self) -> TradeOff:
        """The guarantee of all composed events together."""
        if self._curve is None:
            self._curve = self._read(self.ledger)
        return self._curve

    @override
    def get_epsilon(self, target_delta: float) -> float:
        return float(self.curve.epsilon(target_delta))

    @override
    def get_delta(self, target_epsilon: float) -> float:
        return float(self.curve.delta(target_epsilon))

    @override
    def _maybe_compose(
        self, event: dp_event.DpEvent, count: int, do_compose: bool
    ) -> PrivacyAccountant.CompositionErrorDetails | None:
        if do_compose:
            # The ledger, which is all there is to read, has it already.
            self._curve = None
            return None
        # `supports` asks about 0 of them, of which anything would do.
        more = dp_event.SelfComposedDpEvent(event, max(count, 1))
        try:
            self._read(dp_event.ComposedDpEvent([self.ledger, more]))
        except NeymanError as refused:
            return self.CompositionErrorDetails(event, str(refused))
        return None

    def _read(self, event: dp_event.DpEvent) -> TradeOff:
        return from_dp_event(event, neighbors=self.neighboring_relation)
