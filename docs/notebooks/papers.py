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
# # Reading the papers
#
# Seven papers founded what this library does. You learn what each of them defines, with one picture
# of each definition and the call that computes it, and where a formula that everybody quotes goes
# wrong.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny
from neyman import accounting, functional

plt.style.use("neyman.plots.paper")
alpha = np.concatenate([[0], np.geomspace(1e-4, 0.02, 40), np.linspace(0.021, 1, 160)])


def square(axes, title):
    """Prepare the square in which trade-off functions live."""
    axes.plot([0, 1], [1, 0], color="#9aa1ad", linestyle="--", linewidth=1)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", title=title)
    axes.set(xlabel="type I error", ylabel="type II error")
    return axes


# %% [markdown]
# ## Wasserman and Zhou (2010): privacy is a hypothesis test
#
# Whoever wants to know whether a person is in the data must run a test. If a mechanism is (epsilon,
# delta)-DP, no test of size alpha has a power above e^epsilon alpha + delta. The line through the
# size is that bound, and the curve is the best test against Laplace noise.

# %%
epsilon = 1
size = np.linspace(0, 0.3, 100)
picture, axes = plt.subplots(figsize=(6.4, 3.6))
axes.plot(size, np.minimum(np.exp(epsilon) * size, 1), label="bound of the paper, e^ε α")
axes.plot(size, ny.laplace(epsilon).tpr(size), label="best test against Laplace noise")
axes.plot(size, ny.gdp(epsilon).tpr(size), label="best test against Gaussian noise, mu = 1")
axes.plot(size, size, color="#9aa1ad", linestyle="--", label="guessing")
axes.set(xlabel="size of the test", ylabel="power")
axes.legend()
axes.set_title("Laplace noise meets the bound at small sizes, Gaussian noise breaks it")
plt.show()

# %% [markdown]
# ## Dong, Roth and Su (2022): the whole curve
#
# Why keep one number, if all tests together are a curve? The trade-off function gives for each type
# I error the least type II error. On the left are the curves of Gaussian DP, as in the paper's
# figures. On the right, many small releases of pure DP tend to a Gaussian curve: the central limit
# theorem of the paper.

# %%
picture, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.2))
square(left, "Gaussian DP")
for mu in (0.5, 1, 2, 3):
    left.plot(alpha, ny.gdp(mu).beta(alpha), label=f"mu = {mu}")
left.legend()
square(right, "n releases at epsilon = 1/√n")
for n in (1, 4, 100):
    right.plot(alpha, (ny.pure_dp(1 / np.sqrt(n)) ** n).beta(alpha), label=f"n = {n}")
right.plot(alpha, ny.gdp(1).beta(alpha), color="black", linestyle=":", label="limit, mu = 1")
right.legend()
plt.show()

# %% [markdown]
# A curve cannot be replaced by a pair. Each of the pairs (epsilon, delta) below holds for the same
# mechanism, and all of them together are the curve. The tangents below show that.

# %%
f = ny.gdp(1)
pairs = pd.DataFrame({"epsilon": [0, 0.5, 1, 2, 3, 4]})
pairs["delta"] = [f"{f.delta(epsilon):.2e}" for epsilon in pairs["epsilon"]]
pairs["advantage at most"] = [
    f"{ny.approx_dp(e, float(d)).advantage():.3f}"
    for e, d in zip(pairs["epsilon"], pairs["delta"], strict=True)
]
pairs

# %%
picture, axes = plt.subplots(figsize=(4.6, 4.6))
square(axes, "Each pair is two tangents of the curve")
for epsilon in np.arange(0, 3.1, 0.5):
    delta = f.delta(float(epsilon))
    for line in (1 - delta - np.exp(epsilon) * alpha, (1 - delta - alpha) * np.exp(-epsilon)):
        axes.plot(alpha, line, color="#3c96cc", linewidth=0.7)
axes.plot(alpha, f.beta(alpha), color="black")
plt.show()

# %% [markdown]
# ## Dwork and Roth (2014), and a formula that fails
#
# The noise that most texts quote for (epsilon, delta)-DP is √(2 ln(1.25/δ)) / ε times the
# sensitivity. It was proved for epsilon below 1. The picture shows which delta that noise has in
# truth.

# %%
claimed, epsilons = 1e-5, np.linspace(0.25, 12, 60)
sigma = np.sqrt(2 * np.log(1.25 / claimed)) / epsilons
true = [ny.gdp(float(1 / s)).delta(float(e)) for s, e in zip(sigma, epsilons, strict=True)]
picture, axes = plt.subplots(figsize=(6, 3.2))
axes.semilogy(epsilons, true)
axes.axhline(claimed, color="black", linewidth=1)
axes.text(0.3, claimed * 1.3, "claimed")
axes.set(xlabel="epsilon", ylabel="delta in truth")
axes.set_title("The classic noise is too large at first, and too small from epsilon = 8.4 on")
plt.show()

# %% [markdown]
# `ny.calibrate` finds the least noise at any epsilon, and the library refuses the formula where it
# fails:

# %%
try:
    accounting.classic_gaussian_sigma(10, 1e-5, 1)
except ny.errors.InvalidParameter as refused:
    print(refused)

# %% [markdown]
# ## Mironov (2017), Bun and Steinke (2016): moments of the loss
#
# Rényi divergences bound the moments of the privacy loss, one for each order. zCDP asks that all of
# them lie below a line. Moments add up under composition, which makes them easy to use.

# %%
order = np.geomspace(1.05, 64, 60)
curves = {
    "Gaussian noise, mu = 1": ny.gdp(1),
    "Laplace noise, epsilon = 1": ny.laplace(1),
    "randomised response, epsilon = 1": ny.pure_dp(1),
}
picture, axes = plt.subplots()
for name, f in curves.items():
    (line,) = axes.loglog(order, f.renyi(order), label=name)
    axes.loglog(order, float(f.zcdp()) * order, ":", color=line.get_color())
axes.plot([], [], ":", color="black", label="the same, as zCDP: rho times the order")
axes.set(xlabel="order", ylabel="Rényi divergence")
axes.legend()
axes.set_title("zCDP is a line above the curve of divergences")
plt.show()

# %% [markdown]
# Moments are not the whole law of the loss, so a conversion back to epsilon loses something. All
# rows are about one mechanism, Gaussian noise at mu = 1 and delta = 1e-5.

# %%
f, delta = ny.gdp(1), 1e-5
exact = f.epsilon(delta)
conversions = {
    "Mironov (2017)": accounting.rdp_epsilon(f, delta, by=accounting.MIRONOV),
    "Bun and Steinke (2016), of rho": accounting.bun_steinke_epsilon(0.5, delta),
    "Asoodeh and others (2020)": accounting.rdp_epsilon(f, delta, by=accounting.ASOODEH),
    "Canonne, Kamath and Steinke (2020)": accounting.rdp_epsilon(
        f, delta, by=accounting.CANONNE_KAMATH_STEINKE
    ),
    "the best that one order can give": accounting.rdp_epsilon(f, delta, by=accounting.OPTIMAL),
    "exact": exact,
}
pd.DataFrame(
    {
        "conversion": name,
        "epsilon": f"{epsilon:.3f}",
        "too large by": f"{100 * (epsilon / exact - 1):.0f} %",
    }
    for name, epsilon in conversions.items()
)

# %% [markdown]
# ## Abadi and others (2016): the moments accountant
#
# The paper trained networks with noise and sampled batches, and counted the cost by moments. Its
# second figure shows epsilon as the epochs go by, with sampling rate 0.01, noise 4 and delta 1e-5.
# Here it is again, with the exact cost. Strong composition is higher than in the paper, which takes
# the epsilon of a sampled step as q times that of the step: that is an approximation, and the line
# here is a bound.

# %%
rate, noise, delta = 0.01, 4, 1e-5
epochs = np.array([1, 25, 50, 100, 200, 300, 400])
counts = (epochs / rate).astype(int)
step = ny.dp_sgd(noise_multiplier=noise, sampling_probability=rate, steps=1)
moments = [accounting.moments_epsilon([(step, int(n))], delta) for n in counts]
best = [(step ** int(n)).epsilon(delta) for n in counts]


def strong_composition(n):
    """Return epsilon by strong composition of steps whose own delta is a part of the whole."""
    each = delta / (2 * n)
    one = np.log1p(rate * np.expm1(ny.gdp(1 / noise).epsilon(each / rate)))
    return one * np.sqrt(2 * n * np.log(2 / delta)) + n * one * np.expm1(one)


strong = [strong_composition(int(n)) for n in counts]
picture, axes = plt.subplots()
for name, values in {
    "strong composition": strong,
    "moments accountant": moments,
    "exact": best,
}.items():
    axes.semilogy(epochs, values, "o-", markersize=3, label=f"{name}: {values[-1]:.2f}")
axes.set_yticks([0.1, 0.3, 1, 3, 10, 30], ["0.1", "0.3", "1", "3", "10", "30"])
axes.minorticks_off()
axes.set(xlabel="epochs", ylabel="epsilon at delta = 1e-5")
axes.legend()
axes.set_title("Moments made private training possible, and exact accounting takes a fifth off")
plt.show()

# %% [markdown]
# ## Hall, Rinaldo and Wasserman (2013): functions
#
# A function has infinitely many values, and one noise hides them all: a path of a Gaussian process
# whose covariance is the kernel. What counts is the norm of the change in the kernel's space. On
# the left are three such paths, on the right a kernel density of 200 made-up values with that
# noise.

# %%
draw = np.random.default_rng(2)
values = np.concatenate([draw.normal(-2, 0.6, 120), draw.normal(1.5, 0.9, 80)])
points = np.linspace(-5, 5, 201)
bandwidth = 0.3
query = functional.density_at(
    values,
    points,
    domain=functional.Interval(-5, 5, outside="clip"),
    bandwidth=bandwidth,
    neighbors="replace_one",
    unit="one value",
    name="made-up values",
)
ledger = ny.Ledger.open("papers.ledger", cap=ny.gdp(1), unit="one value", neighbors="replace_one")
release = ny.release(
    query, ny.Gaussian.calibrate(query.sensitivity, mu=0.5), ledger, entry="density"
)
released = functional.function(release)
plain = np.exp(-((points[:, None] - values) ** 2) / (2 * bandwidth**2)).mean(axis=1)
plain /= np.sqrt(2 * np.pi) * bandwidth

picture, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
for _ in range(3):
    kernel = functional.SquaredExponential(bandwidth)
    path = functional.simulate_grid(kernel, step=0.05, shape=(201,), generator=draw)
    left.plot(points, path, linewidth=1)
left.set_title("Three paths of the noise")
right.plot(points, plain, color="black", label="without privacy")
right.plot(points, released(points), label="released, mu = 0.5")
right.legend()
right.set_title("One path is added, and the whole curve is private")
plt.show()

# %% [markdown]
# The price does not grow with the number of points. Here is the noise on each value, for ever more
# points of the same curve at mu = 0.4.

# %%
rows = []
for count in (5, 21, 81, 321):
    asked = functional.density_at(
        values,
        np.linspace(-5, 5, count),
        domain=functional.Interval(-5, 5, outside="clip"),
        bandwidth=bandwidth,
        neighbors="replace_one",
        unit="one value",
        name="made-up values",
    )
    noise = ny.Gaussian.calibrate(asked.sensitivity, mu=0.4)
    answer = ny.release(asked, noise, ledger, entry=f"at {count} points")
    rows.append({"points": count, "noise on a value": functional.function(answer).noise_sd(0.0)})
pd.DataFrame(rows).round(4)

# %% [markdown]
# The [checklist](../checklist.md) goes on: every definition and theorem of these papers, with the
# call that computes it. The [theory](../theory.md) has the proofs.
