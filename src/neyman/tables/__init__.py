"""Tables: bounded contributions, one SQL statement, exact integers with a typed sensitivity.

Who sees rows never knows epsilon. Integers leave the engine, and names of groups that nobody
declared, which are held until the threshold and no longer.
"""

from neyman.tables._extra import require

require("duckdb", "sqlglot")

from neyman.tables._bins import Bin, Bins  # noqa: E402
from neyman.tables._bounds import Bounds  # noqa: E402
from neyman.tables._engine import Engine  # noqa: E402
from neyman.tables._keys import Key, Keys  # noqa: E402
from neyman.tables._schema import Schema  # noqa: E402
from neyman.tables._spark_session import local_spark  # noqa: E402
from neyman.tables._statistic import Component, Measured, Statistic  # noqa: E402
from neyman.tables._statistics import Count, Mean, Sum  # noqa: E402
from neyman.tables._table import Table, open_table  # noqa: E402
from neyman.tables._unit import Entity, Rows, Unit  # noqa: E402
from neyman.tables._unknown_keys import UnknownKeys  # noqa: E402

__all__ = [
    "Bin",
    "Bins",
    "Bounds",
    "Component",
    "Count",
    "Engine",
    "Entity",
    "Key",
    "Keys",
    "Mean",
    "Measured",
    "Rows",
    "Schema",
    "Statistic",
    "Sum",
    "Table",
    "Unit",
    "UnknownKeys",
    "local_spark",
    "open_table",
]
