"""A question as one sentence."""

from collections.abc import Callable, Sequence

from neyman.released import RecordedQuestion
from neyman.report._language import Language, read_language, translated

__all__ = ["capitalised", "question_text", "statistic_text"]


def question_text(
    question: RecordedQuestion, *, language: str = "en", called: Callable[[str], str] = str
) -> str:
    """Return the statistic, the groups and the contribution limits of a question, in words.

    Such as "count by carrier; at most 100 rows of one tailnum".

    Args:
        question: the question.
        language: "en", "ko" or "zh".
        called: the label of a column by its name; by default the name.
    """
    words, limits = read_language(language), question.limits
    what = statistic_text(question, language=language, called=called)
    if limits is None:
        return what
    return words.asked["limited"].format(what=what, limits=translated(limits, words) or limits)


def statistic_text(
    question: RecordedQuestion, *, language: str = "en", called: Callable[[str], str] = str
) -> str:
    """Return the same without contribution limits."""
    return _Sentence(read_language(language), called).what(question)


def capitalised(text: str, language: str) -> str:
    """Begin a sentence; in other languages it may begin with a name, which stays as it is."""
    return text[:1].upper() + text[1:] if language == "en" else text


class _Sentence:
    """Writes a question in a language."""

    def __init__(self, words: Language, called: Callable[[str], str]) -> None:
        self._words = words
        self._called = called

    def what(self, question: RecordedQuestion) -> str:
        by = question.groups.columns if question.margin is None else question.margin
        parts = question.parts if question.together else (question,)
        what = self._and(list(map(self._one, parts)))
        if by:
            what = self._put("by", what=what, groups=self._columns(by))
        steps = [step.get("step") for step in question.steps]
        chosen = self._words.asked["chosen"] if "where" in steps else ""
        return f"{what}{self._margins(question)}{chosen}"

    def _margins(self, question: RecordedQuestion) -> str:
        """Return the margins of a contingency table, in words."""
        sums = [
            self._put("sums_by", groups=self._columns(names))
            if names
            else self._words.asked["sums_all"]
            for names in question.margins
        ]
        return self._put("sums", sums=self._words.asked["comma"].join(sums)) if sums else ""

    def _one(self, question: RecordedQuestion) -> str:
        words = self._words
        name = question.statistic if "statistic" in question.record else "answer"
        statistic = words.asked.get(name, name.replace("_", " "))
        if question.statistic == "count_units":
            units = question.unit.many
            return self._put("count_units", units=translated(units, words) or units)
        columns = list(question.columns)
        if name == "survival" and columns:
            time, *events = columns
            which = self._columns([one for one in dict.fromkeys(events) if one != time])
            return self._put("lifetimes", time=self._called(time), events=which)
        response, features = "", list[str]()
        if question.response is not None:
            response = question.response.name
            features = [feature.name for feature in question.features]
        elif name == "regression" and len(columns) == 2:
            features, response = [columns[0]], columns[1]
        if response:
            return self._put(
                "on",
                statistic=statistic,
                response=self._called(response),
                features=self._columns(features),
            )
        if not columns:
            return statistic
        return self._put("of", statistic=statistic, columns=self._columns(columns))

    def _put(self, name: str, **values: str) -> str:
        return self._words.asked[name].format(**values)

    def _columns(self, names: Sequence[str]) -> str:
        return self._and([self._called(name) for name in names])

    def _and(self, parts: list[str]) -> str:
        comma, last = self._words.asked["comma"], self._words.asked["and"]
        return last.join(filter(None, [comma.join(parts[:-1]), *parts[-1:]]))
