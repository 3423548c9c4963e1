"""The leaves: pairs of laws, a file each."""
