"""One tree in the dialect of an engine, node by node."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias, final

from sqlglot import TokenType, exp, tokenize

from neyman.tables._sql import Tree

__all__ = ["Spelling", "Words", "in_digits", "words_before_brackets"]

# A question is looked at when it is made, before its charge and as it runs.
_REMEMBERED: Final = 16
_PLAIN = re.compile(r"[0-9A-Za-z.:+-]*")

Words: TypeAlias = Mapping[type[Tree], Callable[[Any], Tree]]


@final
@dataclass(frozen=True, slots=True)
class Spelling:
    """The dialect in which an engine writes the common tree.

    Attributes:
        dialect: its name in sqlglot.
        words: the functions that write a node of a type, with its parts already written.
    """

    dialect: str
    words: Words = field(repr=False)

    def text(self, statement: exp.Query) -> str:
        """Return the text of a statement."""
        tree = statement.copy()
        # Parents come first in a walk, so parts are written before the whole.
        for node in reversed(list(tree.walk())):
            write = self.words.get(type(node))
            if write is not None:
                node.replace(write(node))
        return tree.sql(dialect=self.dialect, copy=False)


def in_digits(node: exp.Literal, decoded: Callable[[str], Tree]) -> Tree:
    """Write text as the hexadecimal digits of its bytes, which no setting can change.

    Args:
        node: a literal; numbers and plain text stay as they are.
        decoded: the engine's conversion of digits to text.
    """
    if not node.is_string or _PLAIN.fullmatch(node.this):
        return node
    return decoded(node.this.encode().hex())


@lru_cache(_REMEMBERED)
def words_before_brackets(text: str, dialect: str) -> frozenset[str]:
    """Return all possible calls of a statement in lower case: each bare word before a bracket.

    Some of them are not calls, such as IN.
    """
    tokens = tokenize(text, dialect)
    return frozenset(
        word.text.lower()
        for word, after in pairwise(tokens)
        if after.token_type == TokenType.L_PAREN
        and word.token_type not in {TokenType.IDENTIFIER, TokenType.STRING}
        and word.text.isidentifier()
    )
