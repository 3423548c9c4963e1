"""Row expressions: the only computations on a row that a query can have."""
