"""Tails, masses and moments of named distributions, with brackets."""
