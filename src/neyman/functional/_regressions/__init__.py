"""Regression curves: two released sums and the curves that are read from them."""
