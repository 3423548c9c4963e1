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
# # A training, to its model card
#
# You train a classifier of digits so that nobody can tell whether one image was among the training
# data. You learn how to plan the noise, how to charge the training to the same budget as your
# tables, and how to write down what the model guarantees.
#
# The data are public: 1,797 images of handwritten digits from scikit-learn. The loop is NumPy, so
# that every step is in sight. With Opacus or JAX you write the same around your own step.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import neyman as ny
from neyman import report
from neyman.training import Phase, RunRecord, doctor

plt.style.use("neyman.plots.paper")
images, labels = load_digits(return_X_y=True)
train, test, train_label, test_label = train_test_split(
    images / 16, labels, test_size=397, random_state=0
)
picture, panels = plt.subplots(1, 10, figsize=(8, 1))
for axes, image, label in zip(panels, train, train_label, strict=False):
    axes.imshow(image.reshape(8, 8), cmap="gray_r")
    axes.set_title(label, loc="center")
    axes.axis("off")
plt.show()

# %% [markdown]
# ## Plan
#
# You know the number of records, the size of a batch, the clipping norm and what you want to
# guarantee. The plan finds the noise.

# %%
plan = ny.plan_training(records=1400, batch=140, steps=150, clip=1, epsilon=3, delta=1e-5)
print(plan)

# %% [markdown]
# What would other guarantees cost? A smaller epsilon needs more noise, and the noise grows fast.

# %%
plans = {
    epsilon: ny.plan_training(
        records=1400, batch=140, steps=150, clip=1, epsilon=epsilon, delta=1e-5
    )
    for epsilon in (0.5, 1, 3, 8)
}
pd.DataFrame(
    {
        "epsilon at delta = 1e-5": epsilon,
        "noise multiplier": round(plan.noise_multiplier, 2),
        "attacker's advantage": f"at most {100 * plan.guarantee.advantage():.0f} %",
    }
    for epsilon, plan in plans.items()
)

# %% [markdown]
# ## Reserve the budget
#
# One ledger holds what was promised about these images, for trainings and for tables alike. The
# steps are priced as a whole before the first of them, and then taken.

# %%
ledger = ny.Ledger.open(
    "digits.ledger", cap=ny.approx_dp(8, 1e-4), unit="one image", neighbors="add_remove"
)
plan = plans[3]
allowance = ledger.allow(**plan.entry("digits", source="digits", unit=ledger.unit))
ledger

# %% [markdown]
# ## Train
#
# The sampler draws the batches. Each step clips the gradient of each image, adds them up, and adds
# noise to the sum.


# %%
def trained(plan, seed):
    """Return the weights and the share of test images that they name rightly, along the way."""
    weights, shares = np.zeros((64, 10)), []
    noise = np.random.default_rng(seed)
    sampler = plan.sampler()
    for batch in sampler:
        x, y = train[batch], np.eye(10)[train_label[batch]]
        scores = x @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        errors = odds / odds.sum(axis=1, keepdims=True) - y
        norms = np.linalg.norm(x, axis=1) * np.linalg.norm(errors, axis=1)
        shrink = np.minimum(1, plan.clip / np.maximum(norms, 1e-12))
        total = x.T @ (errors * shrink[:, None])
        total += noise.normal(0, plan.noise_on_sum, total.shape)
        weights -= 6 * total / sampler.normalizer
        shares.append(np.mean((test @ weights).argmax(axis=1) == test_label))
    return weights, shares


with allowance.take("first run", steps=plan.steps) as block:
    weights, shares = trained(plan, seed=None)
    block.commit("sha256 of the weights")
f"{100 * shares[-1]:.0f} % of the test images are named rightly"

# %% [markdown]
# The picture repeats the training with less and with more privacy. You can do that here because the
# images are public: with private ones each repetition is a release of its own.

# %%
picture, axes = plt.subplots()
for epsilon, one in plans.items():
    axes.plot(trained(one, seed=0)[1], label=f"epsilon = {epsilon}")
axes.set(xlabel="steps", ylabel="share of test images named rightly", ylim=(0, 1))
axes.legend(loc="lower right")
axes.set_title("Epsilon = 3 costs little accuracy here, and epsilon = 0.5 costs a third")
plt.show()

# %% [markdown]
# ## Keep the record
#
# A run record says what the training did: sampler, noise, clipping, steps. Whoever has the file can
# compute the guarantee again.

# %%
run = RunRecord(
    phases=(
        Phase.of(
            plan.sampler(), noise_multiplier=plan.noise_multiplier, steps=plan.steps, clip=plan.clip
        ),
    ),
    unit="one image",
    neighbors="add_remove",
    dataset="digits",
)
run.save(Path("model.run.json"))
ny.plots.epsilon_over_steps(run, delta=1e-5)

# %% [markdown]
# ## Look for mistakes
#
# The doctor compares what a record states with what its phases have. Suppose that the record claims
# epsilon = 2, and that four other trainings on the same images chose this one:

# %%
claims = RunRecord(
    phases=run.phases,
    unit="one image",
    neighbors="add_remove",
    tuning_runs=4,
    claimed=ny.approx_dp(2, 1e-5),
)
pd.set_option("display.max_colwidth", None)
pd.DataFrame(
    {"finding": found.name, "what holds instead": found.holds}
    for found in doctor(claims, delta=1e-5)
)

# %% [markdown]
# ## The model card
#
# This is the paragraph for the card. `neyman account model.run.json --delta 1e-5 --markdown` writes
# the same from a shell.

# %%
Markdown(report.model_card(report.Statement.of(run, delta=1e-5)))

# %% [markdown]
# Next: [an audit](audit.py) tests whether a mechanism keeps what it claims.
