"""Real trainings of Opacus on digits, small enough to take a tenth of a second."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import pytest

# Without the extra there is nothing to test here.
collect_ignore_glob = [] if find_spec("opacus") else ["test_*.py"]

RECORDS, BATCH = 1500, 60

# Opacus' and torch's own, of a training as their manuals write it.
QUIET = (
    "ignore:Secure RNG turned off:UserWarning",
    "ignore:Full backward hook is firing:UserWarning",
    "ignore:Using a non-full backward hook:FutureWarning",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/opacus" in item.nodeid:
            for one in QUIET:
                item.add_marker(pytest.mark.filterwarnings(one))


@pytest.fixture(scope="session")
def digits():
    import torch
    from sklearn.datasets import load_digits
    from torch.utils.data import TensorDataset

    # Threads wait for each other longer than so small a network takes.
    torch.set_num_threads(1)
    found = load_digits()
    images = torch.as_tensor(found.data[:RECORDS], dtype=torch.float32) / 16
    return TensorDataset(images, torch.as_tensor(found.target[:RECORDS]))


def mlp():
    from torch import nn

    return nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))


@dataclass
class Run:
    """What `make_private` took and returned."""

    engine: Any
    model: Any
    optimizer: Any
    loader: Any
    given: Any
    criterion: Any

    @property
    def parts(self):
        return self.engine, self.loader, self.optimizer, self.model

    def batch(self, x, y):
        self.optimizer.zero_grad()
        self.criterion(self.model(x), y).backward()
        self.optimizer.step()

    def train(self, epochs=1, physical=None, stop=None):
        """Run epochs as Opacus' manual writes them; stop after so many physical batches."""
        taken = 0
        for _ in range(epochs):
            for x, y in self.batches(physical):
                if taken == stop:
                    return
                self.batch(x, y)
                taken += 1

    def batches(self, physical):
        if physical is None:
            yield from self.loader
            return
        from opacus.utils.batch_memory_manager import BatchMemoryManager

        with BatchMemoryManager(
            data_loader=self.loader, max_physical_batch_size=physical, optimizer=self.optimizer
        ) as loader:
            yield from loader


@pytest.fixture
def make(digits):
    """Make a training private; what is not given is what Opacus' manual has."""
    import torch
    from torch.utils.data import DataLoader

    import opacus

    def made(
        *,
        model=None,
        optimizer=None,
        engine=None,
        loader=None,
        batch_size=BATCH,
        shuffle=True,
        noise=1.0,
        clip=1.0,
        **how,
    ):
        net = model or mlp()
        given = loader or DataLoader(digits, batch_size=batch_size, shuffle=shuffle)
        engine = engine or opacus.PrivacyEngine()
        own = (optimizer or (lambda p: torch.optim.SGD(p, lr=0.1)))(net.parameters())
        made = engine.make_private(
            module=net,
            optimizer=own,
            data_loader=given,
            noise_multiplier=noise,
            max_grad_norm=clip,
            **how,
        )
        if len(made) == 4:
            wrapped, dp, criterion, drawn = made
            return Run(engine, wrapped, dp, drawn, given, criterion)
        wrapped, dp, drawn = made
        return Run(engine, wrapped, dp, drawn, given, torch.nn.CrossEntropyLoss())

    return made
