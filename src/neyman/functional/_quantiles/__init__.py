"""Quantiles: by a search, or by one release of the counts up to every value."""
