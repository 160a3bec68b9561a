"""References for problems in time that have no formula: Fourier series, exponential steps.

The unknowns are Fourier series on a periodic interval, u = sum of c_k exp(2 pi i k (x - a) / P).
The linear part of the equation is taken exactly, the rest by the four-stage method of Cox and
Matthews (ETDRK4), products on a grid twice as fine as the series, which leaves cubes free of
aliasing. How accurate each reference is is asserted in `test_spectral.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import fft, special

# Points of the circle on which the weights of a step are averaged.
_CIRCLE = 32
_BLOCK = 64
# States that a series keeps; between them it steps again.
_KEPT = 500


@dataclass(frozen=True, eq=False)
class Flow:
    """c' = L c + N(c) for the coefficients c (m, K + 1) of m unknowns.

    Parameters
    ----------
    ends
        Of the interval.
    linear
        Returns L (m, K + 1) of the wave numbers q = 2 pi k / P.
    rest
        Returns values of N, or of the terms that `outside` acts on, from values (m, n).
    outside
        Returns what N's coefficients are multiplied by, of q: a derivative outside the product.
    """

    ends: tuple[float, float]
    linear: Callable
    rest: Callable
    outside: Callable = lambda q: np.ones_like(q)


class Series:
    """A solution of a flow, at any place and moment.

    Parameters
    ----------
    flow, start
        The problem, and the coefficients (m, K + 1) at the first moment.
    span, steps
        First and last moment, and the number of steps between.
    """

    def __init__(self, flow, start, span, steps):
        self.flow, self.start, self.span, self.steps = flow, np.atleast_2d(start), span, steps
        self.step = (span[1] - span[0]) / steps
        self.stride = -(-steps // _KEPT)
        count = self.start.shape[1]
        self.length = flow.ends[1] - flow.ends[0]
        self.q = 2 * np.pi * np.arange(count) / self.length
        self.symbol = np.atleast_2d(flow.linear(self.q)).astype(complex)
        self.factor = flow.outside(self.q)
        self.states, self.found = [self.start.astype(complex)], {}
        self.grid = fft.next_fast_len(4 * (count - 1), real=True)

    def kept(self, index):
        """Return the coefficients after `index` strides, (m, K + 1), going on if need be."""
        while len(self.states) <= index:
            state = self.states[-1]
            for _ in range(self.stride):
                state = self.advance(state, self.full)
            self.states.append(state)
        return self.states[index]

    @cached_property
    def full(self):
        """The weights of a whole step."""
        return self.weights(self.step)

    def rest(self, c):
        """Return N(c), without the modes that the series does not have."""
        values = fft.irfft(c, self.grid, axis=-1, norm="forward")
        modes = fft.rfft(self.flow.rest(values), axis=-1, norm="forward")
        return self.factor * modes[..., : c.shape[-1]]

    def weights(self, step):
        """Return the weights of one step, means over circles so that nothing cancels."""
        z = step * self.symbol[..., None]
        z = z + np.exp(2j * np.pi * (np.arange(_CIRCLE) + 0.5) / _CIRCLE)
        e, e2 = np.exp(z), np.exp(z / 2)
        means = [
            np.mean(f, axis=-1)
            for f in (
                (e2 - 1) / z,
                (-4 - z + e * (4 - 3 * z + z**2)) / z**3,
                2 * (2 + z + e * (z - 2)) / z**3,
                (-4 - 3 * z - z**2 + e * (4 - z)) / z**3,
            )
        ]
        half, *full = (step * m for m in means)
        return np.exp(step * self.symbol), np.exp(step * self.symbol / 2), half, *full

    def advance(self, c, weights):
        """Return the coefficients one step on."""
        e, e2, half, first, middle, last = weights
        n = self.rest(c)
        a = e2 * c + half * n
        na = self.rest(a)
        nb = self.rest(e2 * c + half * na)
        nc = self.rest(e2 * a + half * (2 * nb - n))
        return e * c + first * n + middle * (na + nb) + last * nc

    def at(self, t):
        """Return the coefficients at any moment: steps and a shorter one from those kept."""
        if t not in self.found:
            passed = int(np.clip((t - self.span[0]) / self.step, 0, self.steps))
            state = self.kept(passed // self.stride)
            for _ in range(passed % self.stride):
                state = self.advance(state, self.full)
            left = t - self.span[0] - passed * self.step
            if abs(left) > 1e-13 * self.step:
                state = self.advance(state, self.weights(left))
            self.found[t] = state
        return self.found[t]

    def values(self, x, t, unknown=0):
        """Return one unknown at places and moments that broadcast."""
        x, t = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(t, dtype=float))
        out = np.empty(x.shape)
        for moment in np.unique(t):
            here = t == moment
            out[here] = self.moment(x[here], float(moment), unknown)
        return out[()]

    def moment(self, x, t, unknown):
        """Return one unknown at places (n,) and one moment."""
        return summed(self.at(t)[unknown], (x - self.flow.ends[0]) / self.length)


def summed(c, share):
    """Return the real series of coefficients (K + 1,) at parts of the period (n,)."""
    blocks = np.zeros((-(-len(c) // _BLOCK), _BLOCK), dtype=complex)
    blocks.ravel()[: len(c)] = 2 * c
    blocks[0, 0] = c[0]
    # Exact to rounding: whole turns are taken off before the exponential.
    inner = np.exp(2j * np.pi * np.mod(np.outer(share, np.arange(_BLOCK)), 1))
    outer = np.exp(2j * np.pi * np.mod(np.outer(share, _BLOCK * np.arange(len(blocks))), 1))
    return np.sum((inner @ blocks.T) * outer, axis=1).real


def sampled(f, ends, count):
    """Return the coefficients (count + 1,) of a smooth periodic function."""
    n = 4 * count
    x = ends[0] + (ends[1] - ends[0]) * np.arange(n) / n
    return fft.rfft(f(x), norm="forward")[: count + 1]


class AllenCahn(Series):
    """u_t = D u_xx + 5 (u - u^3) on (-1, 1) from x^2 cos pi x, whose periodic form has a kink.

    Its coefficients are known, and those that the series does not have are those of -x^2 to a
    part 3 / K^2. Until they have died out, after a time 1 / (D pi^2 K^2), they only diffuse: what
    diffusion makes of -x^2 is added in closed form, and its first K modes are taken off.
    """

    def __init__(self, diffusivity, count, steps):
        flow = Flow((-1.0, 1.0), lambda q: 5 - diffusivity * q**2, lambda u: -5 * u**3)
        k = np.arange(count + 1)
        # Coefficients about -1, where exp(i pi k (x + 1)) brings the sign (-1)^k.
        start = (-1.0) ** k * (_square(k - 1) + _square(k + 1)) / 2
        super().__init__(flow, start, (0.0, 1.0), steps)
        self.diffusivity = diffusivity
        self.kink = (-1.0) ** k * _square(k)

    def moment(self, x, t, unknown):
        """Return the series, with the diffused kink beyond it."""
        c = self.at(t)[0] + self.kink * np.exp(-self.diffusivity * self.q**2 * t)
        return summed(c, (x + 1) / 2) - _diffused_square(x, self.diffusivity, t)


def _square(k):
    """Return the coefficients of x^2 on (-1, 1) about 0: 2 (-1)^k / (pi k)^2, and 1/3."""
    k = np.asarray(k)
    return np.where(k == 0, 1 / 3, 2 * (-1.0) ** k / (np.pi * np.where(k == 0, 1, k)) ** 2)


def _diffused_square(x, diffusivity, t):
    """Return what diffusion makes of the periodic form of x^2, while 4 D t is far below 1."""
    s = max(np.sqrt(4 * diffusivity * t), 1e-200)

    def ramp(z):
        scaled = np.minimum(np.abs(z / s), 40.0)
        return z * special.erfc(-z / s) / 2 + s * np.exp(-(scaled**2)) / (2 * np.sqrt(np.pi))

    return x**2 + 2 * diffusivity * t - 4 * (ramp(x - 1) + ramp(-1 - x))


def kdv(dispersion, count, steps):
    """Return the series of u_t + u u_x + d^2 u_xxx = 0 on (-1, 1) from cos pi x."""
    flow = Flow(
        (-1.0, 1.0),
        lambda q: 1j * dispersion**2 * q**3,
        lambda u: u**2,
        lambda q: -0.5j * q,
    )
    start = sampled(lambda x: np.cos(np.pi * x), flow.ends, count)
    return Series(flow, start, (0.0, 1.0), steps)


def kuramoto_sivashinsky(end, count, steps):
    """Return the series of u_t + u u_x + u_xx + u_xxxx = 0 on (0, 32 pi)."""
    flow = Flow((0.0, 32 * np.pi), lambda q: q**2 - q**4, lambda u: u**2, lambda q: -0.5j * q)
    start = sampled(lambda x: np.cos(x / 16) * (1 + np.sin(x / 16)), flow.ends, count)
    return Series(flow, start, (0.0, end), steps)


def gray_scott(diffusivity, count, steps):
    """Return the series of the two species of the catalogue's problem."""

    def rest(values):
        u, v = values
        reaction = u * v**2
        return np.stack([0.02 - reaction, reaction])

    flow = Flow(
        (-50.0, 50.0), lambda q: np.stack([-(q**2) - 0.02, -diffusivity * q**2 - 0.0862]), rest
    )
    bump = sampled(lambda x: np.cos(np.pi * x / 100) ** 100, flow.ends, count)
    start = np.stack([-bump / 2, bump / 4])
    start[0, 0] += 1
    return Series(flow, start, (0.0, 100.0), steps)


# How each is made, its number of modes and of steps.
REFERENCES = {
    "allen-cahn-in-time": (AllenCahn, 2048, 600),
    "korteweg-de-vries": (kdv, 384, 12_000),
    "kuramoto-sivashinsky": (kuramoto_sivashinsky, 192, 10_000),
    "gray-scott": (gray_scott, 400, 10_000),
}


@lru_cache(maxsize=16)
def series(name, value, modes=1.0, steps=1.0):
    """Return a reference with its numbers of modes and steps multiplied."""
    make, count, number = REFERENCES[name]
    return make(value, int(count * modes), int(number * steps))


def reference(entry, value, modes=1.0, steps=1.0):
    """Return an entry's exact solution or its reference, as the catalogue gives exact ones."""
    if entry.has_exact:
        return entry.exact(value)
    found = series(entry.name, value, modes, steps)
    names = entry.problem(value).unknowns
    if len(names) == 1:
        return found.values
    return {n: lambda x, t, i=i: found.values(x, t, i) for i, n in enumerate(names)}
