"""Reports for people. The pages need the extra `tables`; the explanations need nothing."""

from importlib import import_module
from typing import TYPE_CHECKING

from neyman.report._explain import Explanation, Section, Sentence, explain

if TYPE_CHECKING:
    from neyman.report._answer_tables import answer_tables as answer_tables
    from neyman.report._answer_tables import function_table as function_table
    from neyman.report._crosstabs import crosstab_of as crosstab_of
    from neyman.report._functions import ReadOff as ReadOff
    from neyman.report._functions import figures as figures
    from neyman.report._functions import read_off as read_off
    from neyman.report._html import safe as safe
    from neyman.report._language import Language as Language
    from neyman.report._language import Numeral as Numeral
    from neyman.report._language import read_language as read_language
    from neyman.report._language import relation as relation
    from neyman.report._language import translated as translated
    from neyman.report._ledger_page import ledger_html as ledger_html
    from neyman.report._model_card import model_card as model_card
    from neyman.report._page import html as html
    from neyman.report._question_text import question_text as question_text
    from neyman.report._records import csv_of as csv_of
    from neyman.report._records import recorded as recorded
    from neyman.report._records import records_of as records_of
    from neyman.report._rehearsal import rehearsal_html as rehearsal_html
    from neyman.report._run_page import run_html as run_html
    from neyman.report._statement import Attack as Attack
    from neyman.report._statement import Statement as Statement
    from neyman.report._tables import answer_html as answer_html
    from neyman.report._tables import rows_table as rows_table
    from neyman.report._tables import table_of as table_of
    from neyman.report._training import run_guarantee as run_guarantee

__all__ = [
    "Attack",
    "Explanation",
    "Language",
    "Numeral",
    "ReadOff",
    "Section",
    "Sentence",
    "Statement",
    "answer_html",
    "answer_tables",
    "crosstab_of",
    "csv_of",
    "explain",
    "figures",
    "function_table",
    "html",
    "ledger_html",
    "model_card",
    "question_text",
    "read_language",
    "read_off",
    "recorded",
    "records_of",
    "rehearsal_html",
    "relation",
    "rows_table",
    "run_guarantee",
    "run_html",
    "safe",
    "table_of",
    "translated",
]

# Imported when first used: the pages of releases need `publish`.
_HOMES = {
    "_answer_tables": ("answer_tables", "function_table"),
    "_crosstabs": ("crosstab_of",),
    "_functions": ("ReadOff", "figures", "read_off"),
    "_html": ("safe",),
    "_language": ("Language", "Numeral", "read_language", "relation", "translated"),
    "_ledger_page": ("ledger_html",),
    "_model_card": ("model_card",),
    "_page": ("html",),
    "_question_text": ("question_text",),
    "_records": ("csv_of", "recorded", "records_of"),
    "_rehearsal": ("rehearsal_html",),
    "_run_page": ("run_html",),
    "_statement": ("Attack", "Statement"),
    "_tables": ("answer_html", "rows_table", "table_of"),
    "_training": ("run_guarantee",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
