"""The guarantee of an Opacus run, from its engine, its history or its checkpoint."""

# Opacus has no stubs.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from collections.abc import Mapping
from functools import singledispatch
from inspect import getclosurevars, isfunction
from typing import Any, NamedTuple, cast

from opacus.accountants import IAccountant
from opacus.optimizers import DPOptimizer

from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.opacus._accountant import curve_of
from neyman.sensitivity import Neighbors, check_neighbors
from opacus import PrivacyEngine

__all__ = ["Accounted", "accounted", "check_optimizer", "from_opacus"]


class Accounted(NamedTuple):
    """The accountant of an optimizer's steps, and its sampling rate."""

    accountant: IAccountant
    rate: float


def check_optimizer(optimizer: object) -> None:
    """Refuse an optimizer that `make_private` did not return.

    Raises:
        InvalidParameter: with the type of the optimizer.
    """
    if not isinstance(optimizer, DPOptimizer):
        raise InvalidParameter(
            "optimizer must be the one that make_private returned; got an object of type "
            f"{type(optimizer).__name__}. Write doctor(engine, loader, optimizer, model), or "
            "attach(optimizer, loader, model)"
        )


def accounted(hook: object) -> Accounted | None:
    """Return the accountant of a step hook; None if the hook is of another kind, or missing."""
    if not isfunction(hook):
        return getattr(hook, "accounted", None)
    names = getclosurevars(hook).nonlocals
    accountant, rate = names.get("self"), names.get("sample_rate")
    if not isinstance(accountant, IAccountant) or not isinstance(rate, float | int):
        return None
    return Accounted(accountant, float(rate))


@plain_calls
def from_opacus(run: object, *, neighbors: Neighbors = "add_remove") -> TradeOff:
    """Return the guarantee of an Opacus run, also of an old one.

    Args:
        run: a `PrivacyEngine`, an optimizer that it made, an accountant of any kind, its
            `state_dict()`, or the dict of a checkpoint.
        neighbors: "add_remove", for one record whose gradient is in the sums or not, or
            "replace_one".

    Guarantee: it holds if the batches were drawn by Poisson sampling at the recorded rates. A
        history does not record how batches were drawn; `doctor` checks it.

    Raises:
        InvalidParameter: if the run has no history.

    >>> old = {"history": [(1.0, 1 / 24, 72)], "mechanism": "prv"}
    >>> f"{from_opacus(old).epsilon(1e-5):.6f}"
    '2.571753'
    """
    return curve_of(_history(run), check_neighbors(neighbors))


@singledispatch
def _history(run: object) -> Any:
    raise InvalidParameter(
        f"run must have a history of steps; a {type(run).__name__} has none. Write the "
        "PrivacyEngine, its optimizer, its accountant, the accountant's state_dict(), or the dict "
        "of a checkpoint"
    )


@_history.register
def _(run: IAccountant) -> Any:
    return cast("Any", run).history


@_history.register
def _(run: PrivacyEngine) -> Any:
    return _history(run.accountant)


@_history.register
def _(run: DPOptimizer) -> Any:
    known = accounted(run.step_hook)
    if known is None:
        raise InvalidParameter(
            "the optimizer's step hook is no accountant's, so its steps were not recorded there; "
            "write the PrivacyEngine, or the dict of a checkpoint"
        )
    return _history(known.accountant)


@_history.register(Mapping)
def _(run: Mapping[str, Any]) -> Any:
    for name in ("privacy_accountant_state_dict", "history"):
        if name in run:
            return run[name] if name == "history" else _history(run[name])
    raise InvalidParameter(
        "run must have a history of steps; this dict has neither 'history' nor "
        "'privacy_accountant_state_dict'. Write accountant.state_dict(), or what "
        "PrivacyEngine.save_checkpoint saved"
    )
