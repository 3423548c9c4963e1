"""Laws with atoms only: sums over them, their composition on a lattice, tables of tails."""
