"""One-way views of composed losses, and what two directions make of them."""
