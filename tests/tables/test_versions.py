"""Engines and sqlglot are of versions that were tested, and what is rendered is what was read."""

import importlib.util
import json
import sys
import tomllib
from pathlib import Path

import pytest

from neyman.errors import MissingExtra
from neyman.tables import _extra

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def corpus():
    path = Path(__file__).parent / "engines" / "rendered.py"
    spec = importlib.util.spec_from_file_location("rendered", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def texts(corpus):
    return corpus.texts()


def test_a_fixed_corpus_is_rendered_as_it_was_read(corpus, texts):
    """If sqlglot changed the text, read the differences; the range of versions ends before it."""
    found = corpus.digests(texts)
    known = json.loads(corpus.DIGESTS.read_text(encoding="utf-8"))
    changed = [
        (engine, name)
        for engine, digests in (found | known).items()
        for name in digests.keys() | known.get(engine, {}).keys()
        if found.get(engine, {}).get(name) != known.get(engine, {}).get(name)
    ]
    assert changed == []


def test_another_text_has_another_digest(corpus, texts):
    before = corpus.digests(texts)
    after = corpus.digests(texts | {"spark": {"count": texts["spark"]["count"] + " "}})
    assert before["spark"]["count"] != after["spark"]["count"]
    assert before["duckdb"] == after["duckdb"]


@pytest.mark.parametrize(
    ("found", "is_outside"),
    [
        ("1.3.9", True),
        ("1.4", False),
        ("1.4.0", False),
        ("1.10", False),
        ("2.0.7.post1", False),
        ("2.1.0.dev3", True),
        ("2.1", True),
        ("10.0", True),
        ("of an unknown version", True),
        ("", True),
    ],
)
def test_versions_are_compared_by_their_numbers(found, is_outside):
    assert _extra.outside(found, "1.4", "2.1") is is_outside


@pytest.mark.shows("versions")
@pytest.mark.parametrize("package", ["duckdb", "sqlglot", "pyspark"])
@pytest.mark.parametrize("found", ["0.9", "99.0"])
def test_other_versions_are_refused_with_what_to_write(monkeypatch, package, found):
    monkeypatch.setattr(_extra, "version", lambda _: found)
    first, beyond = _extra.TESTED[package]
    with pytest.raises(MissingExtra) as refused:
        _extra.require(package)
    for part in (f"{package} {found} is", f"pip install '{package}>={first},<{beyond}'"):
        assert part in str(refused.value)


def test_a_version_that_is_not_told_is_refused(monkeypatch):
    def lost(package: str) -> str:
        raise _extra.PackageNotFoundError(package)

    monkeypatch.setattr(_extra, "version", lost)
    with pytest.raises(MissingExtra, match="duckdb of an unknown version is installed"):
        _extra.require("duckdb")


def test_tables_are_not_imported_with_another_version(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[:2] == ["neyman", "tables"]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "99.0")
    with pytest.raises(MissingExtra, match=r"duckdb 99\.0 is installed"):
        importlib.import_module("neyman.tables")


def test_what_is_installed_with_an_extra_is_what_was_tested():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    asked = [line for lines in extras.values() for line in lines]
    for package, (first, beyond) in _extra.TESTED.items():
        assert [line for line in asked if line.startswith(package)] == [
            f"{package}>={first},<{beyond}"
        ]


def test_a_spark_session_of_another_version_is_refused():
    from neyman.errors import InvalidTable
    from neyman.tables._engines._spark_source import _refuse_untested

    class Session:
        def __init__(self, version: str):
            self.version = version

    _refuse_untested(Session("4.0.1"))
    for version in ("3.5.6", "4.4.0", "5.0.0-SNAPSHOT"):
        with pytest.raises(InvalidTable, match=f"of Spark {version}"):
            _refuse_untested(Session(version))
