"""Releases at public points with Gaussian process noise, and paths of Gaussian processes."""
