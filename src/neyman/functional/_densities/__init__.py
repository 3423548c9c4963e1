"""Densities of one to three coordinates: the question, the release, and what is read of it."""
