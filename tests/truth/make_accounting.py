"""Write accounting.json: deltas, epsilons, tails and cumulants of compositions, to 50 digits.

    nice python tests/truth/make_accounting.py [SOURCE...]

Nothing of neyman is imported. Finished records are kept: delete a record, or the file, to make it
again. Every number is a decimal as text, exactly as written (never the double nearest to it).

accounting.json is {"cases": [record, ...]}, and a record has
    id         unique text
    kind       what is composed, with `parameters` {name: text}; L = log(dQ/dP):
        gaussian              mu
        gaussians             count shifts of 1, with noise sigma = first, first + step, ...
        dpsgd                 sigma, q, T: T Poisson-sampled Gaussians of noise sigma.
                              remove: Q = (1-q) N(0) + q N(1), P = N(0); add: the swap
        group                 sigma, q, T, k: the same for k records, each with its own coin:
                              shifts 0, ..., k with binomial chances
        poisson_replace       sigma, q, T: Q, P = (1-q) N(0) + q N(+-1)
        without_replacement   sigma, q, T: C_q(G_{1/sigma}) in every step (Dong, Roth and Su,
                              Theorem 4.2): an upper bound, not the smallest
        laplace               epsilon0, T
        subsampled_laplace    epsilon0, q, T, and the directions of dpsgd
        randomized_response   epsilon0, delta0, T: the dominating pair of any T (epsilon0, delta0)
                              mechanisms (Kairouz, Oh and Viswanath)
        discrete_gaussian     sigma, T: mass ~ exp(-k^2 / 2 sigma^2), shifted by 1
        discrete_laplace      a, shift, T: mass ~ exp(-a |k|)
        mixed                 phases [[sigma, q, T], ...] of dpsgd, laplace [[epsilon0, T], ...],
                              responses [[epsilon0, T], ...]
        random_allocation     sigma, T: one of T steps, uniformly; remove: Q is the mixture
        clones                n, epsilon0: n shuffled reports, C ~ Bin(n-1, e^-epsilon0)
                              (Feldman, McMillan and Talwar 2021)
    direction  remove | add | both: the pair is its own swap
    quantity   delta, log_delta, one_minus_delta: at epsilon `at`, any real
               epsilon: at delta `at`, in this direction
               p_above, q_above: P(L > at), Q(L > at); p_below, q_below: P(L <= at), Q(L <= at)
               cumulant: K(s) = log E_P e^{sL} of ONE step, principal, at s = [Re, Im]
    at         text; for a cumulant [Re s, Im s]
    value      50 significant digits; for a cumulant [Re K, Im K]
    digits     how many of them two evaluations share (another c, step and quadrature of K; or two
               steps; or two circles), or the radius of the ball where a sum is finite
    method     contour | convolution | closed | finite | quadrature
    source     workload NAME | grid | cumulant | other | published VALUE: the value that was
               printed, mostly of binary64 work, which is not always right

The method: delta(eps) = 1/(2 pi i) int exp(T K(s) - (s-1) eps) / (s (s-1)) ds, by the trapezoidal
rule on a line through the saddle point; K by the trapezoidal rule in z. See accounting/.
"""

import fcntl
import json
import signal
import sys
import time
from pathlib import Path

from accounting.balls import shown
from accounting.cases import cases
from accounting.values import value

PATH = Path(__file__).with_name("accounting.json")
LONGEST = 900  # seconds


def load():
    return json.loads(PATH.read_text(encoding="utf-8"))["cases"] if PATH.exists() else []


def add(records):
    """Add records; two runs may share the file."""
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load()
        names = {c["id"] for c in known}
        lines = [json.dumps(c, separators=(",", ":")) for c in known]
        lines += [json.dumps(r, separators=(",", ":")) for r in records if r["id"] not in names]
        part = PATH.with_suffix(".part")
        part.write_text('{"cases":[\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")
        part.replace(PATH)


def records(case):
    """Return the record of a case; a delta has its logarithm too."""
    found, digits, method = value(case)
    several = isinstance(found, list)
    made = [
        case
        | {"value": [shown(x) for x in found] if several else shown(found)}
        | {"digits": min(50, digits), "method": method}
    ]
    if case["quantity"] == "delta":
        made.append(
            made[0]
            | {"id": case["id"].replace(" delta ", " log_delta "), "quantity": "log_delta"}
            | {"value": shown(found.log())}
        )
    return made


class TooLongError(Exception):
    """A case took more than its time."""


def stop(*_):
    raise TooLongError


def main():
    """Work out the cases whose records are not there; arguments choose by the source."""
    signal.signal(signal.SIGALRM, stop)
    begin = time.time()
    for case in cases():
        if sys.argv[1:] and not any(case["source"].startswith(x) for x in sys.argv[1:]):
            continue
        if any(c["id"] == case["id"] for c in load()):
            continue
        start = time.time()
        signal.alarm(LONGEST)
        try:
            made = records(case)
        except (TooLongError, ValueError) as error:
            print(f"{case['id']}: NOT DONE, {error!r}", flush=True)
            continue
        finally:
            signal.alarm(0)
        add(made)
        passed = f"{time.time() - begin:6.0f}s {time.time() - start:5.1f}s"
        print(
            f"{passed} {case['id']}: {str(made[0]['value'])[:26]} ({made[0]['digits']})", flush=True
        )


if __name__ == "__main__":
    main()
