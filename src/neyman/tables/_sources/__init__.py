"""Sources: rows of a file, a frame, a connection or a session for an engine."""
