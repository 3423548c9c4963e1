"""The JSON schema: it is that of the models, and takes the specs that are good."""

import importlib.util
import json
import re
import tomllib
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.cli import main
from neyman.errors import SpecError
from neyman.publish import json_schema, read_spec
from neyman.publish._queries import QUERIES

ROOT = Path(__file__).parents[2]
SCHEMA = json_schema()
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
SILENT = {"description", "title", "default", "$defs", "$schema", "discriminator", "format"}


def fits(value, schema):
    """A validator of all that our schema says; a keyword that it does not know is an error."""
    value = value.isoformat() if isinstance(value, date) else value
    checks = {
        "$ref": lambda name: fits(value, SCHEMA["$defs"][name.removeprefix("#/$defs/")]),
        "type": lambda name: (
            isinstance(value, TYPES[name]) and (name == "boolean" or type(value) is not bool)
        ),
        "const": lambda only: value == only,
        "enum": lambda known: value in known,
        "anyOf": lambda kinds: any(fits(value, kind) for kind in kinds),
        "oneOf": lambda kinds: sum(fits(value, kind) for kind in kinds) == 1,
        "minimum": lambda low: value >= low,
        "maximum": lambda high: value <= high,
        "exclusiveMinimum": lambda low: value > low,
        "exclusiveMaximum": lambda high: value < high,
        "minLength": lambda low: len(value) >= low,
        "minItems": lambda low: len(value) >= low,
        "items": lambda kind: all(fits(part, kind) for part in value),
        "required": lambda names: set(names) <= set(value),
        "dependentRequired": lambda of: all(
            set(names) <= set(value) for name, names in of.items() if name in value
        ),
        "properties": lambda known: all(
            fits(part, known[name]) for name, part in value.items() if name in known
        ),
        "additionalProperties": lambda kind: all(
            kind is not False and (kind is True or fits(part, kind))
            for name, part in value.items()
            if name not in schema.get("properties", {})
        ),
    }
    kind = schema.get("type")
    if kind is not None and not checks["type"](kind):
        return False
    return all(checks[word](said) for word, said in schema.items() if word not in SILENT)


def specs():
    yield (ROOT / "examples/flights/flights.toml").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs/howto").glob("*.md")):
        _, *more = page.read_text(encoding="utf-8").split("```toml\n")
        blocks = [block.split("```")[0] for block in more]
        if blocks and "[budget]" in blocks[0]:
            yield "".join(blocks)


def test_what_is_checked_in_is_made_of_the_models(capsys):
    assert main(["schema"]) == 0
    printed = capsys.readouterr().out
    kept = (ROOT / "docs/neyman.schema.json").read_text(encoding="utf-8")
    assert printed == kept, "write it anew: neyman schema > docs/neyman.schema.json"


def test_every_key_has_words():
    sections = [SCHEMA, *SCHEMA["$defs"].values()]
    for section in sections:
        for name, key in section["properties"].items():
            assert key.keys() & {"description", "const", "$ref"}, (section["title"], name)
        assert section["description"], section["title"]


def test_every_statistic_is_there_with_its_sentence_and_its_example():
    assert set(SCHEMA["properties"]["query"]["items"]["discriminator"]["mapping"]) == set(QUERIES)
    for name, query in QUERIES.items():
        assert query.sentence, name
        assert tomllib.loads(query.example).keys() <= query.model_fields.keys()


@pytest.mark.shows("spec")
@pytest.mark.parametrize("text", list(specs()))
def test_good_specs_fit_the_schema(tmp_path, text):
    spec = tmp_path / "s.toml"
    spec.write_text(text, encoding="utf-8")
    read_spec(spec)
    assert fits(tomllib.loads(text), SCHEMA)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("entry = ", "entri = "),
        ('statistic = "count"', 'statistic = "counts"'),
        ('statistic = "count"', 'statistic = "count"\ncolumn = "x"'),
        ("mu = 0.4", "mu = 0"),
        ("mu = 0.4", 'mu = "0.4"'),
        ("mu = 0.4", "mu = true"),
        ("mu = 0.4", 'noise = "geometric"'),
        ("max_rows = 500", "max_rows = 0"),
        ("max_rows = 500", "max_rows = 1.5"),
        ("max_rows = 500", "max_groups = 12"),
        ("month = 62", "month = 0"),
        ("month = 62", 'month = "50"'),
        ("month = [1, ", "month = [1.5, "),
        ("grid = 1", ""),
        ('ledger = "out/flights.ledger"', ""),
        ("mu = 1\n", "epsilon = 1\ndelta = 1\n"),
    ],
)
def test_mistakes_do_not_fit_it(old, new):
    text = (ROOT / "examples/flights/flights.toml").read_text(encoding="utf-8")
    assert old in text
    assert fits(tomllib.loads(text), SCHEMA)
    assert not fits(tomllib.loads(text.replace(old, new, 1)), SCHEMA)


def test_nothing_in_it_is_a_word_that_the_validator_skips():
    words = set(re.findall(r'"([$a-zA-Z]+)":', json.dumps(SCHEMA)))
    assert "patternProperties" not in words
    assert "type" in words


def test_the_docs_have_every_key():
    found = importlib.util.spec_from_file_location("spec_keys", ROOT / "docs/spec_keys.py")
    keys = importlib.util.module_from_spec(found)
    found.loader.exec_module(keys)
    for path, text in keys.written():
        kept = path.read_text(encoding="utf-8")
        assert kept == text, f"write {path.name} anew: python docs/spec_keys.py"
    page = (ROOT / "docs/howto/spec.md").read_text(encoding="utf-8")
    for section in SCHEMA["$defs"].values():
        for name in section["properties"]:
            assert f"`{name}`" in page or name == "statistic", name


BASE = """
[data]
path = "t.parquet"
[unit]
entity = "who"
{unit} = 6
[unit.max_rows_per]
ward = 3
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "visits"
statistic = "count"
{visits}
mu = 0.1
[[query]]
entry = "stay"
statistic = "{stay}"
column = "minutes"
{share}
"""
GOOD = {"unit": "max_rows", "visits": "", "stay": "mean", "share": "mu = 0.1"}
MISTAKES = [
    {
        "unit": "max_row",
        "visits": 'column = "x"',
        "share": 'noise = "laplace"\nmu = 1',
    },
    {"stay": "means"},
]


@pytest.mark.parametrize("wrong", MISTAKES)
def test_the_mistakes_of_the_docs_are_told_so(tmp_path, wrong):
    page = (ROOT / "docs/howto/spec.md").read_text(encoding="utf-8")
    spec = tmp_path / "visits.toml"
    spec.write_text(BASE.format(**(GOOD | wrong)), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        read_spec(spec)
    said = str(caught.value).replace(str(spec), "visits.toml")
    assert f"neyman: {said}\n" in page


def test_the_preview_and_the_open_places_of_the_docs_are_what_is_printed(
    tmp_path, monkeypatch, capsys
):
    rows = pa.table({"patient": ["a"], "ward": ["north"], "minutes": [1.5]})
    pq.write_table(rows, tmp_path / "visits.parquet")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/howto/spec.md").read_text(encoding="utf-8")
    assert main(["init", "visits.parquet"]) == 0
    assert main(["release", "visits.toml"]) == 1
    assert capsys.readouterr().err in page
    first = (ROOT / "docs/howto/publish.md").read_text(encoding="utf-8").split("```toml\n")[1]
    (tmp_path / "visits.toml").write_text(first.split("```")[0], encoding="utf-8")
    known = ["--records", "4000", "--spread", "minutes", "35", "20"]
    assert main(["release", "visits.toml", "--preview", *known]) == 0
    assert capsys.readouterr().out in page


def test_the_contingency_table_of_the_docs_is_foreseen_so(tmp_path, monkeypatch, capsys):
    rows = pa.table({"who": ["a"], "ward": ["north"], "urgent": [True], "minutes": [1.5]})
    pq.write_table(rows, tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/howto/spec.md").read_text(encoding="utf-8")
    asked = page.partition("## Contingency tables")[2].split("```")
    (tmp_path / "s.toml").write_text(
        BASE.format(**GOOD).partition("[[query]]")[0] + asked[1].removeprefix("toml")
    )
    assert main(["release", "s.toml", "--preview", "--records", "400"]) == 0
    assert asked[3].removeprefix("text\n") in capsys.readouterr().out
