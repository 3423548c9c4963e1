"""A Spark session on this machine, for users without one."""
# pyright: basic, reportMissingImports=false

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from neyman.errors import InvalidTable
from neyman.tables._extra import require

__all__ = ["local_spark"]

_QUIET = {
    # Failing tasks are logged with the values that they failed on.
    "spark.log.level": "OFF",
    # How far a query is tells of the rows.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Nobody else's business.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def local_spark(settings: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Start Spark in this process, on all its cores, without a web page and without a log.

    Its workers run this Python. It does not log errors, because they can quote private values.

    Args:
        settings: settings of Spark by name, such as {"spark.driver.memory": "8g"}.

    Returns:
        The SparkSession.

    Raises:
        InvalidTable: if a session is already running, because it would keep its own settings.
        MissingExtra: if pyspark is not installed.
    """
    require("pyspark", extra="spark")
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is not None:
        raise InvalidTable(
            "a session of Spark runs in this process already, and would keep its settings; use "
            "it, or stop it first"
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]").appName("neyman")
    for setting, value in (_QUIET | dict(settings)).items():
        builder = builder.config(setting, value)
    return builder.getOrCreate()
