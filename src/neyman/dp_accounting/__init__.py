"""dp_accounting (extra `dp-accounting`): its events and calibrations accounted for by neyman."""

from neyman.dp_accounting._accountant import NeymanAccountant
from neyman.dp_accounting._to_event import to_dp_event

__all__ = ["NeymanAccountant", "to_dp_event"]
