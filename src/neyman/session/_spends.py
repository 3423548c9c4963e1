"""The budget of a question, as the user writes it, and the noise that spends it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from neyman.aggregate import Aggregate
from neyman.errors import InvalidParameter
from neyman.mechanisms import NOISES, USUAL_NOISES, Mechanism, Thresholded, noise_charged
from neyman.numerics import Real, exact, text

__all__ = ["Spends", "check_share"]

_LARGEST: Final = 10**6

_EXAMPLE = "mu=0.3, epsilon=0.5, rho=0.05, share=1/8 of the ledger's budget, or noise=Gaussian(...)"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Spends:
    """A budget: exactly one of mu, epsilon, rho, share, or a mechanism as noise.

    Attributes:
        mu: in Gaussian differential privacy, with Gaussian noise.
        epsilon: in pure differential privacy, with Laplace noise.
        rho: in zero-concentrated differential privacy, with discrete Gaussian noise.
        share: as a share of the total budget of the ledger, in (0, 1], with the usual noise of its
            account.
        noise: the name of a noise, as in a spec, beside mu, epsilon or rho; or a mechanism alone.
        delta: the part of delta_aside to spend on undeclared groups.
    """

    mu: Real | None = None
    epsilon: Real | None = None
    rho: Real | None = None
    share: Real | None = None
    noise: str | Mechanism | None = None
    delta: Real | None = None

    def of(self, question: Aggregate, whole: tuple[str, Fraction] | None) -> Mechanism:
        """Return the mechanism that spends the budget.

        Args:
            question: the question to answer.
            whole: the account of the ledger and its total budget, for a share; None without one.

        Raises:
            InvalidParameter: if not exactly one budget is given, or its noise cannot be drawn.
            SensitivityMismatch: if the noise does not fit the integers of the question.
        """
        noise = self._own(question, whole)
        unknown = question.unknown is not None
        if unknown and self.delta is None and not isinstance(self.noise, Thresholded):
            raise InvalidParameter(
                "undeclared groups must have delta, the probability that a group with a single "
                "unit appears; got none. Write delta=1e-7, at most what remains of the ledger's "
                "delta_aside, or declare the groups: "
                'by={"ward": [...]}'
            )
        if self.delta is None:
            return noise
        if not unknown:
            raise InvalidParameter(
                f"delta is for undeclared groups, and this question has none; got "
                f"delta={self.delta}. Leave delta out"
            )
        return Thresholded.calibrate(question.sensitivity, noise=noise, delta=self.delta)

    def _own(self, question: Aggregate, whole: tuple[str, Fraction] | None) -> Mechanism:
        given = {"mu": self.mu, "epsilon": self.epsilon, "rho": self.rho, "share": self.share}
        spent = {name: value for name, value in given.items() if value is not None}
        if isinstance(self.noise, Mechanism):
            if spent:
                raise InvalidParameter(
                    f"noise={type(self.noise).__name__}(...) is a budget of its own; got "
                    f"{', '.join(spent)} beside it. Leave that out"
                )
            return self.noise
        if len(spent) != 1:
            found = " and ".join(spent) or "none"
            raise InvalidParameter(
                f"exactly one budget must be given; got {found}. Write one of {_EXAMPLE}"
            )
        ((key, value),) = spent.items()
        if key == "share":
            return self._shared(question, value, whole)
        name = USUAL_NOISES[key] if self.noise is None else self.noise
        if name not in NOISES or key not in NOISES[name].makes:
            fits = ", ".join(repr(noise) for noise, made in NOISES.items() if key in made.makes)
            raise InvalidParameter(
                f"noise must go with {key}; got {name!r}. Write one of {fits}, or leave it out"
            )
        return NOISES[name].makes[key](question.sensitivity, value)

    def _shared(
        self, question: Aggregate, share: Real, whole: tuple[str, Fraction] | None
    ) -> Mechanism:
        if self.noise is not None:
            raise InvalidParameter(
                f"share uses the noise of the ledger's account; got noise={self.noise!r} beside "
                "it. Write mu, epsilon or rho with that noise, or leave noise out"
            )
        if whole is None:
            raise InvalidParameter(
                "share needs a ledger, whose budget it is a part of; this session has none. Write "
                "ny.open(..., budget=ny.gdp(1), ledger=...), or mu="
            )
        account, capacity = whole
        part = check_share("share", share)
        return noise_charged(question.sensitivity, account, part * capacity)


def check_share(name: str, share: Real) -> Fraction:
    """Return a share exactly; a float that equals a short fraction, such as 1/3, is that fraction.

    Raises:
        InvalidParameter: if it is not in (0, 1].
    """
    part = exact(share, name)
    if isinstance(share, float):
        short = part.limit_denominator(_LARGEST)
        part = short if float(short) == share else part
    if not 0 < part <= 1:
        raise InvalidParameter(
            f"{name} must be in (0, 1]; got {text(part)}. Write for example {name}=1/8"
        )
    return part
