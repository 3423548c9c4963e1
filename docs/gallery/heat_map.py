"""A heat map of hour and delay, beside the truth and the best histogram at the same price."""

import numpy as np
from common import flights, ledger, save

import neyman as ny
from neyman import functional
from neyman.plots._style import INK, clean, figure

table = flights("dep_time", "arr_delay").dropna()
clock = table["dep_time"].to_numpy()
known = np.column_stack([(clock // 100 + clock % 100 / 60) % 24, table["arr_delay"]])
known = known[(known[:, 1] >= -60) & (known[:, 1] <= 120)]
few = np.random.default_rng(1).choice(known, 10_000, replace=False)  # a survey of 10,000 flights

domain = functional.Box(functional.Circle(24), functional.Interval(-60, 120, outside="drop"))
CELLS = np.linspace(0, 24, 289), np.linspace(-60, 120, 91)  # of 5 and of 2 minutes
MU = 0.5


def release(values: np.ndarray) -> np.ndarray:
    """Release a density of hour and delay; return the mass of every cell."""
    query = functional.density(
        values,
        domain=domain,
        bandwidth=(0.05, 4),  # three minutes of the day, four of delay
        neighbors="add_remove",
        unit="one flight",
        name=f"hours and delays of {len(values)}",
    )
    noise = ny.Gaussian.calibrate(query.sensitivity, mu=MU)
    paid = ledger(mu=MU, unit="one flight", neighbors="add_remove")
    release = ny.release(query, noise, paid, entry="hours and delays")
    f = functional.function(release, functional.DensityFunction)
    print(f"{f.count:.0f} flights")
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in CELLS]
    masses = f(np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1))
    return masses / masses.sum()


def counts(values: np.ndarray) -> np.ndarray:
    """Return how many values are in every cell."""
    return np.histogram2d(*values.T, CELLS)[0]


def best_histogram(fine: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the least loss over many sizes of bins at the same price, and such a histogram."""
    rng, found = np.random.default_rng(2), []
    for wide in (1, 2, 3, 4, 6, 9, 12, 18, 24):
        for high in (1, 2, 3, 5, 6, 9, 10, 15):
            shape = (288 // wide, wide, 90 // high, high)
            bins = fine.reshape(shape).sum(axis=(1, 3))
            noisy = np.maximum(bins + rng.normal(0, 1 / MU, bins.shape), 0)
            cells = np.repeat(np.repeat(noisy, wide, axis=0), high, axis=1)
            found.append((loss(cells / cells.sum()), 5 * wide, 2 * high, cells / cells.sum()))
    least = min(found, key=lambda one: one[0])
    print(f"best histogram: bins of {least[1]} min of the day by {least[2]} min of delay")
    return least[0], least[3]


truth = counts(known) / len(known)


def loss(masses: np.ndarray) -> float:
    """Return the sum over all cells of squared errors of their masses."""
    return float(np.sum((masses - truth) ** 2))


for name, values in (("all", known), ("few", few)):
    smooth = release(values)
    least, blocks = best_histogram(counts(values))
    print(f"loss of the density / of the best histogram, {name}: {loss(smooth) / least:.2f}")

picture = figure(8.4, 3.6)
panels = picture.subplots(1, 3, sharey=True)
names = (
    "true, all flights (public data)",
    "private density of 10,000",
    "private histogram of 10,000",
)
for axes, masses, title in zip(panels, (truth, smooth, blocks), names, strict=True):
    shown = clean(axes).imshow(
        np.sqrt(masses).T,
        origin="lower",
        extent=(0, 24, -60, 120),
        aspect="auto",
        cmap="Blues",
        vmax=float(np.sqrt(np.quantile(truth, 0.999))),
        interpolation="nearest",
    )
    axes.set_title(title, fontsize=10, color=INK)
    axes.set(xlim=(4, 24), xticks=range(6, 25, 3), ylim=(-60, 120))
    axes.set_xlabel("hour of departure", color=INK)
scale = picture.colorbar(shown, ax=panels, shrink=0.8, pad=0.01)
scale.set_label("share of flights in a cell", color=INK)
ticks = [1e-4, 3e-4, 5e-4]
scale.set_ticks(np.sqrt(ticks), labels=[f"{100 * share:.2f} %" for share in ticks])
scale.outline.set_visible(False)
panels[0].set_ylabel("arrival delay, minutes", color=INK)
save(picture, "heat_map")
