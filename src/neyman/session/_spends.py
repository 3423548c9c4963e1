"""What a question may spend, in the words of its user, and the noise that spends it."""

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
    """Exactly one of mu, epsilon, rho, share, or a noise that is made already.

    Attributes:
        mu: in Gaussian differential privacy; Gaussian noise.
        epsilon: in pure differential privacy; Laplace noise.
        rho: in zero-concentrated differential privacy; discrete Gaussian noise.
        share: of the whole budget of the ledger, in (0, 1]; the noise that its account is for.
        noise: the name of a noise of a spec, beside mu, epsilon or rho; or a mechanism by itself.
        delta: what may be spent of delta_aside, where nobody declared the groups.
    """

    mu: Real | None = None
    epsilon: Real | None = None
    rho: Real | None = None
    share: Real | None = None
    noise: str | Mechanism | None = None
    delta: Real | None = None

    def of(self, question: Aggregate, whole: tuple[str, Fraction] | None) -> Mechanism:
        """Return the noise.

        Args:
            question: that is to be answered.
            whole: the account of the ledger, and its whole budget, of which a share is a part.

        Raises:
            InvalidParameter: if not one budget is given, or it calls for noise that cannot be
                drawn.
            SensitivityMismatch: if the noise does not go with the integers of the question.
        """
        noise = self._own(question, whole)
        unknown = question.unknown is not None
        if unknown and self.delta is None and not isinstance(self.noise, Thresholded):
            raise InvalidParameter(
                "groups that nobody declared need delta, the probability with which a group may "
                "be shown that one unit alone is in; none was given. Write delta=1e-7, at most "
                "what the ledger's delta_aside has left, or declare the groups: "
                'by={"ward": [...]}'
            )
        if self.delta is None:
            return noise
        if not unknown:
            raise InvalidParameter(
                f"delta={self.delta} was given, and is for groups that nobody declared; this "
                "question has none. Leave delta out"
            )
        return Thresholded.calibrate(question.sensitivity, noise=noise, delta=self.delta)

    def _own(self, question: Aggregate, whole: tuple[str, Fraction] | None) -> Mechanism:
        given = {"mu": self.mu, "epsilon": self.epsilon, "rho": self.rho, "share": self.share}
        said = {name: value for name, value in given.items() if value is not None}
        if isinstance(self.noise, Mechanism):
            if said:
                raise InvalidParameter(
                    f"noise={type(self.noise).__name__}(...) says what is spent; got "
                    f"{', '.join(said)} beside it. Leave that out"
                )
            return self.noise
        if len(said) != 1:
            found = " and ".join(said) or "none"
            raise InvalidParameter(
                f"one budget must be given; got {found}. Write one of {_EXAMPLE}"
            )
        ((key, value),) = said.items()
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
                f"share takes the noise that the ledger is for; got noise={self.noise!r} beside "
                "it. Write mu, epsilon or rho with that noise, or leave noise out"
            )
        if whole is None:
            raise InvalidParameter(
                "share is a part of a ledger's budget; this session has none. Write "
                "ny.open(..., budget=ny.gdp(1), ledger=...), or mu="
            )
        account, capacity = whole
        part = check_share("share", share)
        return noise_charged(question.sensitivity, account, part * capacity)


def check_share(name: str, share: Real) -> Fraction:
    """Return a share exactly; a float that a short fraction gives stands for that: 1/3 is a third.

    Raises:
        InvalidParameter: if it is not in (0, 1].
    """
    part = exact(share, name)
    if isinstance(share, float):
        short = part.limit_denominator(_LARGEST)
        part = short if float(short) == share else part
    if not 0 < part <= 1:
        raise InvalidParameter(
            f"{name} must be in (0, 1]; got {text(part)}. Write such as {name}=1/8"
        )
    return part
