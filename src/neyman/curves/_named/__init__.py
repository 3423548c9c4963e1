"""The guarantees by name."""
