"""From a file, a frame, a connection or a session to rows that an engine reads."""
