"""Many sampled Gaussians at once against each by itself."""

import numpy as np
import pytest

from neyman.numerics import GaussianMixtureLaw, LossLaw, LossSum, Shifts
from neyman.numerics._laws._loss_law import Span, SumNodes
from neyman.numerics._laws._mixture_nodes import MixtureNodes


def _laws(seed: int, n: int, low: float, high: float) -> LossSum:
    rng = np.random.default_rng(seed)
    terms: list[tuple[LossLaw, float, bool]] = []
    for _ in range(n):
        t, w = low * (high / low) ** rng.random(), float(rng.uniform(1e-4, 0.3))
        law = GaussianMixtureLaw(Shifts((0.0,), (1.0,)), Shifts((0.0, t), (1 - w, w)))
        terms.append((law, float(rng.integers(1, 40)), bool(rng.integers(2))))
    return LossSum(tuple(terms))


def _apart(law: LossSum, span: Span) -> SumNodes:
    """Prepare each law by itself."""
    back = Span(1 - span.high, 1 - span.low, span.height)
    return SumNodes(
        tuple((one.prepared(back if turned else span), n, turned) for one, n, turned in law.terms)
    )


CASES = [(1, 40, 0.3, 0.9), (2, 12, 1.0, 1.4), (3, 60, 0.01, 4.0), (4, 9, 3.0, 4.0)]
SPANS = [Span(1.5, 9.0, 4.0), Span(0.2, 3.0, 12.0), Span(-4.0, 0.5, 3.0), Span(2.0, 2.0, 1.0)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("span", SPANS)
def test_the_same_as_each_by_itself(case: tuple[int, int, float, float], span: Span) -> None:
    law = _laws(*case)
    one, stacked = _apart(law, span), law.prepared(span)
    sizes = [
        nodes.stack.counts.size for nodes, _, _ in stacked.terms if type(nodes) is MixtureNodes
    ]
    assert max(sizes) > 1
    c = np.linspace(span.low, span.high, 5)
    for at in (c, c[1:2]):
        first, second = one.real(at), stacked.real(at)
        assert np.all(np.abs(first.value - second.value) <= first.error + second.error)
        np.testing.assert_allclose(first.slope, second.slope, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(first.curvature, second.curvature, rtol=1e-7, atol=1e-9)
    u = np.linspace(0.0, span.height, 57)
    first_line, error = one.line(float(c[2]), u)
    line, other = stacked.line(float(c[2]), u)
    assert np.all(np.abs(np.exp(first_line - line) - 1) <= np.expm1(error + other))
    assert np.all(other <= 20 * error + 1e-12)
    known = (error < 1e-7) & (u > 0)
    at = stacked.at(c[2] + 1j * u[known])
    np.testing.assert_allclose(at, first_line[known], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("span", SPANS[:3])
def test_bounds_of_the_rest_of_the_line(case: tuple[int, int, float, float], span: Span) -> None:
    law = _laws(*case)
    one, stacked = _apart(law, span), law.prepared(span)
    c, u = (span.low + span.high) / 2, np.asarray([0.05, 0.3, 1.0, 3.0]) * span.height
    decay = stacked.decay(c, u, 1.0)
    # The two try shifts of their own.
    assert np.all(decay <= 0.7 * one.decay(c, u, 1.0) + 1e-9)
    heights = np.linspace(0.0, span.height, 201)
    value, error = one.line(c, heights)
    for height, bound in zip(u.tolist(), decay.tolist(), strict=True):
        beyond = heights >= height
        assert np.all((value.real - error)[beyond] - value[0].real <= bound + 1e-9)
    size = np.exp((value - error).real - value[0].real)
    for height, bound in zip(u.tolist(), stacked.decay_integral(c, u, 1.0).tolist(), strict=True):
        beyond = heights >= max(height, heights[1])
        rest = np.trapezoid(size[beyond] / heights[beyond], heights[beyond])
        assert rest <= np.exp(bound) * 1.02


def test_few_are_prepared_by_themselves() -> None:
    law = LossSum(_laws(5, 3, 0.5, 0.6).terms)
    assert len(law.prepared(SPANS[0]).terms) == 3
