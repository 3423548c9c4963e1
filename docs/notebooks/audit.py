# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # An audit
#
# Somebody claims that a mechanism is private, and you want to test the claim. You learn how many
# runs you need, how to read a verdict, and how to find a fault that no formula shows: in
# floating-point noise, in batches, and in a training.
#
# An audit plays the attacker. It can refute a claim, and it can never prove one. A claim that holds
# is refuted with a probability of at most 5 % here, whatever the mechanism does.

# %%
from math import exp

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny
from neyman import audit

plt.style.use("neyman.plots.paper")
draw = np.random.default_rng(0)

# %% [markdown]
# ## Before you begin: how many runs
#
# The claim is 1-GDP. Suppose that the noise is too small by some factor. So many runs on each of
# two neighbouring datasets refute the claim nine times in ten, if the attack is the best one.

# %%
pd.DataFrame(
    {
        "noise, of what was claimed": f"{factor:.0%}",
        "runs": audit.plan(ny.gdp(1), ny.gdp(1 / factor)),
    }
    for factor in (0.5, 0.7, 0.8, 0.9)
)

# %% [markdown]
# A fault of a half shows at once. The number grows with one over the square of the gap, so that
# noise which is 1 % too small takes hundreds of thousands of runs.
#
# ## Scores of an attack
#
# You run the mechanism 2,000 times without a record and 2,000 times with it, and each run gets a
# score. In truth the noise is 0.7 of what was claimed.

# %%
outside, inside = draw.normal(0, 0.7, 2000), draw.normal(1, 0.7, 2000)
verdict = audit.refute(inside, outside, ny.gdp(1), seed=1)
print(verdict)

# %% [markdown]
# The picture shows the claim, the rule that the audit learnt from a tenth of the scores, and a band
# that holds the true trade-off curve. Where the whole band is below the claim, the claim is false.

# %%
ny.plots.audit(verdict, band=audit.curve_band(inside, outside))

# %% [markdown]
# What the mechanism loses at least, beside what it loses in truth:

# %%
truth = ny.gdp(1 / 0.7)
pd.DataFrame(
    {
        "": ["at least, by the audit", "in truth", "claimed"],
        "mu": [round(float(audit.mu(inside, outside, seed=1)), 2), round(1 / 0.7, 2), 1],
        "epsilon at delta = 1e-5": [
            round(float(audit.epsilon(inside, outside, delta=1e-5, seed=1)), 2),
            round(truth.epsilon(1e-5), 2),
            round(ny.gdp(1).epsilon(1e-5), 2),
        ],
    }
)

# %% [markdown]
# ## Looking while it runs
#
# If each run is expensive, bet against the claim, one pair of scores after the other. You may stop
# when you like: a claim that holds lets your money grow twentyfold with a probability of at most 5
# %.

# %%
test = audit.Sequential(ny.gdp(1))
while not test.refuted and test.pairs < 5000:
    test.update(inside=draw.normal(1, 0.7), outside=draw.normal(0, 0.7))
ny.plots.wealth(test)

# %% [markdown]
# ## A fault that no formula shows
#
# Three programs add Laplace noise of scale 1 to a count. All three have the right formula, or
# nearly.

# %%


def with_floats(data, rng):
    """Add floating-point noise, as most programs do."""
    return sum(data) + rng.laplace(scale=1)


def with_integers(data, rng):
    """Add noise on integers, the difference of two geometric draws."""
    return sum(data) + int(rng.geometric(1 - exp(-1)) - rng.geometric(1 - exp(-1)))


def with_half(data, rng):
    """Add half of the noise: a slip in the sensitivity."""
    return sum(data) + int(rng.geometric(1 - exp(-2)) - rng.geometric(1 - exp(-2)))


programs = (with_floats, with_integers, with_half)
found = {
    run.__name__: audit.mechanism(run, [1, 0, 1], [1, 0], ny.pure_dp(1), draws=20_000, seed=1)
    for run in programs
}
pd.DataFrame(
    {
        "program": name,
        "epsilon = 1 is": "refuted" if one.refuted else "not refuted",
        "p-value": f"{one.p_value:.2g}",
    }
    for name, one in found.items()
)

# %% [markdown]
# The first is refuted although its formula is right: the last bits of a float tell what the noise
# was added to (Mironov, 2012). The noise of this library is drawn on integers.
#
# ## The batches of a training
#
# Poisson sampling is claimed far more often than it is done. Here are 100 batches of about 50 of
# 1,000 records, drawn in two ways.

# %%


def shuffled(records, batch, steps):
    """Pass over the data again and again, in a new order each time, as most loaders do."""
    order = [draw.permutation(records) for _ in range(steps * batch // records)]
    return np.concatenate(order).reshape(steps, batch)


def poisson(records, rate, steps):
    """Take each record by itself."""
    return [np.flatnonzero(draw.random(records) < rate) for _ in range(steps)]


samplers = {
    "shuffled": audit.sampler(shuffled(1000, 50, 100), rate=0.05, steps=100, records=1000),
    "Poisson": audit.sampler(poisson(1000, 0.05, 100), rate=0.05, steps=100, records=1000),
}
pd.set_option("display.max_colwidth", None)
pd.DataFrame(
    {
        "batches": name,
        "Poisson sampling is": "refuted" if one.refuted else "not refuted",
        "because of": ", ".join(one.reasons) or "-",
    }
    for name, one in samplers.items()
)

# %% [markdown]
# What hangs on it: five passes of 20 steps have another guarantee if the batches are shuffled. The
# bounds are proved on both sides, so this is no weakness of the accountant.

# %%
steps = {"noise_multiplier": 1, "steps": 20}
claimed = ny.dp_sgd(sampling_probability=0.05, **steps) ** 5
shuffled_batches = ny.accounting.shuffled_passes(**steps) ** 5
pd.DataFrame(
    {
        "batches": name,
        "epsilon at least": round(f.epsilon(1e-5, bracket=True).lower, 2),
        "epsilon at most": round(f.epsilon(1e-5, bracket=True).upper, 2),
    }
    for name, f in {"Poisson": claimed, "shuffled": shuffled_batches}.items()
)

# %% [markdown]
# Next: [a committee](committee.py) has to decide what is private enough.
