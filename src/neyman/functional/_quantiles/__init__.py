"""Many quantiles from one release of the counts up to every value."""
