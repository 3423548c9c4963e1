"""Publishing: specs, plans, previews, rehearsals and questions of private statistics."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neyman.publish._bias import Bias as Bias
    from neyman.publish._bias import bias as bias
    from neyman.publish._compile import plan as plan
    from neyman.publish._contingency import ContingencyTable as ContingencyTable
    from neyman.publish._contingency import NonNegativeTable as NonNegativeTable
    from neyman.publish._contingency import contingency as contingency
    from neyman.publish._crosstab import crosstab as crosstab
    from neyman.publish._fit import Fitted as Fitted
    from neyman.publish._fit import Wish as Wish
    from neyman.publish._fit import fit as fit
    from neyman.publish._likeness import Likeness as Likeness
    from neyman.publish._likeness import likeness as likeness
    from neyman.publish._margins import margins as margins
    from neyman.publish._plan import Charge as Charge
    from neyman.publish._plan import Plan as Plan
    from neyman.publish._plan import Step as Step
    from neyman.publish._plan import bill as bill
    from neyman.publish._plan_preview import Bill as Bill
    from neyman.publish._plan_preview import ChargePreview as ChargePreview
    from neyman.publish._plan_preview import PlanPreview as PlanPreview
    from neyman.publish._presentation import Display as Display
    from neyman.publish._presentation import Presentation as Presentation
    from neyman.publish._presentation import RowState as RowState
    from neyman.publish._presentation import Suppression as Suppression
    from neyman.publish._presented import Presented as Presented
    from neyman.publish._preview import Preview as Preview
    from neyman.publish._preview import preview as preview
    from neyman.publish._publish import Publication as Publication
    from neyman.publish._publish import publish as publish
    from neyman.publish._questions import density as density
    from neyman.publish._questions import linear_regression as linear_regression
    from neyman.publish._questions import quantiles as quantiles
    from neyman.publish._questions import regression as regression
    from neyman.publish._questions import survival as survival
    from neyman.publish._read import read_spec as read_spec
    from neyman.publish._read import read_spec_file as read_spec_file
    from neyman.publish._rehearsal import NOTICE as NOTICE
    from neyman.publish._rehearsal import Rehearsal as Rehearsal
    from neyman.publish._rehearsal import RehearsedGroup as RehearsedGroup
    from neyman.publish._rehearsal import RehearsedNumber as RehearsedNumber
    from neyman.publish._rehearsal import Searched as Searched
    from neyman.publish._rehearse import rehearse as rehearse
    from neyman.publish._spec import Spec as Spec
    from neyman.publish._template import json_schema as json_schema
    from neyman.publish._template import template as template

# Imported when first used: specs take as long to import as everything else.
_HOMES = {
    "_bias": ("Bias", "bias"),
    "_compile": ("plan",),
    "_contingency": ("ContingencyTable", "NonNegativeTable", "contingency"),
    "_crosstab": ("crosstab",),
    "_fit": ("Fitted", "Wish", "fit"),
    "_likeness": ("Likeness", "likeness"),
    "_margins": ("margins",),
    "_plan": ("Charge", "Plan", "Step", "bill"),
    "_plan_preview": ("Bill", "ChargePreview", "PlanPreview"),
    "_presentation": ("Display", "Presentation", "RowState", "Suppression"),
    "_presented": ("Presented",),
    "_preview": ("Preview", "preview"),
    "_publish": ("Publication", "publish"),
    "_questions": ("density", "linear_regression", "quantiles", "regression", "survival"),
    "_read": ("read_spec", "read_spec_file"),
    "_rehearsal": ("NOTICE", "Rehearsal", "RehearsedGroup", "RehearsedNumber", "Searched"),
    "_rehearse": ("rehearse",),
    "_spec": ("Spec",),
    "_template": ("json_schema", "template"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_OF_SPECS = ("_compile", "_read", "_rehearse", "_spec", "_template")

__all__ = [
    "NOTICE",
    "Bias",
    "Bill",
    "Charge",
    "ChargePreview",
    "ContingencyTable",
    "Display",
    "Fitted",
    "Likeness",
    "NonNegativeTable",
    "Plan",
    "PlanPreview",
    "Presentation",
    "Presented",
    "Preview",
    "Publication",
    "Rehearsal",
    "RehearsedGroup",
    "RehearsedNumber",
    "RowState",
    "Searched",
    "Spec",
    "Step",
    "Suppression",
    "Wish",
    "bias",
    "bill",
    "contingency",
    "crosstab",
    "density",
    "fit",
    "json_schema",
    "likeness",
    "linear_regression",
    "margins",
    "plan",
    "preview",
    "publish",
    "quantiles",
    "read_spec",
    "read_spec_file",
    "regression",
    "rehearse",
    "survival",
    "template",
]


def __getattr__(name: str) -> object:
    """Import a name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _HOME_OF[name] in _OF_SPECS:
        # Its error names the missing extra.
        import_module(f"{__name__}._section")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
