"""How late flights arrive: the whole curve for the price of one of its points."""

import numpy as np
from common import PUBLIC, finding, flights, label, ledger, save

import neyman as ny
from neyman import functional, plots

delays = flights("arr_delay")["arr_delay"].to_numpy()  # minutes; NaN where a flight never arrived
few = np.random.default_rng(1).choice(delays, 1000)  # a survey of a thousand flights


def release(values: np.ndarray, records: int) -> functional.DensityFunction:
    """Release the density of delays; of very many, read it by the minute."""
    # Declared without looking: where delays lie, about how many there are, who is protected.
    domain = functional.Interval(-60, 180, outside="drop")
    query = functional.density(
        values,
        domain=domain,
        records=records,
        neighbors="add_remove",
        unit="one flight",
        name=f"arrival delays, about {records}",
    )
    noise = ny.Gaussian.calibrate(query.sensitivity, mu=0.5)
    paid = ledger(mu=0.5, unit="one flight", neighbors="add_remove")
    release = ny.release(query, noise, paid, entry="arrival delays")
    f = functional.function(release, functional.DensityFunction)
    # Delays are whole minutes, as everybody knows: below a minute there is nothing but their heaps.
    return f if f.unresolved is None else f.smooth(1)


known = delays[(delays >= -60) & (delays <= 180)]
minutes = np.arange(-60.5, 181)  # delays are whole minutes
truth = np.histogram(known, minutes)[0] / len(known)


def loss(shares: np.ndarray) -> np.ndarray:
    """Return the sum over all minutes of squared errors of their shares."""
    return np.sum((shares - truth) ** 2, axis=-1)


for name, values, records, shown in (
    (
        "arrival_delays",
        delays,
        300_000,
        "Of 320,000 flights the private density lies on the true one",
    ),
    ("few_delays", few, 1000, "Of 1,000 flights the band says how little the tail tells"),
):
    f = release(values, records)
    found = f.ppf([0.1, 0.5, 0.9])
    print(f"{f.count:.0f} flights (noise {f.count_sd:.1f}), mean delay {f.mean():.2f} min")
    print("a tenth, half, nine tenths arrive before", *found.round(1))
    # Beside the truth, which only public data may be.
    picture = plots.density(f)
    axes = picture.axes[0]
    axes.stairs(truth, minutes, fill=True, label="true, all flights (public data)", **PUBLIC)
    finding(axes, shown)
    label(axes, "arrival delay, minutes", "share of flights per minute")
    save(picture, name)
print("truly before", *np.quantile(known, [0.1, 0.5, 0.9]))

# Instead: a histogram at the same price, its bins the best in hindsight. Ten surveys of each.
rng = np.random.default_rng(2)
surveys = [rng.choice(delays, 1000) for _ in range(10)]
curves = [release(survey, 1000) for survey in surveys]
smooth = np.mean([loss(np.diff(p.cdf(np.clip(minutes, -60, 180)))) for p in curves])
print(f"loss of the curve {smooth:.2g}")
for bins in (16, 20, 24, 30, 40, 60, 80):
    edges = np.linspace(-60, 180, bins + 1)
    noisy = [np.histogram(s, edges)[0] + rng.normal(0, 1 / 0.5, bins) for s in surveys]
    heaps = np.cumsum(np.maximum(noisy, 0), axis=1)
    cdfs = [np.interp(minutes, edges, [0, *heap]) / heap[-1] for heap in heaps]
    print(f"loss of {bins} bins / of the curve {np.mean(loss(np.diff(cdfs))) / smooth:.2f}")
