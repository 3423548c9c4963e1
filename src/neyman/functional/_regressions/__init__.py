"""Regression curves: two released sums and the curves made of them."""
