"""How a publication is presented: words, units of measure, rounding, order, what is left out.

Nothing here is part of a question: what the ledger holds is the same under any title. Answers are
public, so all of it is free and can be changed at any time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain
from typing import Final, Literal, TypeAlias, cast, final, get_args

from neyman.arguments import brief, check_list, check_type, given, whole
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact
from neyman.released import TOO_FEW, Release

__all__ = [
    "MOST_DECIMALS",
    "SEVERAL",
    "Display",
    "Language",
    "Order",
    "Presentation",
    "RowState",
    "Suppression",
    "key_text",
]

Language: TypeAlias = Literal["en", "ko", "zh"]
Order: TypeAlias = Literal["declared", "largest", "smallest", "alphabetical"]

SEVERAL: Final = (
    ", whose answer has several numbers; write the label and unit of their columns, or ask for "
    "each number by itself"
)
# No float64 holds more digits after the point that mean anything.
MOST_DECIMALS: Final = 15


# Answers with several numbers, each of its own kind.
_SEVERAL_NUMBERS: Final = ("together", "linear_regression")


@final
class RowState(StrEnum):
    """Whether a row of a statistic is shown; if it is left out, why."""

    SHOWN = "shown"
    MARKED = "marked"
    """Shown and marked, for noise alone could have made it."""
    TOO_FEW = "too_few"
    """Left out, for noise alone could have made it."""
    TOO_UNCERTAIN = "too_uncertain"
    """Left out, for its noise interval is wider than the rule allows."""
    BELOW = "below"
    """Left out, for its count is smaller than the rule allows."""

    @property
    def left_out(self) -> bool:
        """Whether its numbers are left out."""
        return self not in (RowState.SHOWN, RowState.MARKED)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Which numbers are left out because they are too uncertain or of too few.

    It is applied to every group in the same way, and after the noise: it decides from what was
    released and costs nothing. It is for readers; nobody's privacy rests on it. Without any of the
    three nothing is left out.

    Attributes:
        interval_wider_than: a number is left out whose noise interval is wider, from end to end, in
            the units of the answer.
        interval_wider_than_share: a number is left out whose noise interval is wider, from end to
            end, than this share of the number itself: 0.5 is half of it.
        count_below: a row is left out whose noisy count is smaller. It takes a count, a number of
            units, or a statistic that is released with its count, such as a mean.
    """

    interval_wider_than: Real | None = None
    interval_wider_than_share: Real | None = None
    count_below: int | None = None

    def __post_init__(self) -> None:
        """Check.

        Raises:
            InvalidParameter: if a width is not above 0, or a count below 1.
        """
        for name in ("interval_wider_than", "interval_wider_than_share"):
            width = getattr(self, name)
            if width is not None and exact(width, name) <= 0:
                raise InvalidParameter(f"{given(name, width)} was given; write a number above 0")
        if self.count_below is not None:
            whole("count_below", self.count_below, 1, 2**53)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule in words, a sentence for each part of it."""
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
        """Return what stands in the place of a number that is left out."""
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
    """How one answer is displayed.

    Attributes:
        title: in place of one made of the question.
        note: a sentence below it.
        label: what its number is called, such as "flights", in place of "count".
        unit: of measure of its number, such as "EUR", in place of that of its column.
        decimals: how many its numbers have; None for as many as its noise leaves.
        percent: whether its numbers are shown in percent: 0.25 as 25 %.
        order: of its groups: as declared, largest or smallest number first, or alphabetical.
        suppress: what is left out of it; None for what the page says, `Suppression()` for nothing.
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
        """Check.

        Raises:
            InvalidParameter: if something is of another type, or there is no such order.
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
        """What is said of a number, by its key; None if nothing is."""
        said = {"label": self.label, "unit": self.unit, "percent": self.percent}
        return next((key for key, value in said.items() if value), None)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How a publication is presented, whatever is made of it: page, pictures, downloads.

    Attributes:
        subtitle: below the title.
        notes: sentences above all answers.
        contact: who answers questions, such as an address.
        data_date: the day that the data are of, as a date or in words.
        language: of the page: "en", "ko" or "zh".
        suppress: what is left out of every answer that says nothing else.
        labels: what columns are called, by name.
        values: what groups are called: by column, by value.
        units: of measure, by column, such as "minutes".
        answers: what is said of one answer alone, by its id.
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
        """Check, and write the values of columns as `key_text` does.

        Raises:
            InvalidParameter: if something is of another type, or there is no such language.
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
        """What columns and numbers are called by whoever wrote it: no language changes that."""
        of_answers = (one.label for one in self.answers.values() if one.label is not None)
        return frozenset((*self.labels.values(), *of_answers))

    def in_language(self, language: str) -> "Presentation":
        """Return the same in another language: "en", "ko" or "zh".

        Raises:
            InvalidParameter: if there is no such language.
        """
        return replace(self, language=cast("Language", language))

    def display(self, name: str) -> Display:
        """Return what is said of the answer with this id alone."""
        return self.answers.get(name) or Display()

    def check(self, releases: Mapping[str, Release], columns: Iterable[str]) -> None:
        """Refuse words for what is not there.

        Args:
            releases: the answers, by id.
            columns: of the table; those that a question names are known anyway.

        Raises:
            InvalidParameter: if an id or a column is unknown, or words for one number were given to
                several.
        """
        for name, display in self.answers.items():
            if name not in releases:
                raise InvalidParameter(f"answers has {brief(name)!r}, {_none_such('id', releases)}")
            key = display.of_one_number
            if key is not None and releases[name].question.statistic in _SEVERAL_NUMBERS:
                raise InvalidParameter(f"{key} of {brief(name)!r} was given{SEVERAL}")
        asked = (sorted(one.question.named_columns) for one in releases.values())
        known = dict.fromkeys([*columns, *chain.from_iterable(asked)])
        for what in ("labels", "values", "units"):
            for name in getattr(self, what):
                if name not in known:
                    found = _none_such("column", known)
                    raise InvalidParameter(f"{what} has {brief(name)!r}, {found}")


def key_text(value: object) -> str:
    """Return a value of a column as a spec names it: 1 and 1.0 as "1", a truth value as "true"."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _none_such(what: str, known: Collection[str]) -> str:
    shown = ", ".join(brief(name) for name in known)
    return f"and there is no such {what}; write one of these: {shown or 'none is there'}"


def _check_text(name: str, value: object) -> None:
    check_type(name, value, str | None, "a text, or leave it out")


def _check_texts(name: str, value: object) -> None:
    instead = 'words by column: {"wait": "waiting time"}'
    check_type(name, value, Mapping, instead)
    for column, words in cast("Mapping[object, object]", value).items():
        check_type(f"a column in {name}", column, str, instead)
        check_type(f"the words in {name}", words, str, instead)


def _check_rule(value: object) -> None:
    instead = "such as ny.publish.Suppression(count_below=10)"
    check_type("suppress", value, Suppression | None, instead)


def _check_one_of(name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        meant = get_close_matches(str(value), known, n=1)
        instead = repr(meant[0]) if meant else ", ".join(map(repr, known))
        raise InvalidParameter(f"{given(name, value)} was given; write {instead}")
