"""Writes what the docs say of a spec's keys, from the models; `make docs` runs it.

docs/neyman.schema.json, and the tables of docs/howto/spec.md between the marks.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neyman.publish import json_schema

DOCS = Path(__file__).parent
PAGE = DOCS / "howto" / "spec.md"
SCHEMA = DOCS / "neyman.schema.json"
BEGIN, END = "<!-- keys, by docs/spec_keys.py -->\n", "<!-- end of keys -->\n"


def schema_text() -> str:
    """Return what `neyman schema` prints."""
    return json.dumps(json_schema(), indent=1) + "\n"


def page_text(page: str) -> str:
    """Return the page with the tables between its marks written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{keys_text()}{END}{after}"


def keys_text() -> str:
    """Return a table of keys for each section, those of all queries once."""
    schema = json_schema()
    parts = [table("The file itself", schema, schema)]
    for name, key in schema["properties"].items():
        section = section_of(key, schema)
        if section is not None:
            head = f"`[{name}]`" if "$ref" in key else f"`[{name}.NAME]`"
            parts.append(table(head, section, schema))
        if name == "unit":
            parts.append(table("`[unit.through]`", schema["$defs"]["ThroughOf"], schema))
            parts.append(table("`[[unit.max_rows_per]]`", schema["$defs"]["RowsPerOf"], schema))
    queries = queries_of(schema)
    shared = [key for key in next(iter(queries.values()))["properties"] if common(key, queries)]
    first = next(iter(queries.values()))
    some = {"properties": {key: first["properties"][key] for key in shared}, "required": []}
    some["required"] = [key for key in first["required"] if key in shared]
    parts.append(table("`[[query]]`, whatever its statistic", some, schema))
    for name, query in queries.items():
        own = {key: said for key, said in query["properties"].items() if key not in shared}
        del own["statistic"]
        head = f'`statistic = "{name}"`'
        text = table(head, query | {"properties": own}, schema) if own else f"### {head}\n"
        parts.append(text.replace("\n", f"\n\n{query['description']}\n", 1))
    parts.append(table("`domain` of a query", schema["$defs"]["DomainOf"], schema))
    binned = schema["$defs"]["BinsOf"]
    named = schema["$defs"]["ValuesOf"]
    parts.append(
        table("Values of a column in `[keys.NAME]`, with groups of the rest", named, schema)
    )
    parts.append(table("Bins of a column in `[keys.NAME]`", binned, schema))
    return "\n" + "\n".join(parts) + "\n"


def queries_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the section of each statistic, by name."""
    mapping = schema["properties"]["query"]["items"]["discriminator"]["mapping"]
    return {name: schema["$defs"][place.rpartition("/")[2]] for name, place in mapping.items()}


def common(key: str, queries: dict[str, dict[str, Any]]) -> bool:
    """Whether all queries have this key, and it means the same."""
    return len({json.dumps(query["properties"].get(key)) for query in queries.values()}) == 1


def section_of(key: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the section that a key is, or that its names are."""
    place = key.get("$ref") or key.get("additionalProperties", {})
    if isinstance(place, dict):
        place = place.get("$ref")
    return schema["$defs"][place.rpartition("/")[2]] if place else None


def table(head: str, section: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return a heading and a line for each key."""
    lines = [f"### {head}\n\n| key | what | |\n|---|---|---|\n"]
    for name, key in section["properties"].items():
        said = key.get("description") or (section_of(key, schema) or {})["description"]
        needed = "needed" if name in section.get("required", ()) else ""
        words = " ".join([said, *kind(key)])
        lines.append(f"| `{name}` | {words} | {needed} |\n")
    return "".join(lines)


def kind(key: dict[str, Any]) -> Iterator[str]:
    """Say what may be written, where that is not plain."""
    words = {"number": "A number.", "integer": "A whole number."}
    if "enum" in key:
        yield "One of " + ", ".join(f'`"{value}"`' for value in key["enum"]) + "."
    elif key.get("type") in words:
        yield words[key["type"]]


def written() -> Iterator[tuple[Path, str]]:
    """Yield every file with what it should hold."""
    yield SCHEMA, schema_text()
    yield PAGE, page_text(PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path, text in written():
        path.write_text(text, encoding="utf-8")
