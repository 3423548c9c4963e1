"""Released densities and distribution functions of one variable."""
