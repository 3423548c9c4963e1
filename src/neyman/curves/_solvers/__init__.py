"""Solvers, which evaluate curves, and the one module that chooses among them."""
