"""A guarantee in words and natural frequencies, in the reader's language."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

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
from neyman.report._explanation import Explanation, Section, Sentence
from neyman.report._language import Language, Quoted, Value, read_language
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["explain"]

_NOT_PROMISED = ("population", "elsewhere", "together", "others", "delta", "machine")
_FPRS = (Fraction(1, 100), Fraction(1, 20))
_FLAGGED = (Fraction(1, 10),)
_CANDIDATES = (10, 1000)
_CHANCES = (Fraction(1, 10**6),)


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
    """Say what a guarantee means: whom it protects, what an attacker can do, what it leaves out.

    A suspicion is what the attacker wants to settle: one record in or out, or one of two contents.

    Args:
        guarantee: a `Guarantee`, which names the unit and the neighbouring relation, or a curve.
        language: "en", "ko" or "zh".
        priors: shares of suspicions that are true before anything was released, in (0, 1); they
            are assumptions about the attacker, so there is no default.
        fprs: false positive rates of attacks, in (0, 1).
        flagged: shares of all suspicions that an attacker confirms, in (0, 1).
        candidates: among how many equally likely contents an attacker looks for a record's own.
        chances: probabilities with which a content could be reconstructed without the release.
        deltas: in [0, 1), for those who read (epsilon, delta).

    Returns:
        The text, by sections and sentences; `str()` of it, `.to_json()`, `.sections`.

    Raises:
        InvalidParameter: if a share is no decimal of at most nine places in its range, or too
            small to be counted among 10^9, or the language is unknown.
        NotCertified: if the curve gives estimates only.
        RelationMismatch: if the curve is proved for another relation than the guarantee names.

    Guarantee: every number is a proved bound, rounded in favour of the attacker: what an attacker
        does is at most what is written, and at least so many confirmations are wrong.
    Error: whole suspicions of a base of 1,000 or more; mu and epsilon to six digits, upwards.

    >>> from neyman.curves import gdp
    >>> found = explain(gdp(1), language="en", priors=[0.5])
    >>> print(found.sections[3].sentences[0].text)
    Whoever wrongly confirms at most 10 of 1,000 false suspicions rightly confirms at most 93 of
    1,000 true ones (without the release: 10).
    """
    words = read_language(language)
    curve, unit, relation, assumptions = _given(guarantee)
    shares = _shares(priors, "priors")
    if not shares:
        raise InvalidParameter(
            "no prior was given; write the shares of true suspicions to reckon with, such as "
            "priors=[0.5]"
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
    """Return the curve, the unit, the relation and the assumptions; None for what is not said."""
    if isinstance(guarantee, TradeOff):
        known = guarantee.remove.neighbors or guarantee.add.neighbors
        return guarantee, None, check_neighbors(known) if known else None, ()
    if not isinstance(guarantee, Guarantee):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"guarantee of type {type(guarantee).__name__} was given; write a Guarantee, or a "
            "trade-off function of both directions such as gdp(1)"
        )
    proved = {guarantee.curve.remove.neighbors, guarantee.curve.add.neighbors} - {None}
    if proved - {guarantee.neighbors}:
        raise RelationMismatch(
            f"a guarantee for neighbors={guarantee.neighbors!r} was given, and its curve is proved "
            f"for {', '.join(map(repr, sorted(map(str, proved))))}; write the relation of the curve"
        )
    return guarantee.curve, guarantee.unit, guarantee.neighbors, guarantee.assumptions


def _protected(unit: str | None, relation: str | None) -> list[Said]:
    who: Said = ("unit", {"unit": Quoted(unit)}) if unit else ("unit_unnamed", {})
    return [who, (relation or "relation_unnamed", {})]


def _assumed(assumptions: Sequence[str]) -> list[Said]:
    said: list[Said] = [("assumption", {"assumption": Quoted(one)}) for one in assumptions]
    return said or [("assumed_unnamed", {})]


def _numbers(candidates: Sequence[int]) -> list[int]:
    check_type("candidates", candidates, Iterable, "a list of numbers, such as candidates=[10]")
    return [whole("candidates", many, 2, LARGEST_BASE // FEWEST) for many in candidates]


def _shares(shares: Sequence[Real], name: str) -> list[Fraction]:
    """Return shares that can be counted."""
    check_type(name, shares, Iterable, f"a list of shares, such as {name}=[0.5]")
    found = [exact(share, name) for share in shares]
    for share in found:
        countable = (share * LARGEST_BASE).denominator == 1
        if not (0 < share < 1 and countable and min(share, 1 - share) * LARGEST_BASE >= FEWEST):
            raise InvalidParameter(
                f"{name} holds {text(share)}, which cannot be counted out; write decimals of at "
                "most nine places, from 1e-8 to 1 - 1e-8, such as 0.01"
            )
    return found


def _delta(delta: Real) -> Fraction:
    value = exact(delta, "deltas")
    if not 0 <= value < 1:
        raise InvalidParameter(f"deltas holds {text(value)}; write numbers in [0, 1)")
    return value
