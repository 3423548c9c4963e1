"""Tables joined on the unit or on public keys, and units reached by foreign keys."""
