"""The types of a spec: strict sections, and numbers as exact decimals."""

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
        "a spec needs pydantic, which is not installed. Run pip install 'neyman[tables]'"
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
    """Turn whole numbers into decimals."""
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _small(value: Decimal) -> Decimal:
    """Refuse a delta that is too large to be one."""
    refuse_large_delta(value)
    return value


def _expression(text: str) -> str:
    """Refuse a text that is not an expression."""
    expression_of_text(text)
    return text


def _cell(value: object) -> object:
    """Refuse values that cannot be keys."""
    if type(value) in (bool, int, str, date):
        return value
    # Codes such as 1.0 are whole numbers.
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
    """Turn a single value into a list."""
    return cast("list[object]", value) if isinstance(value, list) else [value]


@final
class _OneOrMany:
    """Allows a single value instead of a list in the schema."""

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
    """A strict section: values are not coerced, and unknown keys are refused.

    Attributes:
        sentence: the keys that it takes, for messages on unknown and missing keys.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    sentence: ClassVar[str] = ""
