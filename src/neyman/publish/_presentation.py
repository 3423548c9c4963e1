"""The presentation of a publication: labels, units of measure, rounding, order, suppression.

Nothing here is part of a question, so the ledger does not depend on it. Answers are public, so all
of it is free, and can change at any time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain
from typing import Final, Literal, TypeAlias, cast, final, get_args

from neyman.arguments import brief, check_list, check_type, got, whole
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact
from neyman.released import TOO_FEW, Release

__all__ = [
    "MOST_DECIMALS",
    "Display",
    "Language",
    "Order",
    "Presentation",
    "RowState",
    "Suppression",
    "key_text",
    "several_numbers",
]

Language: TypeAlias = Literal["en", "ko", "zh"]
Order: TypeAlias = Literal["declared", "largest", "smallest", "alphabetical"]

# More decimals than any float64 has.
MOST_DECIMALS: Final = 15


# Statistics with several numbers of different kinds.
_SEVERAL_NUMBERS: Final = ("together", "linear_regression")


@final
class RowState(StrEnum):
    """Whether a row of a statistic is shown; if not, why."""

    SHOWN = "shown"
    MARKED = "marked"
    """Shown and marked, because noise alone could have made it."""
    TOO_FEW = "too_few"
    """Suppressed, because noise alone could have made it."""
    TOO_UNCERTAIN = "too_uncertain"
    """Suppressed, because its noise interval is wider than the rule allows."""
    BELOW = "below"
    """Suppressed, because its count is smaller than the rule allows."""

    @property
    def left_out(self) -> bool:
        """Whether its numbers are suppressed."""
        return self not in (RowState.SHOWN, RowState.MARKED)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """A rule that suppresses numbers that are too uncertain, or come from too few rows.

    It applies to every group, after the noise: it uses only the release, and is free. It helps
    readers; privacy does not depend on it. Without any of the three, nothing is suppressed.

    Attributes:
        interval_wider_than: suppress a number if its noise interval is wider than this, in the
            units of the answer.
        interval_wider_than_share: suppress a number if its noise interval is wider than this share
            of the number: 0.5 is half of it.
        count_below: suppress a row if its noisy count is smaller. It needs a count, a number of
            units, or a statistic with a count, such as a mean.
    """

    interval_wider_than: Real | None = None
    interval_wider_than_share: Real | None = None
    count_below: int | None = None

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a width is not positive, or a count is below 1.
        """
        for name in ("interval_wider_than", "interval_wider_than_share"):
            width = getattr(self, name)
            if width is not None and exact(width, name) <= 0:
                raise InvalidParameter(f"{name} must be above 0; got {got(width)}")
        if self.count_below is not None:
            whole("count_below", self.count_below, 1, 2**53)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule in words, one sentence for each part."""
        said: list[str] = []
        if self.interval_wider_than is not None:
            said.append(
                "Numbers whose noise interval is wider than "
                f"{float(self.interval_wider_than):,g} are not shown."
            )
        if self.interval_wider_than_share is not None:
            said.append(
                "Numbers whose noise interval is wider than "
                f"{100 * float(self.interval_wider_than_share):,g} % of the number are not shown."
            )
        if self.count_below is not None:
            said.append(f"Groups whose noisy count is below {self.count_below:,} are not shown.")
        return tuple(said)

    def instead_of(self, state: RowState) -> str:
        """Return the text that replaces a suppressed number."""
        match state:
            case RowState.TOO_FEW:
                return TOO_FEW
            case RowState.TOO_UNCERTAIN:
                return "too uncertain"
            case RowState.BELOW:
                return f"fewer than {self.count_below:,}"
            case _:
                return ""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Display:
    """The presentation of one answer.

    Attributes:
        title: the title, instead of the question.
        note: a sentence below the title.
        label: the label of its number, such as "flights" instead of "count".
        unit: the unit of measure of its number, such as "EUR", instead of that of its column.
        decimals: the number of decimals; None for as many as the noise leaves significant.
        percent: whether numbers are shown in per cent: 0.25 as 25 %.
        order: the order of groups: as declared, largest or smallest number first, or alphabetical.
        suppress: the rule that suppresses rows; None for that of the page, `Suppression()` for no
            rule.
    """

    title: str | None = None
    note: str | None = None
    label: str | None = None
    unit: str | None = None
    decimals: int | None = None
    percent: bool = False
    order: Order = "declared"
    suppress: Suppression | None = None

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a field has another type, or the order is unknown.
        """
        for name in ("title", "note", "label", "unit"):
            _check_text(name, getattr(self, name))
        if self.decimals is not None:
            whole("decimals", self.decimals, 0, MOST_DECIMALS)
        check_type("percent", self.percent, bool, "True or False")
        _check_one_of("order", self.order, get_args(Order))
        _check_rule(self.suppress)

    @property
    def of_one_number(self) -> str | None:
        """The key of a field that describes a single number; None if there is none."""
        said = {"label": self.label, "unit": self.unit, "percent": self.percent}
        return next((key for key, value in said.items() if value), None)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """The presentation of a publication: its page, pictures and downloads.

    Attributes:
        subtitle: the subtitle.
        notes: sentences at the top of the page.
        contact: whom to ask about the page, such as an address.
        data_date: the date of the data, as a date or in words.
        language: the language: "en", "ko" or "zh".
        suppress: the rule that suppresses rows of all answers without their own rule.
        labels: the labels of columns, by name.
        values: the labels of values, by column and value.
        units: the units of measure, by column, such as "minutes".
        answers: the presentation of single answers, by id.
    """

    subtitle: str | None = None
    notes: Sequence[str] = ()
    contact: str | None = None
    data_date: str | date | None = None
    language: Language = "en"
    suppress: Suppression | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    units: Mapping[str, str] = field(default_factory=dict[str, str])
    answers: Mapping[str, Display] = field(default_factory=dict[str, Display])

    def __post_init__(self) -> None:
        """Check the fields, and convert values of columns with `key_text`.

        Raises:
            InvalidParameter: if a field has another type, or the language is unknown.
        """
        for name in ("subtitle", "contact"):
            _check_text(name, getattr(self, name))
        check_list("notes", self.notes, 'a list of sentences: ["..."]')
        for note in self.notes:
            check_type("a note", note, str, "a sentence")
        check_type("data_date", self.data_date, str | date | None, 'a date, or words: "May 2026"')
        _check_one_of("language", self.language, get_args(Language))
        _check_rule(self.suppress)
        for name in ("labels", "units"):
            _check_texts(name, getattr(self, name))
        by_column = 'words by value, by column: {"month": {1: "January"}}'
        check_type("values", self.values, Mapping, by_column)
        for words in self.values.values():
            check_type("the values of a column", words, Mapping, by_column)
            for word in words.values():
                check_type("the words of a value", word, str, "a text")
        by_id = 'by id: {"visits": ny.publish.Display(title="Visits")}'
        check_type("answers", self.answers, Mapping, by_id)
        for one in self.answers.values():
            check_type("an answer", one, Display, by_id)
        written = {
            column: {key_text(value): word for value, word in words.items()}
            for column, words in self.values.items()
        }
        object.__setattr__(self, "values", written)
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def words(self) -> frozenset[str]:
        """The author's names for columns and numbers: no language changes them."""
        of_answers = (one.label for one in self.answers.values() if one.label is not None)
        return frozenset((*self.labels.values(), *of_answers))

    def in_language(self, language: str) -> "Presentation":
        """Return the same in another language: "en", "ko" or "zh".

        Raises:
            InvalidParameter: if the language is unknown.
        """
        return replace(self, language=cast("Language", language))

    def display(self, name: str) -> Display:
        """Return the presentation of the answer with this id."""
        return self.answers.get(name) or Display()

    def check(self, releases: Mapping[str, Release], columns: Iterable[str]) -> None:
        """Refuse unknown ids and columns.

        Args:
            releases: the answers, by id.
            columns: the columns of the table; those of the questions are known.

        Raises:
            InvalidParameter: if an id or a column is unknown, or an answer with several numbers has
                a label or unit for one number.
        """
        for name, display in self.answers.items():
            if name not in releases:
                raise InvalidParameter(_unknown("answers", "ids of the answers", name, releases))
            key = display.of_one_number
            if key is not None and releases[name].question.statistic in _SEVERAL_NUMBERS:
                raise InvalidParameter(several_numbers(key, brief(name)))
        asked = (sorted(one.question.named_columns) for one in releases.values())
        known = dict.fromkeys([*columns, *chain.from_iterable(asked)])
        for what in ("labels", "values", "units"):
            for name in getattr(self, what):
                if name not in known:
                    raise InvalidParameter(_unknown(what, "columns of the answers", name, known))


def key_text(value: object) -> str:
    """Return a value as text, as in a spec: 1 and 1.0 as "1", a boolean as "true"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def several_numbers(key: str, entry: str) -> str:
    """Return the message for a label or a unit of an answer with several numbers."""
    return (
        f"{key} must be for an answer of one number; got it for {entry!r}, which has several "
        "numbers. Write the label and unit of their columns, or ask for each number by itself"
    )


def _unknown(where: str, what: str, name: str, known: Collection[str]) -> str:
    shown = ", ".join(brief(one) for one in known)
    choices = f"Write one of these: {shown}" if known else "Leave it out: there is none"
    return f"{where} must have the {what} only; got {brief(name)!r}. {choices}"


def _check_text(name: str, value: object) -> None:
    check_type(name, value, str | None, "a text or None")


def _check_texts(name: str, value: object) -> None:
    instead = 'words by column: {"wait": "waiting time"}'
    check_type(name, value, Mapping, instead)
    for column, words in cast("Mapping[object, object]", value).items():
        check_type(f"a column in {name}", column, str, instead)
        check_type(f"the words in {name}", words, str, instead)


def _check_rule(value: object) -> None:
    instead = "a rule, such as ny.publish.Suppression(count_below=10)"
    check_type("suppress", value, Suppression | None, instead)


def _check_one_of(name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        meant = get_close_matches(str(value), known, n=1)
        instead = f". Write {meant[0]!r}" if meant else ""
        choices = ", ".join(map(repr, known))
        raise InvalidParameter(f"{name} must be one of {choices}; got {got(value)}{instead}")
