"""PrivacyGuard: one run against Gaussian claims, on guesses that the user counts.

It is on no registry under its name: write the folder of its source into PYTHONPATH. All canaries
are guessed, the upper half of the scores "in".
"""

from privacy_guard.analysis.mia.fdp_analysis_node import FDPAnalysisNode

from benchmarks._auditors import LEVEL, Scores, answers, guesses

PACKAGE, METHOD = "facebookresearch/PrivacyGuard", "all guessed"


def _one_run(scores: Scores, delta: float) -> float:
    made, right = guesses(scores)
    node = FDPAnalysisNode(m=made, c=right, c_cap=made, threshold=LEVEL, delta=delta)
    return node.run_analysis().eps


ANSWERS = answers({"one run, GDP": _one_run})
