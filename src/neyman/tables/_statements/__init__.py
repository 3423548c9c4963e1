"""One question of a view as one SQL statement."""
