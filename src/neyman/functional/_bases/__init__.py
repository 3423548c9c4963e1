"""Domains, and bases of functions on them: integer features with checked norms."""
