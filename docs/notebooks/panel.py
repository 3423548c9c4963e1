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
# # A panel of people
#
# People in a panel answer once a year, and some of them answer often. You learn what a contribution
# limit does to your numbers, how a release tells you what the limit cut, and how to find a good
# limit on public rows before you spend anything.
#
# The panel is made up: 4,000 people, five years, a visit to the doctor in each row. Some people are
# ill for long and have 30 visits. So the truth is known here, and you can see what each choice
# costs.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny
from neyman import publish

plt.style.use("neyman.plots.paper")


def panel(people, seed):
    """Return made-up visits: most people have few of them, some have very many."""
    draw = np.random.default_rng(seed)
    visits = np.minimum(1 + draw.negative_binomial(0.8, 0.14, people), 40)
    person = np.repeat(np.arange(people), visits)
    ill = np.repeat(visits > 12, visits)
    return pd.DataFrame(
        {
            "person": person,
            "year": draw.integers(2020, 2025, len(person)),
            "region": np.array(["north", "south", "west"])[person % 3],
            "minutes": np.round(draw.gamma(4, 5, len(person)) + 10 * ill),
        }
    )


visits = panel(4000, seed=1)
visits.groupby("person").size().describe().round(1).to_frame("visits of one person").T

# %% [markdown]
# ## The limit is the choice that matters
#
# Noise must hide one person with all their rows. A low limit needs little noise, but it cuts the
# rows beyond it. A high limit cuts nothing and needs much noise. Below the same question is asked
# three times under three limits.

# %%
db = ny.open(
    visits,
    name="visits",
    unit="person",
    max_rows=10,
    bounds={"minutes": (0, 60)},
    budget=ny.gdp(1),
    ledger="panel.ledger",
)
regions = {"region": ["north", "south", "west"]}
limits = (2, 10, 40)
answers = {
    limit: db.bounded(max_rows=limit).count(by=regions).release(f"visits, {limit}", mu=0.3)
    for limit in limits
}
truth = visits.groupby("region").size()

picture, axes = plt.subplots(figsize=(6.4, 3.2))
for place, (limit, answer) in enumerate(answers.items()):
    rows = answer.to_pandas()
    half = (rows["upper"] - rows["lower"]) / 2
    at = np.arange(3) + 0.2 * (place - 1)
    axes.errorbar(
        rows["count"], at, xerr=half, fmt="o", markersize=4, label=f"at most {limit} visits"
    )
axes.vlines(truth, np.arange(3) - 0.35, np.arange(3) + 0.35, color="black", label="truth")
axes.set_yticks(range(3), truth.index)
axes.set(xlabel="visits", xlim=(0, None))
axes.xaxis.set_major_formatter("{x:,.0f}")
axes.invert_yaxis()
picture.legend(loc="outside upper center", ncols=4)
axes.set_title("A narrow interval around a number that is far too low")
plt.show()

# %% [markdown]
# An interval covers the noise only. So the narrowest interval, that of the lowest limit, is the
# most wrong.
#
# ## The release tells you
#
# Two per cent of each question's budget buy four more numbers, the *companion*. It counts the
# people whose rows were cut, with noise. You read it, and you know which of the three answers to
# believe.

# %%
pd.set_option("display.max_colwidth", None)
pd.DataFrame(
    {"limit": limit, "what the release says": answer.companion.sentences[0]}
    for limit, answer in answers.items()
)

# %% [markdown]
# ## A limit for each year
#
# Sometimes you know more, and you may say it in public: nobody is interviewed more than once a
# year. Name the column with the limit. It acts in every question that is grouped by that column,
# and those answers need less noise. Below is half of a 95 % interval of the same question to a
# yearly interview, with and without that knowledge.

# %%
interviews = visits.drop_duplicates(["person", "year"])
by_year = {"year": range(2020, 2025)}


def half_width(question):
    """Return half of the interval that an answer will have."""
    return round(question.preview(mu=0.3).numbers[0].half_width)


known = {
    "at most 5 in all": {"max_rows": 5},
    "at most 5 in all, 1 per year": {"max_rows": 5, "max_rows_per": {"year": 1}},
}
asked = {
    words: ny.open(
        interviews, name="interviews", unit="person", budget=ny.gdp(1), ledger="n.ledger", **limits
    )
    for words, limits in known.items()
}
pd.DataFrame(
    {
        "what you declare": words,
        "people by year": f"± {half_width(db.count(by=by_year))}",
        "people by region": f"± {half_width(db.count(by=regions))}",
    }
    for words, db in asked.items()
)

# %% [markdown]
# ## Rehearse on public rows
#
# You cannot look at private rows to choose a limit. But you may have last year's published table,
# or you can simulate one. A rehearsal runs your whole spec on such rows, compares with their truth,
# and tries other limits. It charges nothing.

# %%
panel(4000, seed=1).to_parquet("visits.parquet")
panel(3500, seed=2).to_parquet("public.parquet")
Path("visits.toml").write_text(
    """
title = "Visits"
[data]
path = "visits.parquet"
[unit]
entity = "person"
max_rows = 2
[columns.minutes]
lower = 0
upper = 45
grid = 1
[keys.regions]
region = ["north", "south", "west"]
[budget]
ledger = "visits.ledger"
mu = 1
[[query]]
entry = "visits"
statistic = "count"
by = "regions"
mu = 0.3
[[query]]
entry = "length"
statistic = "mean"
column = "minutes"
by = "regions"
mu = 0.3
""",
    encoding="utf-8",
)
spec = publish.read_spec(Path("visits.toml"))
found = publish.rehearse(
    spec, Path(), data="public.parquet", max_rows=[1, 2, 3, 5, 8, 12, 20, 30, 40]
)
found

# %% [markdown]
# For each limit, the error adds up what the limit cuts and what the noise does. Both curves have a
# lowest point. That is the limit to declare for rows like these.

# %%
picture, axes = plt.subplots()
for row in found.rows:
    error = row.searched.rmse
    label = f"{row.entry}: best limit {row.searched.best}"
    relative = np.array([*error.values()]) / min(error.values())
    axes.loglog([*error], relative, "o-", label=label)
axes.set_xticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
axes.minorticks_off()
axes.set(xlabel="most rows of one person that count", ylabel="error, over that of the best limit")
axes.legend()
axes.set_title("A count wants a higher limit than a mean")
plt.show()

# %% [markdown]
# Next: [functions](functions.py), for the cases in which no table of groups is enough.
