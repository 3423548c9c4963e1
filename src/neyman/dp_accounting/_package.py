"""The package dp_accounting, or an error that names its extra."""

# pyright: reportMissingTypeStubs=false

from neyman.errors import MissingExtra

try:
    from dp_accounting import NeighboringRelation, PrivacyAccountant, dp_event
except ImportError as error:
    raise MissingExtra(
        "this needs the package dp_accounting, which is not installed; "
        "write pip install 'neyman[dp-accounting]'"
    ) from error

__all__ = ["NeighboringRelation", "PrivacyAccountant", "dp_event"]
