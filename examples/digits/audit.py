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
# # Audits of a training: what a number of Opacus is worth
#
# Opacus says that this training of digits is (8, 1e-5)-DP. Whether its code keeps that, it cannot
# say. Here 1,000 canaries take part, each by a fair coin, and an attack looks for them: in the
# final weights (black box), and in each noisy sum (white box). Then faults are planted.
#
# `pip install 'neyman[opacus]' scikit-learn`; run it as a script, or open it as a notebook with
# jupytext.

# %%
"""Audits of a training of Opacus, correct and with planted faults."""

import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

import neyman as ny
import opacus
from neyman import audit
from neyman.opacus import doctor

warnings.simplefilter("ignore")  # Opacus warns of its random generator
torch.seed()
NOISE, EPOCHS, BATCHES, DELTA = 0.8929, 20, 22, 1e-5
LONG = 1e4  # far above the clipping norm

# %% [markdown]
# ## Coins, before anything is trained
#
# Whoever gets the commitment now and the seed later can check that the coins were not chosen for
# what came out.

# %%
canaries = audit.canaries(1000)
print("published before the training:", canaries.commitment)
coins = canaries.included

# %% [markdown]
# ## The training, and its canaries
#
# A canary is a record without a picture. Its gradient is one coordinate of its own, which the
# digits do not use, and so long that it is always clipped. No other record can be found more
# easily: what DP-SGD gives away of a canary is all that its guarantee allows.

# %%
pixels, digits = load_digits(return_X_y=True)
train_x, test_x, train_y, test_y = train_test_split(
    pixels / 16, digits, test_size=450, random_state=0
)


class Network(torch.nn.Module):
    """Digits, and a coordinate for each canary."""

    def __init__(self) -> None:
        super().__init__()
        self.digits = torch.nn.Linear(64, 10)
        self.wires = torch.nn.Linear(canaries.number, 1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return ten classes, and one more number for the canaries."""
        return torch.cat([self.digits(x[:, :64]), LONG * self.wires(x[:, 64:])], dim=1)


def loss(found: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """Return the loss of the digits, and what canaries pull at."""
    return torch.nn.functional.cross_entropy(found[:, :10], label) + found[:, 10].mean()


def records() -> TensorDataset:
    """Return the digits, and the canaries whose coins say so."""
    wires = np.eye(canaries.number)[coins]
    x = np.zeros((len(train_x) + len(wires), 64 + canaries.number), dtype=np.float32)
    x[: len(train_x), :64], x[len(train_x) :, 64:] = train_x, wires
    y = np.concatenate([train_y, np.zeros(len(wires), dtype=int)])
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What an attack sees of a training, and what was claimed of it.

    Attributes:
        weights: of the canaries' coordinates, in the end: the black box.
        signals: of the canaries, step by step: the white box.
        claim: by Opacus' parameters.
        accuracy: on digits that were not trained on.
        findings: of the doctor, before the first step.
    """

    weights: np.ndarray
    signals: np.ndarray
    claim: ny.TradeOff
    accuracy: float
    findings: list[str]


def train(*, noise: float = 1.0, poisson: bool = True) -> Seen:
    """Train with Opacus; `noise` is what a fault multiplies the noise by, unknown to Opacus."""
    data, network = records(), Network()
    engine = opacus.PrivacyEngine()
    model, optimizer, loader = engine.make_private(
        module=network,
        optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
        data_loader=DataLoader(data, batch_size=-(-len(data) // BATCHES), shuffle=True),
        noise_multiplier=NOISE,
        max_grad_norm=1.0,
        poisson_sampling=poisson,
    )
    findings = [one.name for one in doctor(engine, loader, optimizer, model, epochs=EPOCHS)]
    optimizer.noise_multiplier *= noise
    signals: list[np.ndarray] = []
    for _ in range(EPOCHS):
        for x, y in loader:
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
            noisy = network.wires.weight.grad[0] * optimizer.expected_batch_size
            signals.append(noisy.double().numpy().copy())
    guessed = network.digits(torch.tensor(test_x, dtype=torch.float32)).argmax(dim=1)
    return Seen(
        weights=-network.wires.weight.detach()[0].double().numpy(),
        signals=np.array(signals),
        claim=ny.dp_sgd(NOISE, 1 / BATCHES, len(signals)),
        accuracy=float(np.mean(guessed.numpy() == test_y)),
        findings=findings,
    )


# %% [markdown]
# ## Correct, and with faults
#
# Two readings of each attack's scores.
#
# * **One run**: a bound whatever the canaries have to do with each other, because their coins were
#   committed. It is far below what is lost: a thousand guesses in one training prove little.
# * **Each canary a run of its own**: far closer. It takes for granted what the code claims too:
#   that each coordinate has noise of its own. What it refutes is the claim together with that.


# %%
def line(name: str, seen: Seen) -> str:
    """Return what the attacks prove of a training."""
    white = audit.aligned_scores(
        seen.signals, noise_multiplier=NOISE, sampling_probability=1 / BATCHES
    )
    cells: list[str] = []
    for scores in (seen.weights, white):
        run = audit.one_run(scores=scores, included=canaries, delta=DELTA)
        each = audit.mu(scores[coins], scores[~coins])
        cells += [f"{found.epsilon(DELTA):6.2f}" for found in (ny.gdp(run.mu), ny.gdp(each.value))]
    verdict = audit.refute(white[coins], white[~coins], seen.claim)
    said = "refuted" if verdict.refuted else "stands"
    found = ", ".join(seen.findings) or "-"
    return f"{name:<14}{'  '.join(cells)}   {verdict.p_value:8.2g} {said}   {found}"


runs = {
    "correct": train,
    "noise x 0.8": partial(train, noise=0.8),
    "noise x 0.5": partial(train, noise=0.5),
    "shuffled": partial(train, poisson=False),
}
print("Lower bounds of epsilon at delta = 1e-5, 95 %; claimed: 8")
print(f"{'':<14}{'black box':^14}  {'white box':^14}")
print(f"{'':<14}{'run':>6}  {'each':>6}  {'run':>6}  {'each':>6}   p (white box)      doctor")
seen = {name: make() for name, make in runs.items()}
for name, one in seen.items():
    print(line(name, one))
correct = seen["correct"]
print(f"accuracy {correct.accuracy:.2f}; claimed epsilon {correct.claim.epsilon(DELTA):.3f}")

# %% [markdown]
# Half the noise is refuted at once, and 0.8 of it by the white box. Shuffled batches are not seen
# by these scores: the doctor sees them before the first step, and without sampling 20 passes are
# far from (8, 1e-5)-DP:

# %%
passes = ny.gdp(1 / NOISE) ** EPOCHS
print(f"{passes}: epsilon {passes.epsilon(DELTA):.2f}")

# %% [markdown]
# ## A step alone shows more
#
# A step's claim is small, and a step costs a millisecond. `audit.plan` says how many signals
# refute a fault in nine cases of ten.

# %%
claim = ny.gdp(1 / NOISE)
for times in (0.9, 0.8, 0.5):
    print(f"noise x {times}: {audit.plan(claim, ny.gdp(1 / NOISE / times))} signals a side")

# %% [markdown]
# The coins can be checked now:

# %%
again = audit.canaries(1000, seed=canaries.seed, commitment=canaries.commitment)
print(audit.one_run(scores=seen["noise x 0.5"].weights, included=again, delta=DELTA))
