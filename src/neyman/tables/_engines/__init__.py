"""Engines that run a statement: DuckDB, Spark, PostgreSQL, each in its dialect."""
