"""Laws of a privacy loss: cumulants with the error of their sums, strips, decay."""
