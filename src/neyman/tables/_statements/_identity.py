"""The identity of a statement: a digest of its tree, without the tables."""

import hashlib
from typing import cast

from sqlglot import exp

from neyman.tables._sql import Tree

__all__ = ["statement_digest"]


def statement_digest(statement: Tree) -> str:
    """Return a SHA-256 digest of a statement, without the names of private tables.

    Two questions with the same digest give the same integers for the same rows. The digest is of
    the tree, not of SQL, because a writer of SQL could leave out features that an engine does not
    have. A table with an alias is private. The question's source identifies it, and each engine has
    its own name for it.
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
