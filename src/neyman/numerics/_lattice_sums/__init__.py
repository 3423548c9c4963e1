"""Sums of independent privacy losses on a grid, second order from above and from below."""
