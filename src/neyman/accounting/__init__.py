"""How releases are counted against a guarantee. No randomness, no data, no files."""

from neyman.accounting._filter import Filter, GaussianFilter, PureFilter, filter_for, filter_from

__all__ = ["Filter", "GaussianFilter", "PureFilter", "filter_for", "filter_from"]
