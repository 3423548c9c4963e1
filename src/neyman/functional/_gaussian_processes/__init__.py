"""Releases at public points under noise of a kernel, and paths of Gaussian processes."""
