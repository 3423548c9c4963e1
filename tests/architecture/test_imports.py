"""What is loaded when, and what the core can do alone."""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import neyman

SOURCE = Path(neyman.__file__).parent

CORE = ("numpy", "scipy")
HEAVY = (
    *(*CORE, "duckdb", "sqlglot", "pyarrow", "flint", "pydantic", "matplotlib", "pandas"),
    *("pyspark", "psycopg"),
)

BLOCKER = "import sys\nfor name in {blocked}:\n    sys.modules[name] = None\n"


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(code: str) -> set[str]:
    return set(json.loads(run(f"{code}\nimport json, sys\nprint(json.dumps(list(sys.modules)))")))


def test_importing_the_root_loads_itself_and_three_of_pythons_own_modules():
    own = loaded_by("import neyman; dir(neyman)") - loaded_by("import typing, importlib")
    assert own == {"neyman"}


def test_compositions_that_a_contour_reads_do_not_load_scipy():
    code = (
        "from neyman.accounting import dp_sgd; from neyman.curves import gdp, laplace;"
        "dp_sgd(1, 0.01, 1000).epsilon(1e-5);"
        "(laplace(0.1) ** 100).epsilon(1e-5); (laplace(0.1) @ gdp(0.2)).epsilon(1e-5)"
    )
    assert not any(name.startswith("scipy") for name in loaded_by(code))


def test_nothing_inside_imports_the_root_package():
    root = re.compile(r"^\s*(import neyman\b(?!\.)|from neyman import\b)", re.MULTILINE)
    for path in set(SOURCE.rglob("*.py")) - {SOURCE / "__init__.py"}:
        assert root.search(path.read_text(encoding="utf-8")) is None, path


def test_no_random_generator_stands_outside_the_mechanisms_and_the_seeds_for_tests():
    # Of a fixed, public seed: it simulates the bands of what is released already.
    bands = SOURCE / "functional" / "_generator.py"
    seen = {
        path.relative_to(SOURCE).parts[0]
        for path in set(SOURCE.rglob("*.py")) - {bands}
        if re.search(r"(numpy|np)\.random|urandom|import random\b|secrets", path.read_text("utf-8"))
    }
    # The ledger's is the key of its fingerprints.
    assert seen - {"training", "audit", "pytest"} == {"mechanisms", "testing", "ledger"}


def test_help_and_usage_errors_load_no_numpy():
    code = (
        "import sys\nfrom neyman.cli import main\ntry:\n    main({})\nexcept SystemExit:\n    pass"
    )
    for argv in (["--help"], ["--version"], ["release"], ["ledger", "show", "--help"]):
        code_run = (
            "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()):\n    "
            + (code.format(argv).replace("\n", "\n    "))
        )
        assert not loaded_by(code_run) & set(HEAVY), argv


def test_a_curve_loads_the_core_alone_and_never_scipy_stats():
    found = loaded_by(
        "import neyman as ny; f = ny.gdp(1) ** 3; f.delta(1); f.epsilon(1e-5); f.mu()"
    )
    assert set(CORE) <= found
    assert not found & (set(HEAVY) - set(CORE))
    assert "scipy.stats" not in found
    assert "scipy.optimize" not in found


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_first_count_loads_neither_functions_nor_specs_nor_faces(tmp_path, suffix):
    path = tmp_path / f"rows.{suffix}"
    rows = duckdb.sql("FROM (VALUES ('north'), ('south')) AS rows(ward)")
    (rows.write_csv if suffix == "csv" else rows.write_parquet)(str(path))
    opened = f"{str(path)!r}, unit=ny.Rows(), budget=ny.gdp(1), ledger={str(tmp_path / 'a')!r}"
    found = loaded_by(
        f"import neyman as ny; db = ny.open({opened}); "
        "db.count(by={'ward': ['north', 'south']}).release('one', mu=0.1)"
    )
    rooms = {".".join(name.split(".")[:2]) for name in found if name.startswith("neyman.")}
    later = ("functional", "report", "plots", "notebook")
    assert not rooms & {f"neyman.{room}" for room in later}
    assert not any(name.startswith("neyman.publish.") for name in found)
    heavy = {"matplotlib", "pandas", "pydantic", "scipy.optimize", "scipy.stats"}
    heavy |= {"pyarrow"} if suffix == "parquet" else set()
    assert not found & heavy
    # A room that comes along unnoticed has dozens.
    assert sum(name.startswith("neyman") for name in found) < 400
    assert sum(name.startswith("scipy") for name in found) < 80


def test_the_ledger_works_with_numpy_and_scipy_alone(tmp_path):
    blocked = tuple(set(HEAVY) - set(CORE))
    remaining = run(
        BLOCKER.format(blocked=blocked)
        + "import neyman as ny\n"
        + f"ledger = ny.Ledger.open({str(tmp_path / 'a')!r}, cap=ny.gdp(1), unit='one row', "
        + "neighbors='add_remove')\nprint(ledger.remaining())"
    )
    assert remaining == "1\n"


def test_a_guarantee_is_explained_with_numpy_and_scipy_alone():
    said = run(
        BLOCKER.format(blocked=tuple(set(HEAVY) - set(CORE)))
        + "import neyman as ny\n"
        + "print(ny.report.explain(ny.gdp(1), language='en', priors=[0.5]).title)"
    )
    assert said == "What this guarantee means\n"


@pytest.mark.parametrize(
    ("package", "call", "extra"),
    [
        ("flint", "ny.Gaussian(scale=1).require_sampler()", "noise"),
        ("duckdb", "ny.open_table('x.parquet', unit=ny.Rows())", "tables"),
        ("sqlglot", "ny.open_table('x.parquet', unit=ny.Rows())", "tables"),
        ("pydantic", "ny.publish.read_spec", "tables"),
        ("matplotlib", "ny.plots", "plots"),
    ],
)
def test_a_missing_package_is_refused_by_the_name_of_its_extra(package, call, extra):
    said = run(
        BLOCKER.format(blocked=(package,))
        + f"import neyman as ny\nfrom neyman.errors import MissingExtra\ntry:\n    {call}\n"
        + "except MissingExtra as error:\n    print(error)\n"
    )
    assert f"neyman[{extra}]" in said


def test_every_public_name_is_there_and_has_words():
    for name in neyman.__all__:
        value = getattr(neyman, name)
        assert (value.__doc__ or "").strip(), name
    assert set(neyman.__all__) <= set(dir(neyman))


def test_the_public_surface_changes_only_on_purpose():
    classes = (
        "Bins Bounds Entity EpsilonDelta ForeignKey Gaussian Keys Laplace Ledger Release Rows "
        "TradeOff UnknownKeys"
    )
    functions = (
        "approx_dp calibrate col compose dp_sgd gdp laplace lit open open_table plan_training "
        "poisson pure_dp randomized_response read release release_batch when zcdp"
    )
    rooms = (
        "accounting audit curves errors functional mechanisms plots publish report tables training"
    )
    # Four jobs, to publish, to account, to train and to release functions, want no more.
    assert len(neyman.__all__) == 43
    assert sorted(neyman.__all__) == sorted(f"{classes} {functions} {rooms}".split())


def test_the_faces_change_only_on_purpose():
    report = (
        "Attack Explanation ReadOff Section Sentence Statement explain figures html ledger_html "
        "model_card read_off rehearsal_html run_html"
    )
    # What other faces are made of.
    report += (
        " Language Numeral answer_html answer_tables crosstab_of csv_of function_table "
        "question_text read_language recorded records_of relation rows_table run_guarantee safe "
        "table_of translated"
    )
    plots = (
        "audit density effects epsilon_over_steps heatmap one_run privacy_loss profile quantiles "
        "regression released renyi survival to_svg tradeoff wealth"
    )
    assert sorted(neyman.report.__all__) == sorted(report.split())
    assert sorted(neyman.plots.__all__) == sorted(plots.split())
    for room in (neyman.report, neyman.plots):
        for name in room.__all__:
            assert (getattr(room, name).__doc__ or "").strip(), name


def test_every_public_name_is_lazy_and_every_lazy_name_public():
    assert {*neyman._HOME_OF, *neyman._ROOMS} == set(neyman.__all__)


def test_the_door_is_a_function_whatever_was_imported_first():
    importlib.import_module("neyman.door")
    assert callable(neyman.release)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        neyman.nothing  # noqa: B018


@pytest.mark.parametrize("room", ["curves", "accounting", "mechanisms"])
def test_a_name_that_is_not_at_the_top_is_told_with_its_room(room):
    name = getattr(neyman, room).__all__[0]
    with pytest.raises(AttributeError, match=f"write neyman.{room}.{name}"):
        getattr(neyman, name)


def test_a_slip_of_the_two_names_of_a_room_is_an_attribute_error_and_loads_nothing():
    assert not loaded_by("import neyman; getattr(neyman, '__wrapped__', None)") & set(HEAVY)
