"""Explains a guarantee in words and natural frequencies, in the reader's language."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.arguments import check_type, whole
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact, text
from neyman.released import Guarantee
from neyman.report._explained_numbers import (
    FEWEST,
    LARGEST_BASE,
    Attacks,
    Said,
    contents,
    outcomes,
    suspicions,
    terms,
    tests,
)
from neyman.report._html import safe
from neyman.report._language import Language, Quoted, Value, read_language
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Explanation", "Section", "Sentence", "explain"]

_NOT_PROMISED = ("population", "elsewhere", "together", "others", "delta", "machine")
_FPRS = (Fraction(1, 100), Fraction(1, 20))
_FLAGGED = (Fraction(1, 10),)
_CANDIDATES = (10, 1000)
_CHANCES = (Fraction(1, 10**6),)


@final
@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    Attributes:
        name: the name of the sentence, the same in every language.
        values: its rounded numbers, and texts that it quotes.
        text: the sentence in the language.
    """

    name: str
    values: Mapping[str, int | str]
    text: str


@final
@dataclass(frozen=True, slots=True)
class Section:
    """Sentences under a heading.

    Attributes:
        name: the name of the section, the same in every language.
        heading: the heading in the language.
        sentences: its sentences, in order.
    """

    name: str
    heading: str
    sentences: tuple[Sentence, ...]


@final
@dataclass(frozen=True, slots=True)
class Explanation:
    """An explanation of a guarantee; `str()` is its text, and a notebook shows it as HTML.

    Attributes:
        language: the language of the text.
        title: the title in the language.
        curve: the curve that is explained.
        sections: its sections, in order.
    """

    language: str
    title: str
    curve: TradeOff
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        """The whole text, one line for each sentence."""
        parts = [self.title]
        for section in self.sections:
            lines = [f"- {sentence.text}" for sentence in section.sentences]
            parts.append("\n".join([section.heading, *lines]))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        parts = [f"<h2>{safe(self.title)}</h2>"]
        for section in self.sections:
            items = "".join(f"<li>{safe(sentence.text)}</li>" for sentence in section.sentences)
            parts.append(f"<h3>{safe(section.heading)}</h3><ul>{items}</ul>")
        return f'<section lang="{safe(self.language)}">{"".join(parts)}</section>'

    def to_json(self) -> dict[str, object]:
        """Return the text with its numbers, JSON-able."""
        return {
            "format": "neyman.explanation",
            "version": 1,
            "language": self.language,
            "title": self.title,
            "curve": self.curve.to_json(),
            "sections": [
                {
                    "name": section.name,
                    "heading": section.heading,
                    "sentences": [
                        {"name": one.name, "values": dict(one.values), "text": one.text}
                        for one in section.sentences
                    ],
                }
                for section in self.sections
            ],
        }


def explain(
    guarantee: TradeOff | Guarantee,
    *,
    language: str,
    priors: Sequence[Real],
    fprs: Sequence[Real] = _FPRS,
    flagged: Sequence[Real] = _FLAGGED,
    candidates: Sequence[int] = _CANDIDATES,
    chances: Sequence[Real] = _CHANCES,
    deltas: Sequence[Real] = (),
) -> Explanation:
    """Explain a guarantee: whom it protects, what an attacker can do, and what it does not cover.

    A suspicion is what an attacker wants to decide: whether a record is in the data, or which of
    two contents it has.

    Args:
        guarantee: a `Guarantee`, which names the privacy unit and the neighbouring relation, or a
            curve.
        language: "en", "ko" or "zh".
        priors: the shares of suspicions that are true before the release, in (0, 1). They are
            assumptions about the attacker, so there is no default.
        fprs: false positive rates of attacks, in (0, 1).
        flagged: shares of suspicions that an attacker confirms, in (0, 1).
        candidates: numbers of equally likely contents, among which an attacker looks for that of
            a record.
        chances: probabilities of reconstructing a content without the release.
        deltas: values of delta at which to give epsilon, in [0, 1).

    Returns:
        The text by sections and sentences; see `str()`, `.to_json()` and `.sections`.

    Raises:
        InvalidParameter: if a share is not a decimal of at most nine places in its range, or is
            too small to count in 10^9, or the language is unknown.
        NotCertified: if the curve gives only estimates.
        RelationMismatch: if the curve is proved for another relation than the guarantee names.

    Guarantee: every number is a proved bound, rounded in favour of the attacker: true positives are
        upper bounds, false positives are lower bounds.
    Error: whole suspicions of 1,000 or more; mu and epsilon are rounded up at six digits.

    >>> from neyman.curves import gdp
    >>> found = explain(gdp(1), language="en", priors=[0.5])
    >>> print(found.sections[3].sentences[0].text)
    An attacker who wrongly confirms at most 10 of 1,000 false suspicions rightly confirms at most
    93 of 1,000 true ones (without the release: 10).
    """
    words = read_language(language)
    curve, unit, relation, assumptions = _given(guarantee)
    shares = _shares(priors, "priors")
    if not shares:
        raise InvalidParameter(
            "priors must have at least one share; got none. Write shares of suspicions that are "
            "true, such as priors=[0.5]"
        )
    check_type("deltas", deltas, Iterable, "a list of numbers, such as deltas=[1e-5]")
    attacks = Attacks(curve)
    plan: dict[str, Sequence[Said]] = {
        "protected": _protected(unit, relation),
        "attacker": [("knows", {}), ("unlimited", {})],
        "suspicions": list(suspicions(attacks, shares, _shares(flagged, "flagged"))),
        "tests": list(tests(attacks, _shares(fprs, "fprs"))),
        "outcomes": outcomes(attacks, shares),
        "contents": list(
            contents(attacks, _numbers(candidates), _shares(chances, "chances"), relation)
        ),
        "terms": list(terms(curve, [_delta(delta) for delta in deltas])),
        "not_promised": [(name, {}) for name in _NOT_PROMISED],
        "assumed": _assumed(assumptions),
        "reading": [("bounds", {}), ("averages", {})],
    }
    sections = tuple(
        Section(name, words.headings[name], tuple(_sentence(words, *said) for said in plan[name]))
        for name in plan
    )
    return Explanation(language, words.title, curve, sections)


def _sentence(words: Language, name: str, values: Mapping[str, Value]) -> Sentence:
    plain = {field: value.plain for field, value in values.items()}
    return Sentence(name, plain, words.say(name, values))


def _given(
    guarantee: TradeOff | Guarantee,
) -> tuple[TradeOff, str | None, Neighbors | None, tuple[str, ...]]:
    """Return the curve, the unit, the relation and the assumptions; None if unknown."""
    if isinstance(guarantee, TradeOff):
        known = guarantee.remove.neighbors or guarantee.add.neighbors
        return guarantee, None, check_neighbors(known) if known else None, ()
    if not isinstance(guarantee, Guarantee):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"guarantee must be a Guarantee or a trade-off function of both directions; got a "
            f"{type(guarantee).__name__}. Write for example gdp(1)"
        )
    proved = {guarantee.curve.remove.neighbors, guarantee.curve.add.neighbors} - {None}
    if proved - {guarantee.neighbors}:
        raise RelationMismatch(
            f"guarantee must name the neighbouring relation of its curve; got "
            f"neighbors={guarantee.neighbors!r} with a curve for "
            f"{', '.join(map(repr, sorted(map(str, proved))))}. Write the relation of the curve"
        )
    return guarantee.curve, guarantee.unit, guarantee.neighbors, guarantee.assumptions


def _protected(unit: str | None, relation: str | None) -> list[Said]:
    who: Said = ("unit", {"unit": Quoted(unit)}) if unit else ("unit_unnamed", {})
    return [who, (relation or "relation_unnamed", {})]


def _assumed(assumptions: Sequence[str]) -> list[Said]:
    listed: list[Said] = [("assumption", {"assumption": Quoted(one)}) for one in assumptions]
    return listed or [("assumed_unnamed", {})]


def _numbers(candidates: Sequence[int]) -> list[int]:
    check_type("candidates", candidates, Iterable, "a list of numbers, such as candidates=[10]")
    return [whole("candidates", many, 2, LARGEST_BASE // FEWEST) for many in candidates]


def _shares(shares: Sequence[Real], name: str) -> list[Fraction]:
    """Return shares as exact decimals that can be counted in 10^9."""
    check_type(name, shares, Iterable, f"a list of shares, such as {name}=[0.5]")
    found = [exact(share, name) for share in shares]
    for share in found:
        countable = (share * LARGEST_BASE).denominator == 1
        if not (0 < share < 1 and countable and min(share, 1 - share) * LARGEST_BASE >= FEWEST):
            raise InvalidParameter(
                f"{name} must be decimals of at most nine places, from 1e-8 to 1 - 1e-8; got "
                f"{text(share)}. Write for example 0.01"
            )
    return found


def _delta(delta: Real) -> Fraction:
    value = exact(delta, "deltas")
    if not 0 <= value < 1:
        raise InvalidParameter(
            f"deltas must be in [0, 1); got {text(value)}. Write for example 1e-6"
        )
    return value
