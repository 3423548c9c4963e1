"""Departures around the clock: a circle has no ends. And where a histogram is better."""

from textwrap import fill

import numpy as np
import pandas as pd
from common import PUBLIC, finding, flights, label, ledger, save

import neyman as ny
from neyman import functional, plots
from neyman.plots._style import ACCENT, QUIET, figure

table = flights("dep_time", "sched_dep_time")
domain = functional.Circle(24)
paid = ledger(mu=0.5, unit="one flight", neighbors="add_remove")


def hours(clock: pd.Series) -> np.ndarray:
    """Return 5.25 for 515, in [0, 24); NaN where a flight never left."""
    return np.mod((clock // 100 + clock % 100 / 60).to_numpy(), 24)


def release(values: np.ndarray, name: str) -> functional.DensityFunction:
    """Release a density on the circle for half of the budget's mu squared."""
    query = functional.density(
        values,
        domain=domain,
        # Clocks show whole minutes: nothing below two is asked for.
        bandwidth=1 / 30,
        target=functional.Scales(),
        neighbors="add_remove",
        unit="one flight",
        name=name,
    )
    noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.35)
    f = functional.function(ny.release(query, noise, paid, entry=name), functional.DensityFunction)
    night = f.integral(22, 28)
    print(f"{name}: {f.count:.0f} flights, {100 * night:.2f} % of them from 22 to 4 o'clock")
    return f


def true(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a histogram of five minutes a bar, the first around midnight."""
    known = values[np.isfinite(values)]
    return np.histogram(
        np.mod(known + 1 / 24, 24) - 1 / 24, np.arange(-0.5, 288) / 12, density=True
    )


actual, scheduled = hours(table["dep_time"]), hours(table["sched_dep_time"])
left, planned = release(actual, "actual departure"), release(scheduled, "scheduled departure")
print(f"truly {100 * np.nanmean((actual >= 22) | (actual < 4)):.2f} % at night")

picture = figure(5.4, 5.4)
clock = picture.add_subplot(projection="polar", theta_offset=np.pi / 2, theta_direction=-1)
bars, edges = true(actual)
turn = 2 * np.pi / 24
clock.bar(turn * edges[:-1], bars, turn / 11.9, align="edge", label="true (public data)", **PUBLIC)
(hour,), share = left.grid(1440)
clock.plot(turn * hour, share, color=ACCENT, linewidth=1.4, label="private density")
clock.set_xticks(turn * np.arange(0, 24, 3), [f"{h} h" for h in range(0, 24, 3)])
clock.set(rorigin=-0.05, yticks=[0, 0.05, 0.1], ylim=(0, 0.145))
clock.set_yticklabels(["", "5 %", "10 %"])
clock.grid(alpha=0.4)
clock.spines[:].set_color(QUIET)
finding(clock, "Departures by the time of day, share of flights per hour\n\n")
clock.legend(frameon=False, loc="upper left", bbox_to_anchor=(-0.12, 1.1))
save(picture, "hours")

picture = plots.density(planned)
axes = picture.axes[0]
picture.set_size_inches(6.4, 3.2)
note = axes.texts[0]  # beside the legend, above the peaks
note.set(position=(0.02, 0.86), text=fill(note.get_text().replace("\n", " "), 30))
bars, edges = true(scheduled)
axes.stairs(bars, edges, fill=True, label="true, 5 minutes a bar (public data)", **PUBLIC)
axes.set(xlim=(6, 10), xticks=range(6, 11), ylim=(-0.01, 0.9))
finding(axes, "A schedule is on round times, and has no density")
label(axes, "scheduled hour of departure", "share of flights per hour")
save(picture, "scheduled_hours")
