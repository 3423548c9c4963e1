"""Draws the figures of the docs; `make docs` runs it. The same code gives the same bytes."""

import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

import neyman as ny
from neyman import accounting, audit, plots
from neyman.numerics import ndtri
from neyman.plots._style import INK, PALETTE, QUIET, clean, figure

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREEN, PURPLE, SKY = PALETTE
ALPHA = np.concatenate([[0.0], np.geomspace(1e-5, 0.02, 80), np.linspace(0.021, 1.0, 220)])
WEAK, GREY = 0.22, "#6b7280"
# Lines may be lighter than words, which have a contrast of 4.5 to white at least.
WORDS = {ORANGE: "#a84700", GREEN: "#00785a", PURPLE: "#9c4a7d", SKY: "#2176ad", QUIET: GREY}
PAPER = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}


def errors(axes: Axes) -> Axes:
    """Prepare the square in which trade-off functions live, with guessing as its diagonal."""
    clean(axes).plot([0, 1], [1, 0], color=QUIET, linewidth=1, linestyle="--")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    return axes_of(axes, "type I error α", "type II error β")


def axes_of(axes: Axes, x: str, y: str) -> Axes:
    """Name the axes."""
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    return axes


def say(axes: Axes, x: float, y: float, text: str, colour: str = INK, **how: object) -> None:
    """Write next to what is meant."""
    how = {"fontsize": 9, "color": colour, **how}
    axes.text(x, y, text, **how | {"color": WORDS.get(how["color"], how["color"])})


def point_to(
    axes: Axes, at: tuple[float, float], words: tuple[float, float], text: str, colour: str = INK
) -> None:
    """Write away from what is meant, with a line to it."""
    axes.annotate(
        text, at, words, color=WORDS.get(colour, colour), fontsize=9, bbox=PAPER,
        arrowprops={"arrowstyle": "-", "color": GREY, "shrinkA": 0, "shrinkB": 2, "lw": 0.9},
    )  # fmt: skip


def density(x: np.ndarray, mean: float = 0.0, spread: float = 1.0) -> np.ndarray:
    """Return the density of a normal law."""
    return np.exp(-(((x - mean) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))


def both_errors() -> Figure:
    """Two laws, a threshold, the two errors; and the same test as a point of the curve."""
    mu, f = 1.5, ny.gdp(1.5)
    test = ny.curves.likelihood_ratio_test(f.remove, size=0.1)
    cut = test.threshold / mu + mu / 2
    picture = figure(8.2, 3.4)
    left, right = picture.subplots(1, 2, width_ratios=(1.35, 1))
    x = np.linspace(-3.4, 5, 500)
    for mean, colour in ((0.0, BLUE), (mu, ORANGE)):
        clean(left).plot(x, density(x, mean), color=colour, linewidth=1.8)
    left.fill_between(x, density(x), where=x >= cut, color=BLUE, alpha=0.45, linewidth=0)
    left.fill_between(x, density(x, mu), where=x <= cut, color=ORANGE, alpha=WEAK, linewidth=0)
    left.axvline(cut, color=INK, linewidth=1)
    say(left, -1.15, 0.345, "P: absent", BLUE, ha="right")
    say(left, 2.65, 0.345, "Q: present", ORANGE)
    say(left, cut + 0.06, 0.425, "reject P →")
    point_to(left, (1.75, 0.06), (2.9, 0.13), f"α = {test.size:.2f}, accused", BLUE)
    point_to(left, (0.75, 0.12), (-3.6, 0.2), f"β = {test.beta:.2f}, missed", ORANGE)
    left.set(ylim=(0, 0.46), yticks=[])
    axes_of(left, "what is published", "density")
    errors(right).plot(ALPHA, f.beta(ALPHA), color=GREEN, linewidth=1.8)
    right.fill_between(ALPHA, f.beta(ALPHA), color=QUIET, alpha=WEAK, linewidth=0)
    right.plot([test.size], [test.beta], "o", color=INK, markersize=5)
    point_to(right, (test.size, test.beta), (0.16, 0.6), "the test on the left")
    say(right, 0.03, 0.04, "no test gets here")
    say(right, 0.73, 0.3, "guessing", rotation=-45, ha="center", va="center", color=GREY)
    return picture


def tradeoff() -> Figure:
    """Trade-off functions of four laws."""
    axes = errors((picture := figure(4.7, 4.5)).add_subplot())
    curves = ny.approx_dp(1, 0.1), ny.pure_dp(1), ny.laplace(1), ny.gdp(1)
    for curve, colour in zip(curves, (PURPLE, ORANGE, GREEN, BLUE), strict=True):
        axes.plot(ALPHA, curve.beta(ALPHA), color=colour, linewidth=1.8)
    guess = {"rotation": -45, "ha": "center", "va": "center"}
    say(axes, 0.63, 0.41, "Id: perfect privacy", GREY, **guess)
    point_to(axes, (0.08, float(curves[3].beta(0.08))), (0.3, 0.92), "gdp(1)", BLUE)
    point_to(axes, (0.17, float(curves[2].beta(0.17))), (0.36, 0.84), "laplace(1)", GREEN)
    point_to(axes, (0.235, float(curves[1].beta(0.235))), (0.07, 0.16), "pure_dp(1)", ORANGE)
    point_to(axes, (0.4, float(curves[0].beta(0.4))), (0.1, 0.06), "approx_dp(1, 0.1)", PURPLE)
    return picture


def implies() -> Figure:
    """A mechanism that has the claim, and one that has not although it is above it somewhere."""
    axes = errors((picture := figure(4.7, 4.5)).add_subplot())
    claim, good, bad = ny.gdp(1), ny.laplace(0.7), ny.pure_dp(1.5)
    floor, under = claim.beta(ALPHA), bad.beta(ALPHA)
    axes.plot(ALPHA, floor, color=INK, linewidth=2.4)
    axes.plot(ALPHA, good.beta(ALPHA), color=BLUE, linewidth=1.8)
    axes.plot(ALPHA, under, color=ORANGE, linewidth=1.8)
    axes.fill_between(ALPHA, floor, under, where=under < floor, color=ORANGE, alpha=0.35, lw=0)
    point_to(axes, (0.2, float(claim.beta(0.2))), (0.42, 0.85), "the claim f")
    point_to(axes, (0.4, float(good.beta(0.4))), (0.55, 0.7), "above f everywhere:\nf-DP", BLUE)
    point_to(axes, (0.2, 0.3), (0.03, 0.08), "below f here:\nnot f-DP", ORANGE)
    point_to(axes, (0.008, float(bad.beta(0.008))), (0.14, 0.93), "above f here", ORANGE)
    return picture


def symmetrised() -> Figure:
    """The larger and the smaller of a curve and its inverse."""
    one_way = ny.poisson(ny.gdp(2.5), 0.4).remove
    f = ny.TradeOff(one_way, one_way)
    picture = figure(8.2, 4.1)
    both = (
        (f.symmetrize(), "max(f, f⁻¹)", BLUE),
        (ny.curves.symmetric_hull(f), "hull of min(f, f⁻¹)", ORANGE),
    )
    for axes, (curve, name, colour) in zip(picture.subplots(1, 2), both, strict=True):
        errors(axes).plot(ALPHA, curve.beta(ALPHA), color=colour, linewidth=5, alpha=0.35)
        axes.plot(ALPHA, one_way.beta(ALPHA), color=INK, linewidth=1.4)
        axes.plot(ALPHA, one_way.swap().beta(ALPHA), color=INK, linewidth=1.4, linestyle=":")
        point_to(axes, (0.65, float(one_way.beta(0.65))), (0.75, 0.42), "f")
        point_to(axes, (0.65, float(one_way.swap().beta(0.65))), (0.42, 0.07), "f⁻¹")
        axes.set_title(name, color=WORDS.get(colour, colour), fontsize=10)
    return picture


def approximate() -> Figure:
    """(epsilon, delta)-DP as a trade-off function, with its corners and slopes."""
    epsilon, delta = 1, 0.1
    axes = errors((picture := figure(4.7, 4.5)).add_subplot())
    f = ny.approx_dp(epsilon, delta)
    middle = (1 - delta) / (1 + math.e)
    corners = np.asarray([0.0, middle, 1 - delta, 1.0])
    axes.plot(corners, f.beta(corners), color=BLUE, linewidth=2)
    axes.plot([0, 0.45], [0, 0.45], color=QUIET, linewidth=0.8, linestyle=":")
    axes.plot([0, middle, 0.9], [0.9, middle, 0], "o", color=BLUE, markersize=4, clip_on=False)
    point_to(axes, (0, 0.9), (0.16, 0.93), "(0, 1 − δ)")
    point_to(axes, (0.9, 0), (0.75, 0.14), "(1 − δ, 0)")
    point_to(axes, (middle, middle), (0.36, 0.4), "(c, c), $c = (1-δ)/(1+e^{ε})$")
    say(axes, 0.15, 0.66, "slope $-e^{ε}$", BLUE, rotation=-69.8, va="center", ha="center")
    say(axes, 0.53, 0.185, "slope $-e^{-ε}$", BLUE, rotation=-20, va="center", ha="center")
    axes.set_title("ε = 1, δ = 0.1", fontsize=10, color=INK)
    return picture


def duality() -> Figure:
    """G_1 as the envelope of the lines that its profile knows, one for each real epsilon."""
    axes = errors((picture := figure(4.7, 4.5)).add_subplot())
    f = ny.gdp(1)
    for i, epsilon in enumerate(np.arange(-12, 13) / 4):
        line = 1 - f.delta(epsilon) - np.exp(epsilon) * ALPHA
        colour = BLUE if epsilon >= 0 else ORANGE
        axes.plot(ALPHA, line, color=colour, linewidth=0.7, alpha=0.45 + 0.2 * (i % 4 == 0))
    axes.plot(ALPHA, f.beta(ALPHA), color=INK, linewidth=2)
    say(axes, 0.22, 0.06, "ε > 0: steep", BLUE, ha="center", bbox=PAPER)
    say(axes, 0.03, 0.21, "ε < 0: flat", ORANGE, bbox=PAPER)
    point_to(axes, (0.2, float(f.beta(0.2))), (0.4, 0.82), "their envelope, G₁")
    return picture


def gaussian() -> Figure:
    """G_mu for several mu."""
    axes = errors((picture := figure(4.7, 4.5)).add_subplot())
    for mu, colour in zip((0.25, 0.5, 1, 2, 3), (SKY, BLUE, GREEN, PURPLE, ORANGE), strict=True):
        f = ny.gdp(mu)
        axes.plot(ALPHA, f.beta(ALPHA), color=colour, linewidth=1.8)
        fixed = (1 - float(f.advantage())) / 2
        say(axes, fixed, fixed, f"μ = {mu:g}", colour, ha="center", va="center", bbox=PAPER)
    guess = {"rotation": -45, "ha": "center", "va": "center"}
    say(axes, 0.68, 0.36, "μ = 0: guessing", GREY, **guess)
    return picture


def classic() -> Figure:
    """What delta the quoted noise really has, over the delta that was claimed."""
    axes = clean((picture := figure(6.0, 3.5)).add_subplot())
    epsilon, claimed = np.linspace(0.25, 14, 160), 1e-5
    formulas = ("√(2 ln(1.25/δ)) / ε", 1.25, BLUE), ("√(2 ln(2/δ)) / ε", 2.0, ORANGE)
    for name, constant, colour in formulas:
        noise = math.sqrt(2 * math.log(constant / claimed)) / epsilon
        pairs = zip(noise, epsilon, strict=True)
        logs = [float(ny.gdp(1 / float(s)).log_delta(float(e))) for s, e in pairs]
        ratio = np.asarray(logs) / math.log(10) - math.log10(claimed)
        axes.plot(epsilon, ratio, color=colour, linewidth=1.8)
        crossing = float(np.interp(0, ratio, epsilon))
        axes.plot([crossing], [0], "o", color=colour, markersize=5)
        words = f"σ = {name}\nfails from ε = {crossing:.2f}"
        at, side = ((-0.2, 0.45), "right") if constant < 2 else ((0.1, -0.9), "left")
        say(axes, crossing + at[0], at[1], words, colour, ha=side)
    axes.axhline(0, color=INK, linewidth=1)
    say(axes, 0.3, 0.12, "the claim, δ = 10⁻⁵")
    axes.set(xlim=(0, 14), ylim=(-3.2, 2.2))
    axes.set_yticks(range(-3, 3), [f"10{p}" for p in ("⁻³", "⁻²", "⁻¹", "⁰", "¹", "²")])
    axes_of(axes, "ε claimed", "true δ / claimed δ")
    return picture


def groups() -> Figure:
    """Pure epsilon = mu/k for one record, as a group of k sees it, tends to Laplace noise."""
    picture = figure(8.2, 4.0)
    left, right = picture.subplots(1, 2)
    errors(left)
    mu, limit = 2, ny.laplace(2).beta(ALPHA)
    rows = (1, ORANGE, 0.15), (2, PURPLE, 0.115), (4, GREEN, 0.08), (8, SKY, 0.045)
    for k, colour, height in rows:
        curve = ny.curves.chain(*[ny.pure_dp(mu / k)] * k).beta(ALPHA)
        left.plot(ALPHA, curve, color=colour, linewidth=1.4)
        gap = limit - curve
        clean(right).plot(ALPHA, gap, color=colour, linewidth=1.8)
        at = int(np.argmax(gap))
        words = f"k = {k}: at most {gap.max():.4f}"
        point_to(right, (float(ALPHA[at]), float(gap[at])), (0.27, height), words)
    left.plot(ALPHA, limit, color=BLUE, linewidth=2.2)
    point_to(left, (0.04, float(ny.laplace(mu).beta(0.04))), (0.15, 0.85), "Laplace noise", BLUE)
    point_to(left, (0.119, 0.119), (0.3, 0.42), "k = 1: ε = 2", ORANGE)
    point_to(left, (0.1, 0.268), (0.24, 0.6), "k = 2: ε = 1 for each", PURPLE)
    right.set(xlim=(0, 0.6), ylim=(0, None))
    axes_of(right, "type I error α", "Laplace − group of k")
    return picture


def composition() -> Figure:
    """Pure DP composed n times at epsilon = 1/sqrt(n), its Gaussian limit, the proved band."""
    picture = figure(8.2, 4.1)
    left, right = picture.subplots(1, 2)
    gauss = ny.gdp(1).beta(ALPHA)
    errors(left).plot(ALPHA, gauss, color=INK, linewidth=4, alpha=0.25)
    for n, colour in ((1, ORANGE), (4, GREEN), (100, BLUE)):
        curve = ny.pure_dp(1 / math.isqrt(n)) ** n
        left.plot(ALPHA, curve.beta(ALPHA), color=colour, linewidth=1.6)
    point_to(left, (0.2689, 0.2689), (0.08, 0.1), "n = 1", ORANGE)
    point_to(left, (0.122, float((ny.pure_dp(0.5) ** 4).beta(0.122))), (0.3, 0.74), "n = 4", GREEN)
    point_to(left, (0.05, float(ny.gdp(1).beta(0.05))), (0.2, 0.88), "n = 100, on top of G₁", BLUE)
    left.set_title("f of ε = 1/√n, composed n times", fontsize=10, color=INK)
    exact = ny.pure_dp(0.1) ** 100
    band = accounting.central_limit_band([(ny.pure_dp(0.1), 100)])
    low, high = band.beta(ALPHA)
    errors(right).fill_between(ALPHA, low, high, color=ORANGE, alpha=WEAK, linewidth=0)
    right.plot(ALPHA, exact.beta(ALPHA), color=BLUE, linewidth=1.8)
    point_to(right, (0.3, float(exact.beta(0.3))), (0.42, 0.7), "n = 100, exact", BLUE)
    point_to(right, (0.55, 0.17), (0.62, 0.42), "Berry–Esseen band", ORANGE)
    right.set_title(f"γ = {band.gamma:.3f}", fontsize=10, color=INK)
    return picture


def privacy_loss() -> Figure:
    """The law of the loss; its tail beyond epsilon, and how much of that tail is delta."""
    axes = clean((picture := figure(6.6, 3.7)).add_subplot())
    x, mu, epsilon = np.linspace(-3.6, 4.4, 900), 1.0, 1.0
    loss = ny.curves.privacy_loss(ny.gdp(1).remove)
    under_q, under_p = density(x, mu**2 / 2, mu), density(x, -(mu**2) / 2, mu)
    axes.plot(x, under_p, color=QUIET, linewidth=1.4)
    axes.plot(x, under_q, color=BLUE, linewidth=1.8)
    counted = under_q * -np.expm1(np.minimum(epsilon - x, 0.0))
    axes.fill_between(x, under_q, where=x >= epsilon, color=BLUE, alpha=WEAK, linewidth=0)
    axes.fill_between(x, counted, where=x >= epsilon, color=ORANGE, alpha=0.75, linewidth=0)
    axes.axvline(epsilon, color=INK, linewidth=1)
    say(axes, epsilon + 0.06, 0.415, "ε = 1")
    say(axes, 0.5, 0.41, "L under Q", BLUE, ha="center")
    say(axes, -0.5, 0.41, "L under P", GREY, ha="center")
    tail, delta = float(loss.probabilistic_delta(epsilon)), float(ny.gdp(1).delta(epsilon))
    point_to(axes, (1.25, 0.24), (1.9, 0.3), f"Q(L > ε) = {tail:.3f}, all that is shaded", BLUE)
    point_to(
        axes, (1.9, 0.06), (2.3, 0.17), f"δ(ε) = {delta:.3f}, weighed by $1-e^{{ε-L}}$", ORANGE
    )
    axes.set(ylim=(0, 0.45), yticks=[], xlim=(-3.6, 4.9))
    axes_of(axes, "privacy loss L", "density")
    return picture


def renyi() -> Figure:
    """Rényi divergences of guarantees, all of them curves over the order."""
    axes = clean((picture := figure(6.4, 4.0)).add_subplot())
    order = np.geomspace(1.02, 64, 80)
    curves = (
        (ny.gdp(1), "gdp(1): a/2", BLUE, 0.1),
        (ny.pure_dp(1), "pure_dp(1)", ORANGE, 0.17),
        (ny.laplace(1), "laplace(1)", GREEN, 0.0),
        (ny.curves.bounded_range(1), "bounded_range(1)", PURPLE, -0.15),
        (ny.poisson(ny.gdp(1), 0.1), "poisson(gdp(1), 0.1)", SKY, -0.1),
    )
    for curve, name, colour, shift in curves:
        found = np.asarray(curve.renyi(order))
        axes.loglog(order, found, color=colour, linewidth=1.8)
        say(axes, 70, found[-1] * 10**shift, name, colour, va="center")
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.minorticks_off()
    axes_of(axes, "order a", "Rényi divergence $D_a$")
    return picture


def conversions() -> Figure:
    """How much epsilon each conversion adds to the exact one, for one Gaussian."""
    axes = clean((picture := figure(6.4, 3.7)).add_subplot())
    f, delta = ny.gdp(1), np.geomspace(1e-12, 1e-2, 31)
    exact = np.asarray(f.epsilon(delta))
    steinke = "Canonne, Kamath and Steinke;\ndotted: the best from one order"
    ways = (
        ("Mironov", accounting.MIRONOV, ORANGE, "-", (4, 1e-4, 38)),
        ("Asoodeh et al.", accounting.ASOODEH, PURPLE, "-", (8, 1e-5, 32)),
        ("", accounting.CANONNE_KAMATH_STEINKE, SKY, "-", (14, 1e-6, 24)),
        (steinke, accounting.OPTIMAL, INK, ":", (14, 1e-6, 24)),
    )
    for name, way, colour, line, (at, x, y) in ways:
        found = [accounting.rdp_epsilon(f, float(d), by=way) for d in delta]
        excess = 100 * (np.asarray(found) / exact - 1)
        axes.semilogx(delta, excess, color=colour, linewidth=2.2, linestyle=line)
        if name:
            point_to(axes, (float(delta[-1 - at]), float(excess[-1 - at])), (x, y), name)
    axes.axhline(0, color=INK, linewidth=1.8)
    say(axes, 1e-5, 0.8, "exact, gdp(1)")
    axes.set(xlim=(1.3e-2, 1e-12), ylim=(-3, None))
    axes_of(axes, "δ", "ε too large by, %")
    return picture


def laplace_loss() -> Figure:
    """What `plots.privacy_loss` draws where the loss has atoms and a density."""
    return plots.privacy_loss(ny.laplace(1), epsilon=0.5)


def audited() -> Figure:
    """What `plots.audit` draws of scores at even normal quantiles, whose effect is 1.4."""
    scores = ndtri((np.arange(600) + 0.5) / 600)
    verdict = audit.refute(scores + 1.4, scores, ny.gdp(1), threshold=0.7)
    return plots.audit(verdict, band=audit.curve_band(scores + 1.4, scores))


FIGURES: Mapping[str, Callable[[], Figure]] = {
    "test": both_errors,
    "tradeoff": tradeoff,
    "implies": implies,
    "symmetrised": symmetrised,
    "approximate": approximate,
    "duality": duality,
    "gaussian": gaussian,
    "classic": classic,
    "groups": groups,
    "composition": composition,
    "privacy_loss": privacy_loss,
    "renyi": renyi,
    "conversions": conversions,
    "laplace_loss": laplace_loss,
    "audited": audited,
}


# What each figure shows.
FINDINGS: Mapping[str, str] = {
    "test": "Every test has two errors, and is a point of one curve",
    "tradeoff": "Curves of four guarantees: the higher, the more private",
    "implies": "A claim holds only if the curve is above it everywhere",
    "symmetrised": "A curve and its inverse: what a claim about both may use",
    "approximate": "(ε, δ) is a curve with two corners",
    "duality": "All pairs (ε, δ) together are the curve",
    "gaussian": "One number orders all Gaussian curves",
    "classic": "The noise that textbooks quote fails for large ε",
    "groups": "Pure DP for groups of k tends to Laplace noise",
    "composition": "A hundred small releases are nearly one Gaussian release",
    "privacy_loss": "δ is less than the chance of a large loss",
    "renyi": "Sampling lowers divergences of small orders only",
    "conversions": "Each conversion from moments makes ε too large",
    "laplace_loss": "The loss of Laplace noise has two atoms",
}


def draw(name: str, path: Path) -> None:
    """Write one figure, in as many colours as such a figure has."""
    buffer = io.BytesIO()
    picture = FIGURES[name]()
    if name in FINDINGS:
        picture.suptitle(FINDINGS[name], x=0.01, ha="left", fontsize=11, color=INK)
    picture.savefig(buffer, format="png", dpi=130)
    image = Image.open(buffer).convert("RGB")
    image.quantize(64, dither=Image.Dither.NONE).save(path, format="png", optimize=True)


def main() -> None:
    """Write every figure that is computed, and none that is drawn at random."""
    for name in FIGURES:
        draw(name, IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
