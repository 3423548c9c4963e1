"""Statistics: what is summed of a row, how far a unit moves it, how the sums are read."""
