"""What accountants are asked, and the true answers."""

import math
from dataclasses import dataclass
from typing import final

__all__ = ["WORKLOADS", "Workload"]

# 1,000 Gaussians of different noise.
MANY = [20 + 0.08 * i for i in range(1000)]
DPSGD = {
    "d1": (1.0, 0.01, 1_000),
    "d2": (0.8, 0.01, 10_000),
    "d3": (1.1, 256 / 60_000, 14_040),
    "d4": (0.6, 0.001, 100_000),
    "d5": (0.5, 0.0001, 1_000_000),
    "d6": (20.0, 0.2, 100_000),
}
# The digits of `EPSILONS`, `POINTS` and `NOISE` come from 240-bit ball arithmetic (the inversion
# of the cumulant at two steps, which agree to 1e-20), from exact polynomial powers and residues
# where losses are few or Laplace, and from closed forms; those of `ERRORS` from the same inversion
# with 40 digits. They were computed apart from this package, whose answers are not among them.
EPSILONS = {
    ("d1", 1e-5): 1.828236666516576873,
    ("d1", 1e-6): 2.124515171120121335,
    ("d1", 1e-10): 3.290443750895298417,
    ("d2", 1e-5): 10.05363477065405243,
    ("d2", 1e-6): 11.18316419611066940,
    ("d2", 1e-10): 15.05824551395936882,
    ("d3", 1e-5): 2.379554518826176782,
    ("d3", 1e-6): 2.694393623086792767,
    ("d3", 1e-10): 3.732844167275006432,
    ("d4", 1e-5): 6.112825183611669582,
    ("d4", 1e-6): 6.960843884224733599,
    ("d4", 1e-10): 10.15446917406779369,
    ("d5", 1e-5): 3.898153631733934375,
    ("d5", 1e-6): 4.728311148400250428,
    ("d5", 1e-10): 7.961644128152684518,
    ("d6", 1e-5): 17.87189048947236091,
    ("d6", 1e-6): 19.44075245117262151,
    ("d6", 1e-10): 24.59333538447975274,
}
# delta at an epsilon, for 1,000 steps of (1, 0.01).
POINTS = {
    1.0: 0.00261242057862692394,
    1.828236666516576873: 1e-5,
    2.124515171120121335: 1e-6,
    3.290443750895298417: 1e-10,
    6.361700204079350175: 1e-20,
}
# Noise for (epsilon, 1e-5) over 10,000 steps at 0.01.
NOISE = {1.0: 3.8128168307019874, 2.0: 2.127375434714147, 8.0: 0.8825284902764458}
# True positive rate at a false positive rate, for 1,000 steps of (1, 0.01).
ERRORS = {
    0.005458303881543285187: 0.01744962883403350892,
    1.217370981410701731e-5: 8.575582656461173832e-5,
    2.805885623428140918e-11: 8.535143507269178e-10,
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One question.

    Attributes:
        name: of the row.
        says: the question in words.
        kind: which function of an accountant answers it.
        arguments: its arguments, JSON-able.
        truth: what is known.
        known: where it is in the list of answers.
        relative: whether errors are relative.
    """

    name: str
    says: str
    kind: str
    arguments: dict[str, object]
    truth: tuple[float, ...]
    known: tuple[int, ...] = (0,)
    relative: bool = False


def _epsilon(
    name: str, says: str, kind: str, truth: float, delta: float, **arguments: object
) -> Workload:
    return Workload(
        name=name,
        says=f"{says}; epsilon at delta = {delta:g}",
        kind=kind,
        arguments={**arguments, "delta": delta},
        truth=(truth,),
    )


def _dpsgd(name: str, sigma: float, q: float, steps: int, delta: float, truth: float) -> Workload:
    says = f"DP-SGD sigma = {sigma:g}, q = {q:.4g}, {steps:,} steps"
    return _epsilon(name, says, "dpsgd", truth, delta, sigma=sigma, q=q, steps=steps)


def _curve(
    name: str, says: str, kind: str, truth: dict[float, float], grid: list[float]
) -> Workload:
    """A thousand points in order, of which a few are known."""
    points = sorted([*grid[: 1_000 - len(truth)], *truth])
    return Workload(
        name=name,
        says=says,
        kind=kind,
        arguments={"sigma": 1.0, "q": 0.01, "steps": 1_000, "at": points},
        truth=tuple(truth.values()),
        known=tuple(points.index(at) for at in truth),
        relative=True,
    )


WORKLOADS: tuple[Workload, ...] = (
    _epsilon(
        "a",
        "1,000 Gaussians, sigma 20 to 100",
        "gaussians",
        3.312031115055850170,
        1e-6,
        sigmas=MANY,
    ),
    *(
        _epsilon(name, "one Gaussian, sigma = 1", "gaussians", truth, delta, sigmas=[1.0])
        for name, delta, truth in (
            ("b1", 1e-5, 4.377178095681224609),
            ("b2", 1e-12, 7.238494420178858363),
            ("b3", 1e-30, 11.74388302523173625),
        )
    ),
    _epsilon("c1", "100 Laplace, 0.1", "laplace", 4.692667414680189291, 1e-6, eps=0.1, times=100),
    _epsilon(
        "c2", "10,000 Laplace, 0.01", "laplace", 4.876257579400639780, 1e-6, eps=0.01, times=10_000
    ),
    *(
        _dpsgd(f"{name} {delta:g}", *DPSGD[name], delta, truth)
        for (name, delta), truth in EPSILONS.items()
    ),
    _dpsgd("j", 1.0, 0.01, 1_000, 1e-20, 6.361700204079350175),
    _dpsgd("k", 1.0, 0.0001, 10_000_000, 1e-6, 1.838199807469938343),
    _epsilon(
        "e",
        "three phases of DP-SGD, Laplace 0.2, randomized response 0.5, ten times 0.1-DP",
        "mixed",
        5.127542786603595080,
        1e-6,
        phases=[[1.0, 0.01, 500], [0.8, 0.02, 200], [1.5, 0.05, 100]],
        laplace=0.2,
        response=0.5,
        pure=[0.1, 10],
    ),
    _epsilon(
        "f1",
        "100 discrete Gaussians, sigma = 4",
        "discrete_gaussian",
        14.45075355721755481,
        1e-6,
        sigma=4.0,
        times=100,
    ),
    _epsilon(
        "f2",
        "100 discrete Laplace, 0.1, sensitivity 3",
        "discrete_laplace",
        16.59972138393014290,
        1e-6,
        rate=0.1,
        sensitivity=3,
        times=100,
    ),
    _epsilon(
        "l",
        "Laplace 1, Poisson-sampled at 0.01, 1,000 steps",
        "sampled_laplace",
        1.286407399769447977,
        1e-6,
        eps=1.0,
        q=0.01,
        times=1_000,
    ),
    _epsilon(
        "m",
        "500 times (0.01, 1e-8)-DP",
        "approximate",
        0.8555212276533732326,
        1e-5,
        eps=0.01,
        loss=1e-8,
        times=500,
    ),
    _epsilon(
        "n",
        "DP-SGD sigma = 2, q = 0.01, 1,000 steps, 10 records together",
        "group",
        9.370403560643742089,
        1e-6,
        sigma=2.0,
        q=0.01,
        times=1_000,
        size=10,
    ),
    *(
        Workload(
            name=f"g{epsilon:g}",
            says=f"noise for ({epsilon:g}, 1e-5) over 10,000 steps at q = 0.01",
            kind="noise",
            arguments={"epsilon": epsilon, "delta": 1e-5, "q": 0.01, "steps": 10_000},
            truth=(noise,),
        )
        for epsilon, noise in NOISE.items()
    ),
    _curve(
        "h1",
        "delta of d1 at 1,000 epsilons, 0 to 7",
        "deltas",
        POINTS,
        [0.007 * i for i in range(1000)],
    ),
    _curve(
        "h2",
        "true positive rate of d1 at 1,000 false positive rates, 1e-12 to 1",
        "rates",
        ERRORS,
        [math.exp(math.log(1e-12) * (1 - i / 999)) for i in range(1000)],
    ),
)
