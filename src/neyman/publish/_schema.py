"""The JSON schema of a spec, for editors: made of the models, with their words."""

from typing import Any, cast

from neyman.publish._spec import Spec

__all__ = ["json_schema"]


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a spec, JSON-able.

    Error: what depends on several keys at once is not in it; `read_spec` tells those mistakes.

    >>> sorted(json_schema()["required"])
    ['budget', 'data', 'query', 'unit']
    """
    made = Spec.model_json_schema()
    for section in cast("dict[str, dict[str, Any]]", made["$defs"]).values():
        _plain(section)
    _plain(made)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A spec of private statistics, for neyman",
        **{key: part for key, part in made.items() if key != "title"},
    }


def _plain(section: dict[str, Any]) -> None:
    """Leave out what a TOML file cannot say: null, and titles that repeat the key."""
    for part in cast("dict[str, dict[str, Any]]", section.get("properties", {})).values():
        part.pop("title", None)
        if part.get("default", 0) is None:
            del part["default"]
        kinds = [kind for kind in part.get("anyOf", ()) if kind.get("type") != "null"]
        if len(kinds) == 1:
            del part["anyOf"]
            part.update(kinds[0])
        elif kinds:
            part["anyOf"] = kinds
