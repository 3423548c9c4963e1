"""Opacus (extra `opacus`): the exact accountant, and checks before and during a training.

The import registers the accountant "neyman": write `PrivacyEngine(accountant="neyman")`.
"""

from neyman.opacus._accountant import Accountant  # first: it says which extra is missing

from neyman.opacus._attach import attach  # isort: skip
from neyman.opacus._doctor import doctor  # isort: skip
from neyman.opacus._engine import PrivacyEngine, noise_multiplier  # isort: skip
from neyman.opacus._history import from_opacus  # isort: skip
from neyman.opacus._watch import Watch  # isort: skip

__all__ = [
    "Accountant",
    "PrivacyEngine",
    "Watch",
    "attach",
    "doctor",
    "from_opacus",
    "noise_multiplier",
]
