"""Keys: the groups of an answer, declared or undeclared."""
