"""Survival curves: two released counts and their product limit."""
