"""The exact solutions in time once more, in multiple precision and written from the statements."""

from functools import cache

import mpmath as mp
import numpy as np

from sharpfront.equation.graph import derivatives_in, evaluate
from sharpfront.equation.values import environment
from sharpfront.measure import time_rule

pi, exp, sin, cos, sqrt, erf, erfc = mp.pi, mp.exp, mp.sin, mp.cos, mp.sqrt, mp.erf, mp.erfc


def number(text):
    return mp.mpf(float(text))


def moving_front(nu, x, t):
    # Constants as the doubles they are in the statement's code.
    return erfc((x - t / 2 - number("0.25")) / sqrt(4 * nu * (t + number("0.05")))) / 2


def travelling_shock(nu, x, t):
    return 1 / (1 + exp((x - number("0.25") - t / 2) / (2 * nu)))


def merging_shocks(nu, x, t):
    a = exp((-(x - number("0.375")) / 2 + t / 4) / nu)
    b = exp((-(x - number("0.5")) / 4 + t / 16) / nu)
    tenth = number("0.1")
    c = exp((-tenth * (x - number("0.5")) / 2 + tenth**2 * t / 4) / nu)
    return (a + b / 2 + tenth * c) / (a + b + c)


def fast_pulse(w, x, t):
    return exp(-2 * sin((x - 1 - 40 * t) / 2) ** 2 / w**2)


def pulse(z, width, period):
    return exp(-((period * sin(pi * z / period) / (pi * width)) ** 2) / 2)


def reflected_pulse(w, x, t):
    def profile(z):
        at = number("0.4")
        images = ((1, at), (1, 2 - at), (-1, -at), (-1, at - 2))
        return sum(sign * pulse(z - place, w, 4) for sign, place in images)

    return (profile(x - t) + profile(x + t)) / 2


def heat_step(k, x, t):
    s, edge = sqrt(4 * k * t), number("0.3")
    return sum(erf((x + 2 * j + edge) / s) - erf((x + 2 * j - edge) / s) for j in range(-6, 7)) / 2


def heat_hat(k, x, t):
    s, top, half = sqrt(4 * k * t), number("0.45"), number("0.2")

    def ramp(z):
        return z * erfc(-z / s) / 2 + s / (2 * sqrt(pi)) * exp(-((z / s) ** 2))

    def hat(z):
        return (ramp(z + half) - 2 * ramp(z) + ramp(z - half)) / half

    return sum(hat(x - top + 2 * j) - hat(x + top + 2 * j) for j in range(-6, 7))


def cooling(k, x, t):
    s = sqrt(4 * k * t)
    return erf(x / s) + exp(10 * x + 100 * k * t) * erfc(x / s + 5 * s)


def fisher(d, x, t):
    c = 5 * sqrt(10 * d / 6)
    return (1 + exp((x - number("0.3") - c * t) * sqrt(10 / (6 * d)))) ** -2


EXACT = {
    "moving-front": moving_front,
    "flux-front": moving_front,
    "travelling-shock": travelling_shock,
    "merging-shocks": merging_shocks,
    "fast-advection": lambda c, x, t: sin(x - c * t),
    "fast-pulse": fast_pulse,
    "wave-pulse": lambda w, x, t: pulse(x - 2 * t, w, 2),
    "reflected-pulse": reflected_pulse,
    "heat-step": heat_step,
    "heat-hat": heat_hat,
    "cooling": cooling,
    "fisher": fisher,
    "nagumo": lambda k, x, t: 1 / (1 + exp(k * (x - number("0.25") - t / 2) / 2)),
}


@cache
def points_of(entry, value):
    """Return the points of the rule that errors of an entry are measured with, (m, 2)."""
    return time_rule(entry, value).points


def exact_values(name, value, points, orders=(0, 0)):
    """Return the exact solution or a derivative of it at points (m, 2), rounded once."""
    with mp.workdps(50):

        def exact(x, t):
            return EXACT[name](mp.mpf(value), x, t)

        return np.array([float(_derivative(exact, p, orders)) for p in points])


def _derivative(exact, point, orders):
    x = tuple(map(mp.mpf, point))
    return mp.diff(exact, x, orders) if any(orders) else exact(*x)


def cole_hopf(start, potential, nu, x, t, pieces=48, reach=16):
    """Return the solution of Burgers' equation on the line, by adaptive quadrature."""
    with mp.workdps(30):
        nu, x, t = mp.mpf(nu), mp.mpf(x), mp.mpf(t)
        s = sqrt(4 * nu * t)
        cuts = [x + s * reach * (mp.mpf(2 * i) / pieces - 1) for i in range(pieces + 1)]

        def weight(y):
            return exp(-(((x - y) / s) ** 2) - potential(y) / (2 * nu))

        top = mp.quad(lambda y: start(y) * weight(y), cuts)
        return float(top / mp.quad(weight, cuts))


def residual(expression, coordinates, points, derivative, normals=None):
    """Return what an expression leaves at points (m, 2), and the size of its leaves, (m,) each.

    `derivative(unknown, orders)` gives the values of the leaves.
    """
    leaves = environment(coordinates, points, normals)
    size = np.ones(len(points))
    for leaf in derivatives_in(expression):
        values = derivative(leaf.unknown, leaf.orders)
        leaves[leaf.key] = values
        if leaf.orders[1]:
            size += np.abs(values)
    return np.broadcast_to(evaluate(expression, leaves), (len(points),)), size


# Central differences of order eight: weights at distances 0 to 4.
_STENCILS = {
    0: ((1.0, 0, 0, 0, 0), 0),
    1: ((0, 4 / 5, -1 / 5, 4 / 105, -1 / 280), 1),
    2: ((-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560), 0),
}


def differences(f, x, t, orders, steps):
    """Return a derivative of a function by differences, each order in each direction."""
    along_x, along_t = orders
    if along_x > 2:
        return differences(
            lambda a, b: differences(f, a, b, (2, 0), steps), x, t, (along_x - 2, along_t), steps
        )
    total = 0.0
    for i, a in _terms(along_x):
        for j, b in _terms(along_t):
            total = total + a * b * f(x + i * steps[0], t + j * steps[1])
    return total / (steps[0] ** along_x * steps[1] ** along_t)


def _terms(order):
    weights, odd = _STENCILS[order]
    for i, w in enumerate(weights):
        if w:
            yield i, w
            if i:
                yield -i, -w if odd else w
