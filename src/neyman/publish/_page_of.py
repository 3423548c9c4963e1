"""How a spec says that its answers are presented."""

from datetime import date

from pydantic import Field

from neyman.publish._presentation import Language, Suppression
from neyman.publish._section import Count, Positive, Section

__all__ = ["PageOf", "SuppressionOf"]


class SuppressionOf(Section):
    """What is left out: of every group in the same way, after the noise. { } leaves nothing out."""

    sentence = "write one or more of interval_wider_than, interval_wider_than_share, count_below"

    interval_wider_than: Positive | None = None
    """Numbers whose noise interval is wider, from end to end, in the units of the answer."""
    interval_wider_than_share: Positive | None = None
    """Numbers whose noise interval is wider than this share of the number; 0.5 is half of it."""
    count_below: Count | None = None
    """Rows whose noisy count is smaller, where the answer holds a count."""

    @property
    def rule(self) -> Suppression:
        """The rule."""
        return Suppression(
            interval_wider_than=self.interval_wider_than,
            interval_wider_than_share=self.interval_wider_than_share,
            count_below=self.count_below,
        )


class PageOf(Section):
    """What is said of the whole page. No question has a part in it: it can change at any time."""

    subtitle: str | None = None
    """Below the title."""
    notes: list[str] = Field(default=[])
    """Sentences above all answers."""
    contact: str | None = None
    """Who answers questions."""
    data_date: str | date | None = None
    """The day that the data are of, as a date or in words."""
    language: Language = "en"
    """Of the page."""
    suppress: SuppressionOf | None = None
    """What is left out of every answer whose query says nothing else."""
