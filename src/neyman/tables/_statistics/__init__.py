"""Statistics: contributions of rows, sensitivities, and columns of answers."""
