"""What a spec is made of: strict sections, and numbers that are the decimals they print as."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast, final

from neyman.arguments import refuse_large_delta
from neyman.errors import MissingExtra
from neyman.publish._presentation import MOST_DECIMALS
from neyman.tables import expression_of_text, whole_of

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Field,
        GetJsonSchemaHandler,
        WithJsonSchema,
    )
    from pydantic_core import PydanticCustomError
except ImportError as error:
    raise MissingExtra(
        "a spec was to be read and pydantic is not installed; run pip install 'neyman[tables]'"
    ) from error

__all__ = [
    "Cell",
    "Count",
    "Decimals",
    "Delta",
    "Form",
    "Names",
    "NoiseName",
    "Number",
    "On",
    "OneOrMore",
    "Part",
    "Positive",
    "Probability",
    "Section",
    "ShareOf",
]


def _decimal(value: object) -> object:
    """Take TOML's whole numbers for the decimals that they are."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _small(value: Decimal) -> Decimal:
    """Refuse a delta that is written in the units of something else."""
    refuse_large_delta(value)
    return value


def _expression(text: str) -> str:
    """Refuse what is no row expression."""
    expression_of_text(text)
    return text


def _cell(value: object) -> object:
    """Refuse what no column is grouped by as it is."""
    if type(value) in (bool, int, str, date):
        return value
    # A code such as 1.0.
    whole = whole_of(value) if isinstance(value, Decimal) else None
    if whole is not None:
        return whole
    raise PydanticCustomError(
        "asked",
        "no key",
        {
            "asked": "text, a whole number, a date or a boolean",
            "write": "write one of these, or for numbers bins, "
            '{ edges = [0, 1.5, 3], outside = "drop" }',
        },
    )


def _listed(value: object) -> object:
    """Take one thing for a list of one."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


@final
class _OneOrMany:
    """Says in the schema that a list of one need not be written as a list."""

    def __get_pydantic_json_schema__(
        self, core: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        many = handler(core)
        return {"anyOf": [many["items"], many]}


_T = TypeVar("_T")

Number = Annotated[Decimal, BeforeValidator(_decimal), WithJsonSchema({"type": "number"})]
Form = Annotated[str, AfterValidator(_expression)]
Positive = Annotated[
    Decimal,
    Field(gt=0),
    BeforeValidator(_decimal),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0}),
]
Delta = Annotated[
    Decimal,
    Field(gt=0),
    BeforeValidator(_decimal),
    AfterValidator(_small),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.01}),
]
Probability = Annotated[
    Decimal,
    Field(ge=0, le=1),
    BeforeValidator(_decimal),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Part = Annotated[
    Decimal,
    Field(ge=0, lt=1),
    BeforeValidator(_decimal),
    WithJsonSchema({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
]
Count = Annotated[int, Field(ge=1)]
Decimals = Annotated[int, Field(ge=0, le=MOST_DECIMALS)]
ShareOf = Annotated[int, Field(ge=0)]
OneOrMore = Annotated[list[_T], Field(min_length=1), BeforeValidator(_listed), _OneOrMany()]
Names: TypeAlias = str | list[str] | dict[str, str]
On: TypeAlias = str | Annotated[list[str], Field(min_length=1)] | dict[str, str]
Cell = Annotated[bool | int | str | date, BeforeValidator(_cell)]
NoiseName: TypeAlias = Literal[
    "gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "staircase", "canonical"
]


class Section(BaseModel):
    """Strict: nothing is coerced, nothing unknown is passed over.

    Attributes:
        sentence: what it takes, for who writes a key that it has not, or leaves one out.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    sentence: ClassVar[str] = ""
