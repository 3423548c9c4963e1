"""Expressions from text, with the operations of the closed list only.

sqlglot parses the text. Each node is looked up here by its class, and each function by its name.
Everything that is not in these tables is refused, and the text never becomes SQL.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportIncompatibleVariableOverride=false

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Final, TypeAlias, cast

from sqlglot import TokenType, exp, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from neyman.errors import InvalidParameter
from neyman.tables import _sql as sql
from neyman.tables._expressions._calendar import iso_value
from neyman.tables._expressions._expression import Expression
from neyman.tables._expressions._operations import OPERATIONS
from neyman.tables._expressions._parts import called, col, joined, lit
from neyman.tables._sql import Tree

__all__ = ["expression_of_text"]

_Read: TypeAlias = Callable[[Any], Expression]

_LONGEST: Final = 10_000
_MOST_DEEP: Final = 30
# Of a chain, whose links the parser sets one into the other: Python goes down four calls for each.
_MOST_LINKS: Final = 150
_DIGITS: Final = 400
_EXAMPLE: Final = "such as \"age >= 18 and ward = 'north'\""


class _Words(Dialect):
    """SQL's operators and brackets; all functions are plain names."""

    class Tokenizer(tokens.Tokenizer):
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **tokens.Tokenizer.KEYWORDS,
            "//": TokenType.DIV,
        }

    class Parser(parser.Parser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        FACTOR: ClassVar[dict[Any, Any]] = {**parser.Parser.FACTOR, TokenType.DIV: exp.IntDiv}


def expression_of_text(text: str) -> Expression:
    """Return the expression of a text such as "age >= 18 and ward = 'north'".

    Names are columns, in double quotes if they have blanks. Text is in single quotes. Operators are
    those of SQL, and functions have the names of the methods of `Expression`: year(admitted) is
    col("admitted").year().

    Raises:
        InvalidParameter: if it is something else, with the unknown part.

    >>> expression_of_text("year(admitted) = 2024 or ward in ('north', 'south')")
    ((col('admitted').year() == 2024) | col('ward').is_in(['north', 'south']))
    """
    if len(text) > _LONGEST:
        raise InvalidParameter(
            f"an expression must have at most {_LONGEST} characters; got {len(text)}"
        )
    tree = _parsed(text)
    if sql.size(tree)[1] > _MOST_LINKS:
        raise InvalidParameter(
            f"{text!r:.80}... chains more than {_MOST_LINKS} operations; write a shorter one"
        )
    return _read(tree)


def _parsed(text: str) -> Tree:
    found: list[Any] = []
    dialect = _Words()
    try:
        cut = dialect.tokenize(text)
        if _depth(cut) <= _MOST_DEEP:
            found = dialect.parser().parse(cut, text)
        # An error of the parser's quotes its own words.
    except (SqlglotError, RecursionError):
        found = []
    tree = found[0] if len(found) == 1 else None
    if not isinstance(tree, Tree):
        raise InvalidParameter(
            f"{text!r:.200} is no expression; write one of columns, values, operators and "
            f"functions, {_EXAMPLE}"
        )
    return tree


_OPENS: Final = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSES: Final = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})
_PLAIN: Final = frozenset({TokenType.NUMBER, TokenType.STRING, TokenType.VAR, TokenType.COMMA})


def _depth(cut: Sequence[Any]) -> int:
    """Return an upper bound on the parser's depth: brackets, and words without a value between."""
    depth, deepest, chain = 0, 0, 0
    for token in cut:
        kind = token.token_type
        depth += (kind in _OPENS or kind is TokenType.CASE) - (
            kind in _CLOSES or kind is TokenType.END
        )
        chain = 0 if kind in _PLAIN else chain + 1
        deepest = max(deepest, depth, chain)
    return deepest


def _read(node: Tree) -> Expression:
    if isinstance(node, exp.Anonymous):
        return _function(str(node.this), node.expressions)
    read = _NODES.get(type(node))
    if read is None:
        raise InvalidParameter(
            f"{node.key.upper()} is no operation of an expression; write {_EXAMPLE}, with "
            f"+ - * / // %, comparisons, and, or, not, in, between, is null, case, or one of "
            f"{', '.join(_FUNCTIONS)}"
        )
    return read(node)


def _function(name: str, arguments: Sequence[Tree]) -> Expression:
    known = name.lower()
    operation = _FUNCTIONS.get(known)
    if operation is None:
        close = get_close_matches(known, _FUNCTIONS, n=3)
        instead = f"did you mean {', '.join(close)}?" if close else f"write {', '.join(_FUNCTIONS)}"
        raise InvalidParameter(f"{name!r:.80} is no function of an expression; {instead}")
    parts = [_read(part) for part in arguments]
    if known == "date_trunc":
        parts.reverse()
    return called(operation, *parts)


_NOT_BY_NAME: Final = ("and", "or", "not", "neg", "between", "in", "date_of", "prefix")
_FUNCTIONS: Mapping[str, str] = {
    **{name: name for name in OPERATIONS if name.isidentifier() and name not in _NOT_BY_NAME},
    "date": "date_of",
    "left": "prefix",
    "prefix": "prefix",
    "least": "minimum",
    "greatest": "maximum",
    "date_trunc": "truncate",
}
"""Names of functions, and the operations that they are."""


def _column(node: exp.Column) -> Expression:
    if not isinstance(node.this, exp.Identifier) or node.args.get("table") is not None:
        raise InvalidParameter(
            "a column must be written by its own name, without a table in front and not as *. If "
            'the name has a point or a blank, quote it: "stay.days"'
        )
    return col(node.name)


def _literal(node: exp.Literal) -> Expression:
    text = str(node.this)
    if node.is_string:
        return lit(text)
    return lit(_number(text))


def _number(text: str) -> float:
    if text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    value = float(text)
    if value == 0 and any(digit in text.lower().partition("e")[0] for digit in "123456789"):
        raise InvalidParameter(
            f"the number {text!r:.40} is not 0 nor of a magnitude in [2^-200, 2^200]; write one"
        )
    return value


def _cast(node: exp.Cast) -> Expression:
    """Return the literal of DATE '2020-02-29' or TIMESTAMP '2020-02-29 12:00', the only casts."""
    value = node.this
    found = iso_value(str(value.this)) if isinstance(value, exp.Literal) else None
    if found is None or node.to.this not in _OF_TIME:
        raise InvalidParameter(
            "casts are not supported; write as_number(...) or as_text(...) of a column of a CSV "
            "file, to_date(..., '%Y-%m-%d'), or DATE '2020-02-29'"
        )
    return lit(found)


_OF_TIME: Final = frozenset(
    {exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}
)


def _two(name: str) -> _Read:
    return lambda node: called(name, _read(node.this), _read(node.expression))


def _chain(kind: type[exp.Connector], name: str) -> _Read:
    """Return a reader that makes one call of a chain, however long."""

    def links(node: Tree) -> Iterator[Tree]:
        waiting = [node]
        while waiting:
            link = waiting.pop()
            if isinstance(link, kind):
                waiting += [cast("Tree", link.expression), cast("Tree", link.this)]
            else:
                yield link

    return lambda node: joined(name, *map(_read, links(node)))


def _is(node: exp.Is) -> Expression:
    value = _read(node.this)
    if isinstance(node.expression, exp.Null):
        return called("is_null", value)
    if isinstance(node.expression, exp.Boolean):
        return called("==", value, _read(node.expression)).coalesce(False)
    raise InvalidParameter("`is` must be followed by null; write is null, or =")


def _in(node: exp.In) -> Expression:
    if not node.expressions:
        raise InvalidParameter("`in` must be followed by a list; write in ('north', 'south')")
    return called("in", _read(node.this), *map(_read, node.expressions))


def _case(node: exp.Case) -> Expression:
    parts: list[Expression] = []
    for branch in node.args["ifs"]:
        condition = _read(branch.this)
        if node.this is not None:
            condition = called("==", _read(node.this), condition)
        parts += [condition, _read(branch.args["true"])]
    default = node.args.get("default")
    return called("when", *parts, None if default is None else _read(default))


def _zone(node: exp.AtTimeZone) -> Expression:
    return called("at_offset", _read(node.this), _read(node.args["zone"]))


def _if(node: exp.If) -> Expression:
    default = node.args.get("false")
    parts = _read(node.this), _read(node.args["true"])
    return called("when", *parts, None if default is None else _read(default))


def _negative(node: exp.Neg) -> Expression:
    value = node.this
    if isinstance(value, exp.Literal) and not value.is_string:
        return lit(-_number(str(value.this)))
    return called("neg", _read(value))


_NODES: Mapping[type[Tree], _Read] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.Cast: _cast,
    exp.Boolean: lambda node: lit(bool(node.this)),
    exp.Null: lambda _: lit(None),
    exp.Paren: lambda node: _read(node.this),
    exp.Add: _two("+"),
    exp.Sub: _two("-"),
    exp.Mul: _two("*"),
    exp.Div: _two("/"),
    exp.IntDiv: _two("//"),
    exp.Mod: _two("%"),
    exp.EQ: _two("=="),
    exp.NEQ: _two("!="),
    exp.LT: _two("<"),
    exp.LTE: _two("<="),
    exp.GT: _two(">"),
    exp.GTE: _two(">="),
    exp.And: _chain(exp.And, "and"),
    exp.Or: _chain(exp.Or, "or"),
    exp.Not: lambda node: called("not", _read(node.this)),
    exp.Neg: _negative,
    exp.Is: _is,
    exp.In: _in,
    exp.Between: lambda node: called(
        "between", *(_read(node.args[part]) for part in ("this", "low", "high"))
    ),
    exp.Case: _case,
    exp.If: _if,
    exp.AtTimeZone: _zone,
}
