"""The exact solutions once more, in multiple precision and written from the statements."""

import mpmath as mp
import numpy as np

from sharpfront.equation.values import environment, form_values

pi, exp, sin, cos, cosh, tanh, sqrt = mp.pi, mp.exp, mp.sin, mp.cos, mp.cosh, mp.tanh, mp.sqrt
HALF, QUARTER = mp.mpf(1) / 2, mp.mpf(1) / 4


def outflow(eps, x, y):
    return (x - exp((x - 1) / eps)) * sin(pi * y)


def corner(eps, x, y):
    return x * y * (1 - exp((x - 1) / eps)) * (1 - exp((y - 1) / eps))


def four_layers(eps, x, y):
    w = sqrt(eps)
    return (1 - cosh((x - HALF) / w) / cosh(HALF / w)) * (1 - cosh((y - HALF) / w) / cosh(HALF / w))


def radius(x, y):
    return sqrt((x - HALF) ** 2 + (y - HALF) ** 2)


def circular_front(w, x, y):
    return tanh((radius(x, y) - QUARTER) / (2 * w))


def smooth_circular_front(w, x, y):
    return circular_front(w, x, y) - tanh((radius(x, y) + QUARTER) / (2 * w)) + 1


def wavy_front(w, x, y):
    # Constants as the doubles they are in the statement's code.
    return tanh((x - mp.mpf(0.3) - mp.mpf(0.4) * y - mp.mpf(0.06) * sin(3 * pi * y)) / (2 * w))


def sharp_source(w, x, y):
    ks = range(1, int(11 / (pi * w)), 2)
    g = [2 * exp(-((k * pi * w) ** 2) / 2) * sin(k * pi / 2) for k in ks]
    a = [c * sin(k * pi * x) for c, k in zip(g, ks, strict=True)]
    b = [c * sin(k * pi * y) for c, k in zip(g, ks, strict=True)]
    return -sum(
        ak * mp.fsum(bl / (k * k + m * m) for bl, m in zip(b, ks, strict=True))
        for ak, k in zip(a, ks, strict=True)
    ) / (pi**2)


def waves(k, x, y):
    return sin(k * pi * x) * cos(k * pi * y)


def growing_wave(k, x, y):
    return exp(x) * sin(k * pi * y)


def slanted(k, x, y, z):
    return sin(k * (2 * x + y)) * exp(z)


EXACT = {
    "outflow": outflow,
    "corner": corner,
    "four-layers": four_layers,
    "circular-front": circular_front,
    "smooth-circular-front": smooth_circular_front,
    "wavy-front": wavy_front,
    "sharp-source": sharp_source,
    "square-waves": waves,
    "petal": waves,
    "biharmonic-petal": waves,
    "l-shape": growing_wave,
    "pierced-square": growing_wave,
    "cube": lambda k, x, y, z: sin(k * pi * x) * cos(k * pi * y) * exp(z),
    "ball": lambda k, x, y, z: sin(k * pi * x) * cos(k * pi * y) + z**3,
    "ellipsoid": slanted,
    "torus": slanted,
    "hypercube": lambda _, *x: sum(sin(pi * c / 2) for c in x),
}


def exact_values(name, value, points):
    """Return the exact solution at points (m, d), rounded once."""
    with mp.workdps(40):
        return np.array([float(EXACT[name](mp.mpf(value), *map(mp.mpf, p))) for p in points])


def residuals(form, name, value, coordinates, points, normals=None):
    """Return what a linear form leaves of the exact solution, and the size of its source, (m,).

    Derivatives and their sum are of 60 digits, so what is left are the errors of the form's own
    coefficients and source.
    """
    leaves = environment(coordinates, points, normals)
    coefficients, source = form_values(form, leaves, len(points))
    left = []
    with mp.workdps(60):

        def exact(*x):
            return EXACT[name](mp.mpf(value), *x)

        for i, point in enumerate(points):
            x = tuple(map(mp.mpf, point))
            total = mp.mpf(source[i])
            for term, c in zip(form.terms, coefficients, strict=True):
                derivative = mp.diff(exact, x, term.orders) if term.order else exact(*x)
                total += mp.mpf(c[i]) * derivative
            left.append(float(total))
    return np.array(left), np.maximum(1.0, np.max(np.abs(source)))
