"""What tells one statement from another: a digest of its tree, the tables apart."""

import hashlib
from typing import cast

from sqlglot import exp

from neyman.tables._sql import Tree

__all__ = ["statement_digest"]


def statement_digest(statement: Tree) -> str:
    """Return a SHA-256 digest of all of a statement but what the private tables are called.

    Two questions with one digest give the same integers of the same rows. Nobody writes it by
    hand, and no writer of SQL stands between, who could leave out what an engine lacks. A table
    with an alias is a private one: which that is, the question's source says, and an engine calls
    it as it likes.
    """
    found = hashlib.sha256()
    waiting: list[object] = [statement]
    while waiting:
        node = waiting.pop()
        match node:
            case exp.Table() if node.alias:
                found.update(f"<table {node.alias!r}>".encode())
            case exp.Expr():
                parts = {name: part for name, part in node.args.items() if part not in (None, [])}
                found.update(f"<{type(node).__name__} {list(parts)}>".encode())
                waiting += reversed(parts.values())
            case list():
                several = cast("list[object]", node)
                found.update(f"<{len(several)}>".encode())
                waiting += reversed(several)
            case _:
                found.update(f"<{type(node).__name__} {node!r}>".encode())
    return found.hexdigest()
