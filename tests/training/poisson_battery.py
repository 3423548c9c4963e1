"""Whether batches are a Poisson sample: exact tests of sizes, records, pairs and steps."""

import numpy as np
from scipy.special import betainc, gammainc, gammaincc, ndtri

__all__ = ["inclusions", "refuted_by"]


def inclusions(batches, records):
    """Return how often each record is in each step, shape (steps, records)."""
    return np.array(
        [np.bincount(np.asarray(b, dtype=np.int64), minlength=records) for b in batches]
    )


def at_least(k, n, p):
    """Return P(Binomial(n, p) >= k)."""
    k = np.asarray(k, dtype=float)
    return np.where(k <= 0, 1.0, betainc(np.maximum(k, 1e-9), np.maximum(n - k + 1, 1e-9), p))


def two_sided(k, n, p):
    """Return exact p-values, by doubling the smaller tail."""
    above = at_least(k, n, p)
    below = 1 - at_least(np.asarray(k) + 1, n, p)
    # Cancellation near 1 does not matter, and the small tail is one of the two.
    mirrored = at_least(n - np.asarray(k, dtype=float), n, 1 - p)
    return np.minimum(1, 2 * np.minimum(above, np.where(below < 0.5, mirrored, below)))


def spread(counts, n, p, rng):
    """Return the p-value of the sum of squares of normal scores: too wide, or too even.

    A uniform number between the two values of the distribution function at a count is uniform, so
    that the scores are exactly normal.
    """
    low, high = 1 - at_least(counts, n, p), 1 - at_least(counts + 1, n, p)
    scores = ndtri(np.clip(low + rng.random(counts.size) * (high - low), 1e-300, 1 - 1e-16))
    total, half = np.sum(scores**2) / 2, counts.size / 2
    return float(min(1, 2 * min(gammainc(half, total), gammaincc(half, total))))


def together(first, second):
    """Count the records that are in both of two steps, over all couples of steps."""
    return int(np.sum((first > 0) & (second > 0)))


def refuted_by(batches, records, rate, steps, *, level, seed=0):
    """Return the tests that refute a Poisson sample; for one that is, nothing but for `level`.

    Each test has its share of the level (Bonferroni), so that whatever depends on what, batches
    that are a Poisson sample are refuted with a chance of at most `level`. They have to be as they
    entered the steps that were accounted, with repeats.
    """
    seen, rate, rng = inclusions(batches, records), float(rate), np.random.default_rng(seed)
    if len(seen) != steps:
        return {"steps": 0.0}
    if seen.max(initial=0) > 1:
        return {"record twice in a step": 0.0}
    sizes, of_record, lag = seen.sum(axis=1), seen.sum(axis=0), max(round(1 / rate), 1)
    half, epochs = steps // 2, steps // lag
    windows = seen[: epochs * lag].reshape(epochs, lag, records).sum(axis=1)
    once = lag * rate * (1 - rate) ** (lag - 1)
    # A couple is counted once: above the diagonal.
    # As doubles, whose products are fast; counts are exact in them.
    couples = np.triu(seen.T.astype(float) @ seen.astype(float), 1)
    found = {
        "total": two_sided(seen.sum(), records * steps, rate),
        "largest and smallest batch": steps * np.min(two_sided(sizes, records, rate)),
        "spread of sizes": spread(sizes, records, rate, rng),
        "a record": records * np.min(two_sided(of_record, steps, rate)),
        "spread of records": spread(of_record, steps, rate, rng),
        "couples of records": records * (records - 1) / 2 * at_least(couples.max(), steps, rate**2),
        "once an epoch": two_sided(np.sum(windows == 1), records * epochs, once),
    }
    for name, apart in (("next steps", 1), ("steps an epoch apart", lag), ("halves", half)):
        blocks = steps // (2 * apart)
        pairs = seen[: blocks * 2 * apart].reshape(blocks, 2, apart, records)
        both = together(pairs[:, 0], pairs[:, 1])
        found[name] = two_sided(both, blocks * apart * records, rate**2)
    return {name: float(p) for name, p in found.items() if p * len(found) <= level}
