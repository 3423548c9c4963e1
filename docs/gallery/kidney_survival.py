"""Survival after a kidney transplant: 863 patients, the curve of Kaplan and Meier made private."""

import numpy as np
import pandas as pd
from common import data, finding, label, ledger, save

import neyman as ny
from neyman import functional, plots

table = pd.read_csv(data("lifelines", "datasets/kidney_transplant.csv"))
years, died = table["time"].to_numpy() / 365.25, table["death"].to_numpy()


def kaplan_meier(t: np.ndarray) -> np.ndarray:
    """Return the curve without privacy, to be drawn beside: these data are public."""
    moments, at = np.unique(years, return_inverse=True)
    events, leaving = np.bincount(at, died), np.bincount(at)
    at_risk = len(years) - np.append(0, np.cumsum(leaving)[:-1])
    steps = np.append(1.0, np.cumprod(1 - events / at_risk))
    return steps[np.searchsorted(moments, t, side="right")]


query = functional.survival(
    years,
    died,
    horizon=10,
    bandwidth=0.2,
    neighbors="add_remove",
    unit="one patient",
    name="kidney transplants",
)
noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.5)
paid = ledger(mu=0.5, unit="one patient", neighbors="add_remove")
curve = functional.function(ny.release(query, noise, paid, entry="survival"))

until = curve.until
error = np.max(np.abs(curve(np.linspace(0, until, 400)) - kaplan_meier(np.linspace(0, until, 400))))
print(f"shown until year {until:.2f}, where {float(curve.at_risk(until)):.0f} are at risk")
print("alive after 1, 3, 5 years", curve([1, 3, 5]).round(3))
print("truly", kaplan_meier(np.array([1, 3, 5])).round(3), f"greatest error anywhere {error:.3f}")
print(f"a tenth have died by year {curve.quantile(0.1):.2f}")
print("95 % for that year:", *np.round(curve.quantile_interval(0.1, 0.95, "total"), 2))

picture = plots.survival(
    curve, generator=np.random.default_rng(1), repetitions=100, truth=kaplan_meier
)
axes = picture.axes[0]
axes.set_ylim(0, 1)
finding(axes, "Three patients in four live nine years; noise hardly moves that")
label(axes, "years after the transplant", "share alive")
save(picture, "kidney_survival")
