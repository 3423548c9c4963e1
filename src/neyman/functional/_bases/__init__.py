"""Domains, and what functions on them are expanded in: integer features with checked norms."""
