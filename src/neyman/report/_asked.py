"""A question in one sentence."""

from collections.abc import Callable, Mapping

from neyman.released import columns_of, counts_units, limits_said, list_of, record_of, units_of
from neyman.report._language import Language, read_language
from neyman.report._translated import translated

__all__ = ["asked", "begun", "what_of"]


def asked(
    query: Mapping[str, object], *, language: str = "en", called: Callable[[str], str] = str
) -> str:
    """Say what was asked, of which groups, and how much of a unit counts at most.

    Such as "count by carrier; at most 100 rows of one tailnum".

    Args:
        query: the question, as the ledger records it.
        language: "en", "ko" or "zh".
        called: what a column is called; its name by default.
    """
    words, limits = read_language(language), limits_said(query)
    what = what_of(query, language=language, called=called)
    if limits is None:
        return what
    return words.asked["limited"].format(what=what, limits=translated(limits, words) or limits)


def what_of(
    query: Mapping[str, object], *, language: str = "en", called: Callable[[str], str] = str
) -> str:
    """Say the same without what limits count."""
    return _Sentence(read_language(language), called).what(query)


def begun(text: str, language: str) -> str:
    """Begin a sentence; in other languages it may begin with a name, which stays as it is."""
    return text[:1].upper() + text[1:] if language == "en" else text


class _Sentence:
    """Writes a question in a language."""

    def __init__(self, words: Language, called: Callable[[str], str]) -> None:
        self._words = words
        self._called = called

    def what(self, query: Mapping[str, object]) -> str:
        keys = record_of(query.get("keys"))
        groups = _names(keys.get("columns", keys.get("unknown")))
        margin = query.get("margin")
        by = groups if margin is None else _names(margin)
        parts = list_of(query.get("parts")) if query.get("statistic") == "together" else [query]
        said = self._and([self._one({**query, **record_of(part)}) for part in parts])
        if by:
            said = self._put("by", what=said, groups=self._columns(by))
        steps = [record_of(step).get("step") for step in list_of(query.get("made"))]
        chosen = self._words.asked["chosen"] if "where" in steps else ""
        return f"{said}{self._margins(query)}{chosen}"

    def _margins(self, query: Mapping[str, object]) -> str:
        """Say which margins are shown of a contingency table."""
        shown = [_names(one) for one in list_of(query.get("margins"))]
        said = [
            self._put("sums_by", groups=self._columns(names))
            if names
            else self._words.asked["sums_all"]
            for names in shown
        ]
        return self._put("sums", sums=self._words.asked["comma"].join(said)) if said else ""

    def _one(self, query: Mapping[str, object]) -> str:
        name, words = str(query.get("statistic", "answer")), self._words
        said = words.asked.get(name, name.replace("_", " "))
        if counts_units(query):
            units = units_of(query)
            return self._put("count_units", units=translated(units, words) or units)
        if name == "survival" and query.get("columns"):
            time, *events = _names(query["columns"])
            which = self._columns([one for one in dict.fromkeys(events) if one != time])
            return self._put("lifetimes", time=self._called(time), events=which)
        listed = _names(query.get("columns"))
        columns = listed or list(columns_of(query))
        response, features = "", list[str]()
        if "response" in query:
            response = _column(query["response"])
            features = [_column(feature) for feature in list_of(query.get("features"))]
        elif name == "regression" and len(columns) == 2:
            features, response = [columns[0]], columns[1]
        if response:
            return self._put(
                "on",
                statistic=said,
                response=self._called(response),
                features=self._columns(features),
            )
        if not columns:
            return said
        return self._put("of", statistic=said, columns=self._columns(columns))

    def _put(self, name: str, **values: str) -> str:
        return self._words.asked[name].format(**values)

    def _columns(self, names: list[str]) -> str:
        return self._and([self._called(name) for name in names])

    def _and(self, parts: list[str]) -> str:
        comma, last = self._words.asked["comma"], self._words.asked["and"]
        return last.join(filter(None, [comma.join(parts[:-1]), *parts[-1:]]))


def _column(written: object) -> str:
    return str(record_of(written).get("column", written))


def _names(written: object) -> list[str]:
    return list(map(str, list_of(written)))
