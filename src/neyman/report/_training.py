"""The guarantee of a training, with its assumptions in the reader's language."""

from neyman.numerics import text
from neyman.printable import shortened
from neyman.released import Guarantee
from neyman.report._language import Language, Numeral, Quoted
from neyman.training import Phase, RunRecord

__all__ = ["run_guarantee"]

_MOST_PHASES = 20
_LONGEST = 300


def run_guarantee(run: RunRecord, words: Language) -> Guarantee:
    """Return the guarantee of a training, with its assumptions in a language.

    If the true loss may be less than the proved one, the guarantee is the proved bound.

    Raises:
        InvalidParameter: if nothing is proved about a sampler.
    """
    return Guarantee(
        curve=run.curve.dominating(),
        neighbors=run.neighbors,
        unit=run.unit,
        assumptions=(*_assumptions(run, words), *run.assumptions),
    )


def _assumptions(run: RunRecord, words: Language) -> list[str]:
    sentences = [_phase(phase, words) for phase in run.phases[:_MOST_PHASES]]
    left = len(run.phases) - _MOST_PHASES
    if left > 0:
        sentences.append(words.say("training_more", {"count": Numeral(str(left))}))
    chances = [phase.sampling_probability for phase in run.phases]
    known = zip(run.phases, chances, strict=True)
    if any(phase.steps and chance is not None and 0 < chance < 1 for phase, chance in known):
        sentences.append(words.say("training_sampled", {}))
    if None in chances:
        sentences.append(words.say("training_chosen", {}))
    sentences.append(words.say("training_gradient", {}))
    if run.tuning_runs:
        sentences.append(words.say("training_tuned", {"count": Numeral(str(run.tuning_runs))}))
    else:
        sentences.append(words.say("training_public", {}))
    return [*sentences, words.say("training_ideal", {})]


def _phase(phase: Phase, words: Language) -> str:
    noise, steps = Numeral(text(phase.noise_multiplier)), Numeral(str(phase.steps))
    chance = phase.sampling_probability
    if chance is not None:
        values = {"noise": noise, "probability": Numeral(text(chance)), "steps": steps}
        return words.say("training_phase", values)
    sampler = Quoted(shortened(phase.sampled_by, _LONGEST))
    return words.say("training_phase_of", {"noise": noise, "sampler": sampler, "steps": steps})
