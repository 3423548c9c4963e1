"""What runs a statement: DuckDB, Spark, PostgreSQL, and how each says it."""
