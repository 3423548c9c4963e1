"""Write noise_cells.json and noise_summary.json: the rounded laws to 50 digits, by mpmath alone.

Run as `python tests/truth/make_noise.py`. X is N(0, variance) or Laplace(scale), K the integer
nearest to X.

Cells: edges e_0 < ... < e_n cut the integers into K < e_0, e_i <= K < e_{i+1}, e_n <= K; every
cell expects at least 10 of 10^7 draws.
Summary: the standard deviation of K and, at each confidence, the smallest h with
P(|K| <= h) >= confidence.
"""

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
HERE = Path(__file__).parent
DIGITS = 50
REACH = {"gaussian": 4.5, "laplace": 10}
CELL_SCALES = ["1/8", "1", "3", "1000", "1048576"]
SUMMARY_SCALES = ["1/8", "1/4", "1", "3", "7/2", "4", "10", "1000", "1099511627776"]
CONFIDENCES = ["0.1", "0.5", "0.95", "0.99", "0.999999"]


def upper_tail(law, scale, x):
    """P(X > x), x of either sign."""
    if x < 0:
        return 1 - upper_tail(law, scale, -x)
    ratio = x / scale
    return mp.erfc(ratio / mp.sqrt(2)) / 2 if law == "gaussian" else mp.exp(-ratio) / 2


def cells(law, scale):
    step = max(1, int(scale / 8))
    most = int(REACH[law] * scale / step)
    edges = [step * i for i in range(-most, most + 2)]
    tails = [
        upper_tail(law, mp.mpf(scale.numerator) / scale.denominator, mp.mpf(e) - 0.5) for e in edges
    ]
    chances = [1 - tails[0]]
    chances += [a - b for a, b in pairwise(tails)] + [tails[-1]]
    if min(chances) * 10**7 < 10:
        raise ValueError(f"a cell of {law} at {scale} expects fewer than 10 draws")
    return edges, [mp.nstr(p, DIGITS) for p in chances]


def folded_tail(law, scale, j):
    """P(|K| > j)."""
    return 2 * upper_tail(law, scale, mp.mpf(j) + 0.5)


def stddev(law, scale):
    if scale > 100:  # the sum and this differ by less than exp(-2 pi^2 10^4)
        twelfth = mp.mpf(1) / 12
        if law == "gaussian":
            return mp.sqrt(scale**2 + twelfth)
        a = 1 / (2 * scale)
        return mp.sqrt(mp.cosh(a) / 2) / mp.sinh(a)
    return mp.sqrt(
        mp.fsum((2 * j + 1) * folded_tail(law, scale, j) for j in range(int(200 * scale) + 40))
    )


def half_width(law, scale, confidence):
    low, high = -1, int(50 * scale) + 50
    while high - low > 1:
        middle = (low + high) // 2
        if 1 - folded_tail(law, scale, middle) >= confidence:
            high = middle
        else:
            low = middle
    return high


def main():
    table = []
    for law in REACH:
        for text in CELL_SCALES:
            edges, chances = cells(law, Fraction(text))
            table.append({"law": law, "scale": text, "edges": edges, "probabilities": chances})
    (HERE / "noise_cells.json").write_text(json.dumps(table, indent=1) + "\n")
    summary = []
    for law in REACH:
        for text in SUMMARY_SCALES:
            exact = Fraction(text)
            scale = mp.mpf(exact.numerator) / exact.denominator
            summary.append(
                {
                    "law": law,
                    "scale": text,
                    "stddev": mp.nstr(stddev(law, scale), DIGITS),
                    "half_widths": {
                        c: half_width(law, scale, mp.mpf(float(c))) for c in CONFIDENCES
                    },
                }
            )
    (HERE / "noise_summary.json").write_text(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
