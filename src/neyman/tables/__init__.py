"""Tables: bounded contributions, one SQL statement, exact integers with a typed sensitivity.

Code that sees rows never knows epsilon. An engine returns integers only, and the names of
undeclared groups, which are kept until the threshold and no longer.
"""

from neyman.tables._extra import require

require("duckdb", "sqlglot")

from neyman.tables._bounds import Bounds  # noqa: E402
from neyman.tables._engines._engine import Engine  # noqa: E402
from neyman.tables._engines._spark_session import local_spark  # noqa: E402
from neyman.tables._expressions._expression import Expression  # noqa: E402
from neyman.tables._expressions._parts import col, lit  # noqa: E402
from neyman.tables._expressions._read import (  # noqa: E402
    expression_from_json,
    expression_to_json,
    read_expression,
)
from neyman.tables._expressions._text import expression_of_text  # noqa: E402
from neyman.tables._expressions._when import when  # noqa: E402
from neyman.tables._foreign_key import ForeignKey  # noqa: E402
from neyman.tables._key import Key, whole_of  # noqa: E402
from neyman.tables._keys._bins import Bin, Bins  # noqa: E402
from neyman.tables._keys._keys import Keys  # noqa: E402
from neyman.tables._keys._unknown_keys import UnknownKeys  # noqa: E402
from neyman.tables._keys._values import Values  # noqa: E402
from neyman.tables._on import How, On, Taken  # noqa: E402
from neyman.tables._open import open_table  # noqa: E402
from neyman.tables._schema import Schema  # noqa: E402
from neyman.tables._sources._several import files_of  # noqa: E402
from neyman.tables._statistics._linear import LinearRegression  # noqa: E402
from neyman.tables._statistics._per_unit import CountUnits, MeanPerUnit, SumPerUnit  # noqa: E402
from neyman.tables._statistics._spread import Correlation, Covariance, Variance  # noqa: E402
from neyman.tables._statistics._statistic import Component, Measured, Statistic  # noqa: E402
from neyman.tables._statistics._statistics import Count, Mean, Sum  # noqa: E402
from neyman.tables._statistics._together import Together  # noqa: E402
from neyman.tables._table import Table  # noqa: E402
from neyman.tables._unit import Entity, Rows, Unit, old_limits  # noqa: E402

__all__ = [
    "Bin",
    "Bins",
    "Bounds",
    "Component",
    "Correlation",
    "Count",
    "CountUnits",
    "Covariance",
    "Engine",
    "Entity",
    "Expression",
    "ForeignKey",
    "How",
    "Key",
    "Keys",
    "LinearRegression",
    "Mean",
    "MeanPerUnit",
    "Measured",
    "On",
    "Rows",
    "Schema",
    "Statistic",
    "Sum",
    "SumPerUnit",
    "Table",
    "Taken",
    "Together",
    "Unit",
    "UnknownKeys",
    "Values",
    "Variance",
    "col",
    "expression_from_json",
    "expression_of_text",
    "expression_to_json",
    "files_of",
    "lit",
    "local_spark",
    "old_limits",
    "open_table",
    "read_expression",
    "when",
    "whole_of",
]
