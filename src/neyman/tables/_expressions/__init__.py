"""Row expressions: what a query may compute of a row, and nothing else."""
