"""Exactly rounded noise against opendp's discrete laws and numpy's normal, a speed limit."""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp

from benchmarks import Report, interleave
from neyman.mechanisms import Gaussian, Laplace

OURS = 1_000_000
PEER = 10_000
REPETITIONS = 11
EXPONENTS = (-3, 0, 10, 20, 28)
MECHANISMS = {"Gaussian": Gaussian, "Laplace": Laplace}


def peer(law: str, scale: float):
    """Opendp's vectorised mechanism on integers, discrete Gaussian or discrete Laplace."""
    domain = dp.vector_domain(dp.atom_domain(T=int))
    if law == "Gaussian":
        return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)
    return dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=scale)


def measure(law: str, exponent: int) -> tuple[float, float, float]:
    """Seconds a draw: ours, numpy's standard normal, opendp's."""
    mechanism = MECHANISMS[law](scale=Fraction(2) ** exponent)
    values, few = np.zeros(OURS, dtype=np.int64), [0] * PEER
    generator, theirs = np.random.default_rng(), peer(law, 2.0**exponent)
    seconds = interleave(
        {
            "neyman": lambda: mechanism.add_noise(values),
            "numpy": lambda: generator.standard_normal(OURS),
            "opendp": lambda: theirs(few),
        },
        REPETITIONS,
    )
    return seconds["neyman"] / OURS, seconds["numpy"] / OURS, seconds["opendp"] / PEER


def run() -> Report:
    """Measure both laws at every scale."""
    dp.enable_features("contrib")
    rows: list[list[str | float]] = []
    for law in MECHANISMS:
        for exponent in EXPONENTS:
            ours, numpys, theirs = measure(law, exponent)
            speeds = [1e-6 / ours, 1e-6 / numpys, 1e-6 / theirs]
            rows.append([law, f"2^{exponent}", *speeds, theirs / ours, ours / numpys])
    gaussian = [row for row in rows if row[0] == "Gaussian"]
    slowest = min(float(row[2]) for row in gaussian)
    least = min(float(row[5]) for row in gaussian)
    most = max(float(row[6]) for row in gaussian)
    return Report(
        title="Exactly rounded noise",
        method=(
            f"Single-threaded, one process. Medians of {REPETITIONS} interleaved repetitions of "
            f"{OURS:,} draws (opendp: {PEER:,}, list in and out as its Python interface has it). "
            "opendp: make_gaussian and make_laplace on a vector of integers, which are the "
            "discrete laws, also exact. numpy: Generator.standard_normal, float noise from a "
            "seedable generator, which is **not private** and stands here as a speed limit."
        ),
        packages=["neyman", "numpy", "scipy", "python-flint", "opendp"],
        columns=[
            "law",
            "scale (lattice units)",
            "neyman (M draws/s)",
            "numpy normal (M draws/s)",
            "opendp (M draws/s)",
            "neyman / opendp (speed)",
            "neyman / numpy (time)",
        ],
        rows=rows,
        verdicts=[
            _verdict(f"Gaussian draws a second: {slowest:.1f} M at the slowest", slowest >= 10, 10),
            _verdict(
                f"times as fast as opendp's Gaussian: {least:.0f} at least", least >= 100, 100
            ),
            _verdict(f"times as long as numpy's normal: {most:.1f} at most", most <= 8, 8),
        ],
    )


def _verdict(found: str, met: bool, bar: int) -> str:
    return f"{found} (bar: {bar}) — {'met' if met else 'NOT met'}."
