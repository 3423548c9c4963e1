"""What comes out: a public answer, what it guarantees and what it cost."""

from neyman.released._guarantee import Guarantee, Spending
from neyman.released._release import Release
from neyman.released._text import text_of

__all__ = ["Guarantee", "Release", "Spending", "text_of"]
