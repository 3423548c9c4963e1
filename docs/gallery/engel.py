"""Engel's law: the share of income that 235 households spent on food, by income."""

import numpy as np
import pandas as pd
from common import PUBLIC, data, finding, label, ledger, save

import neyman as ny
from neyman import functional
from neyman.plots._style import ACCENT, TRUTH, clean, figure

table = pd.read_csv(data("statsmodels", "datasets/engel/engel.csv"))
income, share = table["income"].to_numpy(), (table["foodexp"] / table["income"]).to_numpy()

domain = functional.Interval(2.5, 3.5, outside="clip")  # 316 to 3,162 francs a year, by logarithm
query = functional.regression(
    np.log10(income),
    share,
    domain=domain,
    bandwidth=0.04,  # a tenth of an income
    response=functional.Interval(0, 1, outside="clip"),
    neighbors="add_remove",
    unit="one household",
    name="Belgian households of 1857",
)
noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.5)
paid = ledger(mu=0.5, unit="one household", neighbors="add_remove")
curve = functional.function(ny.release(query, noise, paid, entry="share of food"))
fit = curve.gaussian_process()

x, private = fit.grid(400)  # NaN where too few households are left to be told from the noise
known = np.isfinite(private)
slope, level = np.polyfit(np.log10(income), share, 1)  # a straight line without privacy
error = np.sqrt(np.mean((private - level - slope * x)[known] ** 2))
two = np.log10([500, 1000])
print(f"{curve.density.count:.0f} households, known from {fit.stretches}, in powers of ten")
print("at 500 and 1,000 francs", fit(two).round(3), "fitted", (level + slope * two).round(3))
print(f"root mean square difference {error:.3f}")

band = fit.band(0.95, "total", generator=np.random.default_rng(1), repetitions=60)
picture = figure(6.4, 3.6)
axes = clean(picture.add_subplot())
axes.plot(income, share, ".", label="households (public data)", **PUBLIC)
axes.fill_between(
    10**band.x,
    band.lower,
    band.upper,
    color=ACCENT,
    alpha=0.2,
    linewidth=0,
    label="noise and sampling, 95 %",
)
axes.plot(10**x, private, color=ACCENT, linewidth=1.6, label="private")
axes.plot(
    10 ** x[known],
    (level + slope * x)[known],
    color=TRUTH,
    linewidth=1,
    linestyle="--",
    label="straight line without privacy (public data)",
)
axes.set(xscale="log", xlim=(316, 3162), ylim=(0, 1))
axes.set_xticks([400, 600, 1000, 2000, 3000], ["400", "600", "1000", "2000", "3000"], minor=False)
axes.minorticks_off()
finding(axes, "The straight line without privacy lies within the band")
label(axes, "income, francs a year", "share spent on food")
save(picture, "engel")
