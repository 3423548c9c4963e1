"""What protected units are called in a sentence: after the column that names them."""

import re
from typing import Final

__all__ = ["many_of"]

# A word that a regular plural can be made of, alone or after others: "patient", "user_id".
_REGULAR: Final = re.compile(r"[A-Za-z_ ]*[A-Za-z][a-rt-z]")
_SIBILANT: Final = re.compile(r".*(?:x|z|ch|sh)")
_IES: Final = re.compile(r".*[^aeiou]y")
_IRREGULAR: Final = {
    "child": "children", "man": "men", "person": "people", "wife": "wives", "woman": "women",
}  # fmt: skip
# No nouns, plurals that do not look it, and words that have none.
_NO_PLURAL: Final = frozenset(
    ["who", "whom", "children", "data", "men", "people", "personnel", "police", "staff", "women"]
)


def many_of(entity: object) -> str:
    """Return the plural for the column that names a unit, or words that need none.

    >>> [many_of(name) for name in ("patient", "user_id", "company", "person")]
    ['patients', 'user_ids', 'companies', 'people']
    >>> [many_of(name) for name in ("customers", "p2", None)]
    ['values of customers', 'values of p2', 'units']
    """
    if not isinstance(entity, str):
        return "units"
    start, last = re.fullmatch(r"(.*[_ ])?(.*)", entity, re.DOTALL).groups(default="")  # pyright: ignore[reportOptionalMemberAccess]
    known = last.lower()
    if known in _NO_PLURAL or not _REGULAR.fullmatch(entity):
        return f"values of {entity}"
    if known in _IRREGULAR:
        return f"{start}{last[0]}{_IRREGULAR[known][1:]}"
    if _IES.fullmatch(last):
        return f"{entity[:-1]}ies"
    return f"{entity}{'es' if _SIBILANT.fullmatch(last) else 's'}"
