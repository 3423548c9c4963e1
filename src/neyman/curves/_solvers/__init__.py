"""How curves are read: solvers, and the one place that chooses among them."""
