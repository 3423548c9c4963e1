"""Densities of two and three coordinates: their basis, and what is read of a release."""
