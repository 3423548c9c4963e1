"""Guarantees built from others: compositions, groups, samples, the worst and the best."""
