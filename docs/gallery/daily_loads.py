"""Electricity in Italy, hour by hour: the mean of 1,096 daily curves, in winter and in summer."""

import numpy as np
from common import PUBLIC, data, finding, label, ledger, save

import neyman as ny
from neyman import functional
from neyman.plots._style import PALETTE, clean, figure

FOLDER = "datasets/data/ItalyPowerDemand"


def days() -> np.ndarray:
    """Return one row a day: 24 loads, standardised within the day; then 1 winter, 2 summer."""
    parts = [data("aeon", f"{FOLDER}/ItalyPowerDemand_{part}.ts") for part in ("TRAIN", "TEST")]
    lines = [line for part in parts for line in part.read_text().splitlines()]
    return np.array(
        [line.replace(":", ",").split(",") for line in lines if line[0] not in "#@"], float
    )


table, hours = days(), np.arange(24.0)
loads, season = table[:, :24], table[:, 24]  # which season a day is in is public, and how many
seasons = (
    ("October to March", 1, PALETTE[0], "o-"),
    ("April to September", 2, PALETTE[1], "s--"),
)
paid = ledger(mu=0.5, unit="one day", neighbors="replace_one")
picture = figure(6.4, 3.6)
axes = clean(picture.add_subplot())
for name, number, colour, line in seasons:
    curves = loads[season == number]
    query = functional.curve_mean(
        curves,
        hours,
        kernel=functional.SquaredExponential(3),
        nugget=0.1,
        radius=5,
        neighbors="replace_one",
        unit="one day",
        name=f"daily loads, {name}",
    )
    noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.35)
    columns = ny.release(query, noise, paid, entry=name).columns
    mean, known = np.array(columns["value"]), curves.mean(axis=0)
    error, varies = np.sqrt(np.mean((mean - known) ** 2)), curves.std(axis=0) / len(curves) ** 0.5
    print(f"{name}, {len(curves)} days: root mean square error {error:.3f}")
    print(f"  noise {np.mean(columns['stddev']):.3f}, from days to days {np.mean(varies):.3f}")
    axes.plot(hours, known, linewidth=4, label="_" * (number - 1) + "true (public data)", **PUBLIC)
    axes.fill_between(hours, columns["lower"], columns["upper"], color=colour, alpha=0.25, lw=0)
    axes.plot(hours, mean, line, color=colour, linewidth=1.2, ms=3.5, label=f"private, {name}")
axes.set(xticks=range(0, 24, 3), xlim=(0, 23))
finding(axes, "In winter the evening peak is higher and earlier")
label(axes, "hour of the day", "load, in standard deviations of the day")
save(picture, "daily_loads")
