"""Tables of the benchmark `functions`, one module a table."""
