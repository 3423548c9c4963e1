"""Faults in the set-up of a training, and the guarantee that holds in spite of each."""

# scipy's stubs are partial.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.accounting import dp_sgd
from neyman.curves import TradeOff, gdp, group
from neyman.numerics import at_most, exact, text
from neyman.training._finding import Finding
from neyman.training._pricing import known_batches

__all__ = ["Plan"]

_NOTHING = "Nothing is proved for this training."
_ACCUMULATE = (
    "Call model.forbid_grad_accumulation(), and use a larger batch size with a BatchMemoryManager."
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The training that is claimed: Poisson sampling, clipped sums, Gaussian noise.

    Each method judges one observation of the real training.

    Attributes:
        noise_multiplier: noise multiplier of the optimizer; positive.
        rate: sampling rate of each record, as the accountant counts it.
        steps: number of planned steps.
        passes: number of passes over the data.
        delta: delta at which epsilon is stated.
    """

    noise_multiplier: float
    rate: float
    steps: int
    passes: int
    delta: float

    @property
    def curve(self) -> TradeOff:
        """The guarantee of the plan."""
        return self.sampled(self.noise_multiplier, self.rate, self.steps)

    def sampled(self, noise: float, rate: float, steps: int) -> TradeOff:
        """Return the guarantee of steps with another noise multiplier and another rate."""
        return dp_sgd(noise, min(rate, 1.0), steps)

    def words(self, curve: TradeOff) -> str:
        """Describe a guarantee in numbers."""
        delta = text(exact(self.delta, "delta")).replace("e-0", "e-")
        return f"({at_most(curve.epsilon(self.delta), 6)}, {delta})-DP"

    @property
    def _claimed(self) -> str:
        return f"the accountant's number for the plan is {self.words(self.curve)}"

    def no_noise(self) -> Finding:
        """Judge an optimizer with noise multiplier 0."""
        return Finding(
            "no_noise",
            "The optimizer's noise multiplier is 0: the sums of the gradients are released as "
            "they are.",
            "Nothing holds.",
            "Call make_private(noise_multiplier=...) with a positive number.",
        )

    def unaccounted(self) -> Finding:
        """Judge an optimizer whose steps are not counted by any accountant."""
        return Finding(
            "unaccounted_steps",
            "The optimizer's step hook is missing or reports to another accountant: the engine's "
            "epsilon does not grow with the steps.",
            f"For the plan, if it is kept: {self.words(self.curve)}.",
            "Call optimizer.attach_step_hook(engine.accountant.get_optimizer_hook_fn("
            "sample_rate=1 / len(loader))), or make_private anew; let attach add a second hook.",
            self.curve,
        )

    def not_sampled(self, order: str) -> Finding:
        """Judge batches that come from passes over the data: "fixed" or "shuffled"."""
        held = gdp(1 / exact(self.noise_multiplier, "noise_multiplier")) ** self.passes
        said = {"fixed": "come in a fixed order", "shuffled": "are a shuffled pass"}[order]
        return Finding(
            f"{order}_batches",
            f"The batches {said} over the data, and the accounting assumes that each record enters "
            f"each step on its own: {self._claimed}.",
            f"{self.words(held)}, without amplification by sampling, if each record is used once "
            f"in each of {self.passes} passes and its absence moves no other record.",
            "Call make_private(..., poisson_sampling=True), and train on the loader that it "
            "returns.",
            held,
        )

    def unknown_sampler(self, name: str) -> Finding:
        """Judge batches from a sampler that is not known."""
        return Finding(
            "unknown_sampler",
            f"The batches are chosen by {name}, and the accounting assumes Poisson sampling: "
            f"{self._claimed}.",
            f"{_NOTHING} A sampler with replacement or with weights can put one record into a "
            "batch several times.",
            "Call make_private(..., poisson_sampling=True), and train on the loader that it "
            "returns; put weights into the loss.",
        )

    def other_rate(self, drawn: float) -> Finding:
        """Judge a sampler whose rate is not the rate of the accountant."""
        held = self.sampled(self.noise_multiplier, drawn, self.steps)
        return Finding(
            "accounted_rate",
            f"The sampler draws each record with probability {drawn:.6g}, and the optimizer's "
            f"hook accounts for {self.rate:.6g}: {self._claimed}.",
            f"{self.words(held)}, at the rate of the sampler.",
            "Train on the loader that make_private returned with this optimizer.",
            held,
        )

    def replaced_sampler(self, name: str) -> Finding:
        """Judge a sampler of the user's that Poisson sampling replaced."""
        return Finding(
            "replaced_sampler",
            f"The loader that you gave chose its records by {name}. Opacus replaced it: every "
            f"record is drawn with the same probability {self.rate:.6g}.",
            f"{self.words(self.curve)}, for what is drawn; not the training that you wrote.",
            "Put weights into the loss, or give a loader without a sampler of your own.",
            self.curve,
        )

    def dropped_last(self, batch: int, records: int) -> Finding:
        """Judge drop_last, which Poisson sampling ignores."""
        return Finding(
            "ignored_drop_last",
            f"drop_last was asked for and has no effect: all {records} records can be drawn, at "
            f"the rate {self.rate:.6g} in place of {batch}/{records} = {batch / records:.6g}.",
            f"{self.words(self.curve)}, at the rate that is drawn.",
            "Leave drop_last out, and choose a batch size that divides the number of records.",
            self.curve,
        )

    def asked_rate(self, batch: int, records: int) -> Finding:
        """Judge a rate of 1 / (number of batches) where the user wanted batch / records."""
        asked = self.sampled(self.noise_multiplier, batch / records, self.steps)
        return Finding(
            "asked_rate",
            f"A batch of {batch} of {records} records was asked for, a rate of "
            f"{batch / records:.6g}; Opacus draws at 1 / len(loader) = {self.rate:.6g}, "
            f"{self.rate * records:.6g} records a step. The asked rate would be "
            f"{self.words(asked)}.",
            f"{self.words(self.curve)}, at the rate that is drawn.",
            "Choose a batch size that divides the number of records, or give make_private a "
            "DPDataLoader with the sample_rate that you mean.",
            self.curve,
        )

    def normalizer(self, divisor: float, parameters: int) -> Finding:
        """Judge a divisor of the summed gradients that depends on the number of records."""
        told = _scale_advantage(divisor, max(parameters, 1) * max(self.steps, 1))
        return Finding(
            "normalizer_from_data",
            f"The summed gradients and their noise are divided by {divisor:g} = int(records x "
            "rate). Under add_remove the number of records is private, and a neighbour's divisor "
            f"can be {divisor + 1:g}.",
            f"Nothing. Where it is, the scale of the noise in {parameters} parameters and "
            f"{self.steps} steps alone tells the two apart with an advantage of {told:.3g} (1 is "
            "certainty).",
            "Set optimizer.expected_batch_size to a public number and pass it as normalizer=, or "
            "claim for a public number of records (neighbors='zero_out').",
        )

    def relation(self) -> Finding:
        """Judge a claim for one replaced record."""
        held = dp_sgd(self.noise_multiplier, self.rate, self.steps, neighbors="replace_one")
        return Finding(
            "relation",
            "Opacus' accountants count a record whose gradient is in the sum or not; you claim "
            f"for a record that is replaced: {self._claimed}.",
            f"{self.words(held)} for one record replaced.",
            "Report from_opacus(engine, neighbors='replace_one').",
            held,
        )

    def left_batch(self, batches: int, steps: int) -> Finding:
        """Judge a loop that stopped in the middle of a logical batch."""
        return self._merged(
            "left_batch",
            "A loop over a BatchMemoryManager was left in the middle of a logical batch: what it "
            "had summed, and its signals to the optimizer, go into later steps.",
            batches,
            steps,
            "Leave such loops only when a step was taken. To go on from here, make a new optimizer "
            "with make_private.",
        )

    def accumulating(self) -> Finding:
        """Judge a model that lets gradients accumulate, before any accumulate."""
        return self._merged(
            "accumulated_batches",
            "The model allows gradients of several batches to accumulate before a step.",
            2,
            self.steps,
            _ACCUMULATE,
        )

    def accumulated(self, batches: int) -> Finding:
        """Judge a step with the accumulated gradients of several batches."""
        seen = f"Gradients of {batches} batches accumulated before one step."
        return self._merged("accumulated_batches", seen, batches, self.steps, _ACCUMULATE)

    def several_batches(self, batches: int) -> Finding:
        """Judge a step with several drawn batches."""
        return self._merged(
            "several_batches",
            f"{batches} batches were drawn for one step: they are added up, or some were left out "
            "for what was in them.",
            batches,
            self.steps,
            "Take one step for each batch that the loader gives, also for an empty one.",
        )

    def no_batch(self) -> Finding:
        """Judge a step without a drawn batch."""
        return Finding(
            "no_batch",
            "A step was taken for which the watched loader drew no batch: the batch is of another "
            "loader, or was used before.",
            f"{_NOTHING} The accountant counts a fresh Poisson sample: {self._claimed}.",
            "Train on the loader that attach was given, with one step for each batch.",
        )

    def _merged(self, name: str, why: str, batches: int, steps: int, write: str) -> Finding:
        """Judge steps that add up several batches, where one record can be in each batch."""
        n, k = min(steps, self.steps), batches
        # One record in k samples is as k records in one.
        together = group(self.sampled(self.noise_multiplier, self.rate, n), k)
        held = together @ self.sampled(self.noise_multiplier, self.rate, self.steps - n)
        return Finding(
            name,
            f"{why} One record can add {k} times the clipping norm to a step, and the accountant "
            f"counts one batch: {self._claimed}.",
            f"{self.words(held)}, if {'one step adds' if n == 1 else f'{n} steps add'} up {k} "
            "batches.",
            write,
            held,
        )

    def weaker_noise(self, clipped: float, noised: float, where: str) -> Finding:
        """Judge noise for a smaller norm than the clipping norm."""
        held = self.sampled(self.noise_multiplier * noised / clipped, self.rate, self.steps)
        return Finding(
            "clipping_norm",
            f"{where} clips a record's gradient to the norm {clipped:.6g}, and the optimizer's "
            f"noise is for {noised:.6g}: the noise multiplier is "
            f"{self.noise_multiplier * noised / clipped:.6g} and not {self.noise_multiplier:.6g}.",
            f"{self.words(held)}; {self._claimed}.",
            "Change both norms together, or neither: no scheduler of the clipping norm with "
            "clipping per layer or ghost clipping.",
            held,
        )

    def batch_statistics(self, layer: str) -> Finding:
        """Judge a layer that mixes the records of a batch."""
        return Finding(
            "batch_norm",
            f"{layer} uses or keeps statistics of the whole batch: one record changes the "
            "gradients of all others, and statistics are kept without noise.",
            _NOTHING,
            "Use GroupNorm or LayerNorm, as ModuleValidator.fix does, or put the layer into eval "
            "mode with statistics from public data.",
        )

    def same_seed(self, ranks: tuple[int, ...]) -> Finding:
        """Judge ranks that draw from the same random stream."""
        noise = exact(self.noise_multiplier, "noise_multiplier")
        held = known_batches(noise, exact(self.rate, "rate"), self.steps)
        return Finding(
            "same_seed_on_ranks",
            f"The samplers of ranks {', '.join(map(str, ranks))} are in the same state: the same "
            "positions of each rank's share enter together, so whoever knows one record's batches "
            "knows another's.",
            f"{self.words(held)}, if the batches of a record are known; {self._claimed}.",
            "Seed each rank on its own: torch.manual_seed(seed + rank), or no seed.",
            held,
        )

    def same_stream(self) -> Finding:
        """Judge noise and samples from two generators with the same state."""
        return Finding(
            "same_stream",
            "The generator of the noise and that of the sampler are in the same state: the noise "
            "is computed from the bits that choose the batches.",
            f"{_NOTHING} Noise and samples must be independent.",
            "Seed them apart, or give neither.",
        )

    def replayed(self) -> Finding:
        """Judge a resumed run whose generators start in a state that an earlier run used."""
        return Finding(
            "replayed_seed",
            "The random generators are seeded as when this training began, and do not continue "
            "from where it stopped: batches and noise come a second time.",
            "Nothing. The difference of two equal noises shows the gradients.",
            "Restore the generators' state right before attach, or seed anew: torch.seed().",
        )

    def float_noise(self) -> Finding:
        """Judge floating-point noise from a predictable generator."""
        return Finding(
            "float_noise",
            "secure_mode is off: the noise is made of floating-point numbers by a generator that "
            "is not cryptographic. The last digits of a sum can show what it was made of, and who "
            "knows the seed knows the noise.",
            f"{self.words(self.curve)}, for ideal noise; for this noise it is a model.",
            "Make the PrivacyEngine(secure_mode=True), which needs torchcsprng, or say so beside "
            "the number. Never publish a seed.",
            self.curve,
        )

    def estimate(self, reported: float) -> Finding:
        """Judge an accountant that gives an estimate; `reported` is nan if the accountant fails."""
        return Finding(
            "central_limit",
            f"The accountant 'gdp' estimates epsilon={reported:.6g} for the plan, by a central "
            "limit theorem, which is no bound.",
            f"{self.words(self.curve)}.",
            "Make the PrivacyEngine(accountant='neyman') after import neyman.opacus.",
            self.curve,
        )


def _scale_advantage(divisor: float, draws: int) -> float:
    """Return the advantage of the best test between noise over `divisor` and over `divisor` + 1."""
    # It takes 0.3 s to load, for one of the faults.
    from scipy.special import chdtr

    ratio = Fraction(exact(divisor, "divisor") + 1) / exact(divisor, "divisor")
    square = float(ratio**2)
    at = draws * math.log(square) / (square - 1)
    return float(chdtr(draws, at * square) - chdtr(draws, at))
