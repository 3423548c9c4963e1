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
# # A committee that must decide
#
# A hospital wants to publish statistics of its patients. A committee has to say how much privacy is
# enough, and its members do not know what epsilon is. You learn how to compare proposals, how to
# say what each means in plain words, and how to hand over a page.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import neyman as ny

plt.style.use("neyman.plots.paper")
proposals = {
    "A: mu = 0.5": ny.gdp(0.5),
    "B: epsilon = 1, pure": ny.pure_dp(1),
    "C: mu = 1": ny.gdp(1),
    "D: epsilon = 3, delta = 1e-6": ny.approx_dp(3, 1e-6),
}

# %% [markdown]
# ## One question that everybody understands
#
# Somebody suspects that a patient was in the study. Of 1,000 such suspicions, 500 are true. Whoever
# tosses a coin is right about 500 of them. How many can the best attacker get right after the
# release?

# %%


def right(f, prior):
    """Return the most suspicions of 1,000 that the best attacker gets right on average."""
    alpha = np.linspace(0, 1, 20_001)
    return 1000 * np.max(prior * (1 - f.beta(alpha)) + (1 - prior) * (1 - alpha))


pd.DataFrame(
    {
        "proposal": name,
        "right, of 1,000 (coin: 500)": round(right(f, 0.5)),
        "caught at 1 % false alarms": f"at most {100 * f.tpr(0.01):.1f} %",
        "epsilon at delta = 1e-6": round(f.epsilon(1e-6), 2),
    }
    for name, f in proposals.items()
)

# %% [markdown]
# One number of 1,000 is easy to remember. The curve says more. It shows, for each rate of false
# alarms, how many of the people in the data the best attacker misses. Higher is more private.

# %%
ny.plots.tradeoff(proposals)

# %% [markdown]
# ## Curves can cross
#
# B and C are not ordered: at some rates of false alarms B is more private, at others C is. A
# committee that compares one number, such as epsilon, does not see that.

# %%
names = list(proposals)
pd.DataFrame(
    {
        row: {
            column: "same"
            if row == column
            else "more private"
            if ny.curves.compare(proposals[row], proposals[column]).at_least
            else "less private"
            if ny.curves.compare(proposals[row], proposals[column]).at_most
            else "they cross"
            for column in names
        }
        for row in names
    }
).T

# %% [markdown]
# ## It depends on what the attacker knows already
#
# Most suspicions are wrong to begin with. If only one in a hundred is true, an attacker who calls
# all of them false is right 990 times of 1,000, and a release adds little to that. The picture
# shows by how much a confirmed suspicion is more often true than before.

# %%
prior = np.linspace(0.001, 0.5, 200)
picture, axes = plt.subplots()
for name, f in proposals.items():
    # Bayes' rule, where the attacker accuses 1 % of those who are not in the data.
    found = prior * f.tpr(0.01) / (prior * f.tpr(0.01) + (1 - prior) * 0.01)
    axes.plot(100 * prior, 100 * found, label=name)
axes.plot([0, 50], [0, 50], color="#9aa1ad", linestyle="--", label="without the release")
axes.set(
    xlabel="true among all suspicions, %",
    ylabel="true among those confirmed, %",
    ylim=(0, 100),
    xlim=(0, 50),
)
axes.legend(loc="lower right")
axes.set_title("A confirmed suspicion is worth more than before, and most under D")
plt.show()

# %% [markdown]
# ## In plain words
#
# The committee leans to A. Here is what A means, for the minutes. Every number is a proved bound,
# rounded in favour of the attacker. The same text exists in Korean and Chinese.

# %%
guarantee = ny.released.Guarantee(
    curve=ny.gdp(0.5),
    neighbors="add_remove",
    unit="all visits of one patient",
    assumptions=("A patient has one identifier.",),
)
ny.report.explain(guarantee, language="en", priors=[0.5, 0.01])

# %% [markdown]
# ## What the hospital gets for it
#
# Privacy is one side. The other is how exact the numbers will be. A preview answers that without
# reading a row: here for visits by ward, of patients with at most five visits each.

# %%
draw = np.random.default_rng(0)
visits = pd.DataFrame(
    {
        "patient": np.repeat(np.arange(2000), 3),
        "ward": draw.choice(["children", "surgery", "heart"], 6000, p=[0.5, 0.3, 0.2]),
        "days": draw.gamma(2, 2, 6000).round(),
    }
)
db = ny.open(
    visits,
    name="visits",
    unit="patient",
    max_rows=5,
    bounds={"days": (0, 30)},
    mu=0.5,
    ledger="visits.ledger",
)
wards = {"ward": ["children", "surgery", "heart"]}
pd.DataFrame(
    {
        "all of the budget has": f"mu = {mu}",
        "visits by ward": f"± {db.count(by=wards).preview(mu=mu).numbers[0].half_width:.0f}",
    }
    for mu in (0.1, 0.25, 0.5, 1, 2)
)

# %% [markdown]
# ## Decide, release, hand over
#
# The committee takes A. Two questions share its budget, and the page goes to everybody.

# %%
plan = db.plan({"visits": db.count(by=wards), "days": db.mean("days", by=wards)})
answers = plan.release()
answers["days"]

# %%
page = db.report("visits.html", title="Visits by ward")
total = db.ledger.total()
print(f"{page.name}, {page.stat().st_size / 1000:.0f} kB; all together {total}")
print(f"right about at most {right(total, 0.5):.0f} of 1,000 suspicions (coin: 500)")

# %% [markdown]
# Next: [reading the papers](papers.py) shows where these numbers come from.
