"""dp_accounting (extra `dp-accounting`): an accountant and events with exact guarantees."""

from neyman.dp_accounting._accountant import NeymanAccountant
from neyman.dp_accounting._to_event import to_dp_event

__all__ = ["NeymanAccountant", "to_dp_event"]
