"""Random allocation: one of T steps, uniformly (Chua et al. 2025; Feldman and Shenfeld 2025)."""

from accounting.balls import GOOD, bits, num, shared
from flint import acb, arb


class Mean:
    """S = mean of `steps` values e^Y, Y ~ N(-1/2 sigma^2, 1/sigma^2)."""

    def __init__(self, sigma, steps, fineness):
        self.steps, self.sigma = steps, num(sigma)
        s, h = self.sigma, arb(0.0125 / fineness) * self.sigma
        far = int(24 / float(h))
        self.rows = []
        for z in (h * k for k in range(-far, far + 1)):
            y = (z / s - 1 / (2 * s * s)).exp() / steps
            w = (-z * z / 2).exp() * h / (2 * arb.pi()).sqrt()
            self.rows.append((z, y, w, float(z), float(y)))

    def power(self, x):
        """log of (E e^{-x e^Y / steps})^steps, on Im Y = -arg(x) / 2."""
        beta, s, total = x.arg() / 2, self.sigma, acb(0)
        turned = -x * acb(0, -beta).exp()
        real = float(turned.real)
        for z, y, w, near, size in self.rows:
            if real * size - near * near / 2 > -240:
                total += (turned * y + acb(0, z * s * beta)).exp() * w
        return (total * (s * s * beta * beta / 2).exp()).log() * self.steps

    def below(self, m, c, size):
        """E (m - S)_+: int e^{xm} E e^{-xS} / x^2 dx / 2 pi i on a hyperbola to the left.

        Nodes are added until they count for nothing.
        """
        step, total, j, small, top = arb(1) / 40, arb(0), 0, 0, -1e9
        while small < 12:
            v = step * j
            ch, sh = (v.exp() + (-v).exp()) / 2, (v.exp() - (-v).exp()) / 2
            x, dx = acb(c - size * (ch - 1) / 2, size * sh), acb(-size * sh / 2, size * ch)
            part = ((self.power(x) + x * m).exp() / x**2 * dx).imag / (1 if j else 2)
            total += part
            top = max(top, bits(part))
            small = small + 1 if bits(part) < top - GOOD - 30 else 0
            j += 1
        return total * step / arb.pi()


def allocation(sigma, steps, direction, at):
    """Remove: E (S - e^eps)_+ = 1 - e^eps + E (e^eps - S)_+; add: e^eps E (e^-eps - S)_+."""
    e, answers = num(at), []
    m = e.exp() if direction == "remove" else (-e).exp()
    mean = Mean(sigma, steps, 1.0)

    def height(c):
        return float(mean.power(acb(c)).real + m * c - 2 * arb(c).log())

    c = arb(min((0.2 * 1.25**i for i in range(45)), key=height))
    for move, size, fineness in ((1.0, 1.0, 1.0), (1.1, 0.9, 1.13)):
        value = Mean(sigma, steps, fineness).below(m, c * arb(move), c * arb(size))
        answers.append(1 - m + value if direction == "remove" else value * e.exp())
    return answers[0], shared(*answers)
