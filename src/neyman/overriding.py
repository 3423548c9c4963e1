"""`override`: marks a method that has the documentation of the method it overrides."""

import sys
from typing import TYPE_CHECKING

if sys.version_info >= (3, 12):
    from typing import override
elif TYPE_CHECKING:
    from typing_extensions import override
else:

    def override(method):  # noqa: D103
        return method


__all__ = ["override"]
