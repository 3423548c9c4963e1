"""Tables: bounded contributions, one SQL statement, exact integers with a typed sensitivity.

Who sees rows never knows epsilon. Integers leave the engine, and names of groups that nobody
declared, which are held until the threshold and no longer.
"""

from neyman.tables._extra import require

require("duckdb", "sqlglot")

from neyman.tables._bins import Bin, Bins  # noqa: E402
from neyman.tables._bounds import Bounds  # noqa: E402
from neyman.tables._engine import Engine  # noqa: E402
from neyman.tables._expression import Expression  # noqa: E402
from neyman.tables._expression_parts import col, lit  # noqa: E402
from neyman.tables._expression_read import (  # noqa: E402
    expression_from_json,
    expression_to_json,
    read_expression,
)
from neyman.tables._expression_when import when  # noqa: E402
from neyman.tables._foreign_key import ForeignKey  # noqa: E402
from neyman.tables._key import Key  # noqa: E402
from neyman.tables._keys import Keys  # noqa: E402
from neyman.tables._linear import LinearRegression  # noqa: E402
from neyman.tables._open import open_table  # noqa: E402
from neyman.tables._schema import Schema  # noqa: E402
from neyman.tables._spark_session import local_spark  # noqa: E402
from neyman.tables._spread import Correlation, Covariance, Variance  # noqa: E402
from neyman.tables._statistic import Component, Measured, Statistic  # noqa: E402
from neyman.tables._statistics import Count, Mean, Sum  # noqa: E402
from neyman.tables._table import Table  # noqa: E402
from neyman.tables._together import Together  # noqa: E402
from neyman.tables._unit import Entity, Rows, Unit  # noqa: E402
from neyman.tables._unknown_keys import UnknownKeys  # noqa: E402

__all__ = [
    "Bin",
    "Bins",
    "Bounds",
    "Component",
    "Correlation",
    "Count",
    "Covariance",
    "Engine",
    "Entity",
    "Expression",
    "ForeignKey",
    "Key",
    "Keys",
    "LinearRegression",
    "Mean",
    "Measured",
    "Rows",
    "Schema",
    "Statistic",
    "Sum",
    "Table",
    "Together",
    "Unit",
    "UnknownKeys",
    "Variance",
    "col",
    "expression_from_json",
    "expression_to_json",
    "lit",
    "local_spark",
    "open_table",
    "read_expression",
    "when",
]
