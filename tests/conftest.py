"""Hypothesis: the same examples in every run, whatever the machine is doing meanwhile."""

from importlib.metadata import PackageNotFoundError, version

from hypothesis import HealthCheck, settings

# A deadline and the check of slow generation measure the load of the machine, not the code.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_report_header() -> str:
    """Say which engines the run has."""
    return "engines: " + ", ".join(map(_version, ("duckdb", "pyspark", "psycopg", "sqlglot")))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
