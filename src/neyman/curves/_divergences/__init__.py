"""Rényi divergences of pairs, at every order."""
