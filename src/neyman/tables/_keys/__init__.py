"""Keys: the groups that an answer has, declared or to be found."""
