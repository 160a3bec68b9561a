"""Problems in time on a line with references of their own: exact solutions, or other methods.

Run by hand: ``python benchmarks/time_references.py [--only PART ...] [--tol 1e-6]``. Where no exact
solution is known the reference is a Fourier series in time by exponential Runge-Kutta steps, or
sixth-order differences on two grids with LSODA; its own error is what two resolutions differ by.
True errors are the largest at six moments and 2001 places, relative to max(1, max|u|).
"""

from __future__ import annotations

import argparse
import sys

# This folder has a file named like a module of the standard library; it must not come first.
sys.path.append(sys.path.pop(0))

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ndtr

import sharpfront as sf

Field = Callable[[Any, float], Any]
# Moments of a span at which solutions are compared.
SHARES = (0.11, 0.27, 0.46, 0.63, 0.88, 1.0)


@dataclass(frozen=True)
class Row:
    """A problem, the solution of its first unknowns, and how far off that is itself."""

    name: str
    problem: sf.Problem
    exact: Callable[[], tuple[Field, float]]
    tol: float | None = None


def korteweg_de_vries() -> Row:
    """Return two solitons, of which the fast one overtakes."""

    def exact(x: Any, t: Any) -> Any:
        a = 3 + 4 * np.cosh(2 * x - 8 * t) + np.cosh(4 * x - 64 * t)
        b = 3 * np.cosh(x - 28 * t) + np.cosh(3 * x - 36 * t)
        return 12 * a / b**2

    return Row(
        "KdV, two solitons",
        sf.Problem(
            sf.Interval(-25, 25, periodic=True),
            lambda u, x, t: u.dt + 6 * u * u.dx + u.dxxx,
            initial=lambda x: exact(x, -0.3),
            time=(-0.3, 0.3),
        ),
        lambda: (exact, 1e-15),
    )


def sine_gordon(v: float = 0.6) -> Row:
    """Return a kink and an antikink that pass through each other."""
    g = 1 / np.sqrt(1 - v**2)

    def exact(x: Any, t: Any) -> Any:
        return 4 * np.arctan(np.sinh(v * g * t) / (v * np.cosh(g * x)))

    def rate(x: Any) -> Any:
        s, c = np.sinh(-6 * v * g), np.cosh(-6 * v * g)
        z = s / (v * np.cosh(g * x))
        return 4 * g * c / np.cosh(g * x) / (1 + z**2)

    return Row(
        "sine-Gordon, kink and antikink",
        sf.Problem(
            sf.Interval(-20, 20),
            lambda u, x, t: u.dtt - u.dxx + np.sin(u),
            boundary=lambda u, x, t: u - exact(x, t),
            initial=(lambda x: exact(x, -6.0), rate),
            time=(-6, 6),
        ),
        lambda: (exact, 1e-15),
    )


def black_scholes() -> Row:
    """Return a call: the pay-off has a kink."""
    r, sigma, strike = 0.05, 0.2, 100.0

    def exact(s: Any, t: Any) -> Any:
        s, t = np.maximum(s, 1e-300), np.maximum(t, 1e-300)
        root = sigma * np.sqrt(t)
        d = (np.log(s / strike) + (r + sigma**2 / 2) * t) / root
        return (s * ndtr(d) - strike * np.exp(-r * t) * ndtr(d - root)) / 100.0

    return Row(
        "Black-Scholes, call",
        sf.Problem(
            sf.Interval(0, 300),
            lambda u, x, t: u.dt - sigma**2 / 2 * x**2 * u.dxx - r * x * u.dx + r * u,
            left=lambda u, x, t: u,
            right=lambda u, x, t: u - (x - strike * np.exp(-r * t)) / 100.0,
            initial=lambda x: np.maximum(x - strike, 0.0) / 100.0,
            time=(0, 1),
        ),
        lambda: (exact, 1e-12),
        1e-5,
    )


def layered_heat() -> Row:
    """Return heat in two layers, k = 1 and 0.1: the first mode."""
    from scipy.optimize import brentq

    left, right = 1.0, 0.1

    def gap(w: float) -> float:
        a, b = w / np.sqrt(left) / 2, w / np.sqrt(right) / 2
        return float(np.sqrt(left) * np.cos(a) * np.sin(b) + np.sqrt(right) * np.sin(a) * np.cos(b))

    w = brentq(gap, 0.5, 2.0)
    a, b = w / np.sqrt(left), w / np.sqrt(right)

    def exact(x: Any, t: Any) -> Any:
        one = np.sin(a * x) / np.sin(a / 2)
        two = np.sin(b * (1 - x)) / np.sin(b / 2)
        return np.exp(-(w**2) * t) * np.where(x < 0.5, one, two)

    return Row(
        "heat in two layers",
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt - (np.where(x < 0.5, left, right) * u.dx).dx,
            boundary=lambda u, x, t: u,
            initial=lambda x: exact(x, 0.0),
            time=(0, 0.5),
        ),
        lambda: (exact, 1e-14),
    )


def by_series(
    linear: Any, bend: Callable[[Any], Any], start: Any, length: float, span: float, steps: int
) -> dict[float, Any]:
    """Return Fourier coefficients at the moments, by Kassam and Trefethen's ETDRK4."""
    h = span / steps
    roots = np.exp(1j * np.pi * (np.arange(1, 33) - 0.5) / 16)
    z = h * linear[:, None] + roots
    e, half = np.exp(h * linear), np.exp(h * linear / 2)
    q = h * ((np.exp(z / 2) - 1) / z).mean(axis=1)
    f1 = h * ((-4 - z + np.exp(z) * (4 - 3 * z + z**2)) / z**3).mean(axis=1)
    f2 = h * ((2 + z + np.exp(z) * (z - 2)) / z**3).mean(axis=1)
    f3 = h * ((-4 - 3 * z - z**2 + np.exp(z) * (4 - z)) / z**3).mean(axis=1)
    v, kept = np.fft.fft(start), {}
    wanted = {round(s * steps): s for s in SHARES}
    for n in range(1, steps + 1):
        nv = bend(v)
        a = half * v + q * nv
        na = bend(a)
        b = half * v + q * na
        nb = bend(b)
        c = half * a + q * (2 * nb - nv)
        v = e * v + nv * f1 + 2 * (na + nb) * f2 + bend(c) * f3
        if n in wanted:
            kept[wanted[n]] = v.copy()
    return kept


def series_reference(
    make: Callable[[int, int], dict[float, Any]],
    low: float,
    length: float,
    span: float,
    parts: Callable[[Any], Any],
) -> tuple[Field, float]:
    """Return a solution by two resolutions of a Fourier series, and what they differ by."""
    rough, fine = make(1, 1), make(2, 2)

    def values(kept: dict[float, Any], x: Any, t: float) -> Any:
        share = min(kept, key=lambda s: abs(s * span - t))
        v = kept[share]
        n = len(v)
        waves = 2 * np.pi * np.fft.fftfreq(n, 1 / n) / length
        return parts(np.exp(1j * np.outer(x - low, waves)) @ v / n)

    x = low + length * np.linspace(0, 1, 501)
    off = max(np.abs(values(rough, x, s * span) - values(fine, x, s * span)).max() for s in SHARES)
    return (lambda x, t: values(fine, x, t)), float(off)


def kuramoto_sivashinsky(span: float = 20.0) -> Row:
    """Return waves that become disorder."""
    length = 32 * np.pi

    def start(x: Any) -> Any:
        return np.cos(x / 16) * (1 + np.sin(x / 16))

    def make(points: int, steps: int) -> dict[float, Any]:
        n = 512 * points
        k = 2 * np.pi * np.fft.fftfreq(n, 1 / n) / length
        keep = np.abs(np.fft.fftfreq(n, 1 / n)) < n / 3
        return by_series(
            k**2 - k**4,
            lambda v: -0.5j * k * keep * np.fft.fft(np.real(np.fft.ifft(v)) ** 2),
            start(length * np.arange(n) / n),
            length,
            span,
            int(1600 * steps),
        )

    return Row(
        "Kuramoto-Sivashinsky to t = 20",
        sf.Problem(
            sf.Interval(0, length, periodic=True),
            lambda u, x, t: u.dt + u * u.dx + u.dxx + u.dxxxx,
            initial=start,
            time=(0, span),
        ),
        lambda: series_reference(make, 0.0, length, span, np.real),
        1e-5,
    )


def schrodinger(span: float = 4.0) -> Row:
    """Return two solitons of the cubic equation that meet."""
    low, length = -40.0, 80.0

    def start(x: Any) -> Any:
        return np.exp(2j * x) / np.cosh(x + 6) + np.exp(-1j * x) / np.cosh(x - 4)

    def make(points: int, steps: int) -> dict[float, Any]:
        n = 1024 * points
        k = 2 * np.pi * np.fft.fftfreq(n, 1 / n) / length

        def bend(v: Any) -> Any:
            w = np.fft.ifft(v)
            return 1j * np.fft.fft(np.abs(w) ** 2 * w)

        x = low + length * np.arange(n) / n
        return by_series(-0.5j * k**2, bend, start(x), length, span, int(8000 * steps))

    return Row(
        "Schrodinger, two solitons meet",
        sf.Problem(
            sf.Interval(low, low + length, periodic=True),
            lambda a, b, x, t: (
                a.dt + b.dxx / 2 + (a**2 + b**2) * b,
                b.dt - a.dxx / 2 - (a**2 + b**2) * a,
            ),
            initial={"a": lambda x: np.real(start(x)), "b": lambda x: np.imag(start(x))},
            time=(0, span),
        ),
        lambda: series_reference(make, low, length, span, np.real),
    )


def by_lines(
    rates: Callable[[Any, Any, Any], Any],
    start: Callable[[Any], Any],
    low: float,
    high: float,
    span: float,
    points: int,
) -> tuple[Field, float]:
    """Return a solution with no flux at the ends, by sixth-order differences on two grids."""
    found = []
    for n in (points, 2 * points):
        h = (high - low) / n
        x = low + h * (np.arange(n) + 0.5)
        state = start(x)
        count = len(state)

        def right(t: float, y: Any, h: float = h, count: int = count) -> Any:
            u = y.reshape(-1, count).T
            wide = np.pad(u, ((0, 0), (3, 3)), mode="symmetric")
            first = (
                45 * (wide[:, 4:-2] - wide[:, 2:-4])
                - 9 * (wide[:, 5:-1] - wide[:, 1:-5])
                + (wide[:, 6:] - wide[:, :-6])
            ) / (60 * h)
            second = (
                2 * (wide[:, 6:] + wide[:, :-6])
                - 27 * (wide[:, 5:-1] + wide[:, 1:-5])
                + 270 * (wide[:, 4:-2] + wide[:, 2:-4])
                - 490 * u
            ) / (180 * h**2)
            return rates(u, first, second).T.ravel()

        band = 4 * count - 1
        out = solve_ivp(
            right,
            (0, span),
            np.asarray(state).T.ravel(),
            method="LSODA",
            t_eval=[s * span for s in SHARES],
            rtol=1e-11,
            atol=1e-12,
            lband=band,
            uband=band,
        )
        found.append((x, {s: out.y[::count, i] for i, s in enumerate(SHARES)}))
    (x, coarse), (fine, values) = found
    from scipy.interpolate import make_interp_spline

    splines = {s: make_interp_spline(fine, v, 7) for s, v in values.items()}
    off = max(np.abs(splines[s](x) - coarse[s]).max() for s in SHARES)

    def exact(x: Any, t: float) -> Any:
        share = min(SHARES, key=lambda s: abs(s * span - t))
        return splines[share](x)

    return exact, float(off)


def flame(lewis: float) -> Row:
    """Return a flame that travels, with a Lewis number."""
    beta, alpha, span = 10.0, 0.8, 4.0

    def burn(heat: Any, fuel: Any) -> Any:
        over = heat - 1
        return beta**2 / (2 * lewis) * fuel * np.exp(beta * over / (1 + alpha * over))

    def start(x: Any) -> Any:
        hot = 0.5 * (1 - np.tanh(x - 8.0))
        return np.stack([hot, 1 - hot])

    def rates(u: Any, first: Any, second: Any) -> Any:
        w = burn(*u)
        return np.stack([second[0] + w, second[1] / lewis - w])

    return Row(
        f"flame, Lewis number {lewis:g}",
        sf.Problem(
            sf.Interval(0, 40),
            lambda a, b, x, t: (
                a.dt - a.dxx - burn(a, b),
                b.dt - b.dxx / lewis + burn(a, b),
            ),
            boundary=lambda a, b, x, t: (a.dx, b.dx),
            initial={"a": lambda x: start(x)[0], "b": lambda x: start(x)[1]},
            time=(0, span),
        ),
        lambda: by_lines(rates, start, 0.0, 40.0, span, 1000),
        1e-5,
    )


def fitzhugh_nagumo() -> Row:
    """Return a pulse of a nerve that starts at one end."""
    a, eps, gamma, span = 0.1, 0.01, 0.5, 60.0

    def start(x: Any) -> Any:
        return np.stack([np.exp(-((x / 6) ** 2)), 0 * x])

    def rates(u: Any, first: Any, second: Any) -> Any:
        v, w = u
        return np.stack([second[0] + v * (1 - v) * (v - a) - w, eps * (v - gamma * w)])

    return Row(
        "FitzHugh-Nagumo",
        sf.Problem(
            sf.Interval(0, 100),
            lambda v, w, x, t: (
                v.dt - v.dxx - v * (1 - v) * (v - a) + w,
                w.dt - eps * (v - gamma * w),
            ),
            boundary=lambda v, w, x, t: v.dx,
            initial={"v": lambda x: start(x)[0], "w": lambda x: start(x)[1]},
            time=(0, span),
        ),
        lambda: by_lines(rates, start, 0.0, 100.0, span, 600),
    )


def shock_tube(mu: float = 2e-3) -> Row:
    """Return Sod's tube with viscosity and conduction: density, velocity and temperature."""
    gamma, span = 1.4, 0.15

    def start(x: Any) -> Any:
        s = 0.5 * (1 - np.tanh((x - 0.5) / 0.01))
        density, pressure = 0.125 + 0.875 * s, 0.1 + 0.9 * s
        return np.stack([density, 0 * x, pressure / density])

    def rates(u: Any, first: Any, second: Any) -> Any:
        (r, v, q), (rx, vx, qx), (rxx, vxx, qxx) = u, first, second
        return np.stack(
            [
                mu * rxx - v * rx - r * vx,
                -v * vx - (qx + q * rx / r) + mu * vxx / r,
                -v * qx - (gamma - 1) * q * vx + (gamma - 1) * mu * vx**2 / r + mu * qxx / r,
            ]
        )

    def equations(r: Any, v: Any, q: Any, x: Any, t: Any) -> Any:
        return (
            r.dt - mu * r.dxx + v * r.dx + r * v.dx,
            v.dt + v * v.dx + q.dx + q * r.dx / r - mu * v.dxx / r,
            q.dt
            + v * q.dx
            + (gamma - 1) * q * v.dx
            - (gamma - 1) * mu * v.dx**2 / r
            - mu * q.dxx / r,
        )

    return Row(
        "Sod's tube with viscosity 2e-3",
        sf.Problem(
            sf.Interval(0, 1),
            equations,
            boundary=lambda r, v, q, x, t: (r.dx, v.dx, q.dx),
            initial={n: lambda x, i=i: start(x)[i] for i, n in enumerate("rvq")},
            time=(0, span),
        ),
        lambda: by_lines(rates, start, 0.0, 1.0, span, 1000),
        1e-5,
    )


def rows() -> list[Row]:
    """Return all problems."""
    return [
        korteweg_de_vries(),
        kuramoto_sivashinsky(),
        sine_gordon(),
        schrodinger(),
        flame(1.0),
        flame(2.0),
        fitzhugh_nagumo(),
        shock_tube(),
        layered_heat(),
        black_scholes(),
    ]


def measured(row: Row, tol: float) -> str:
    """Return a line of the table."""
    began = time.process_time()
    solution = sf.solve(row.problem, tol=tol)
    seconds = time.process_time() - began
    exact, off = row.exact()
    low, high = (float(v) for v in row.problem.domain.bounds[:, 0])
    start, stop = row.problem.time
    name = row.problem.unknowns[0]
    x = low + (high - low) * np.linspace(0, 1, 2001)
    worst, size = 0.0, 1.0
    for share in SHARES:
        t = start + share * (stop - start)
        if t > solution.domain.time[1] or t < (solution.error_estimate_since or start):
            continue
        truth = exact(x, t)
        size = max(size, float(np.abs(truth).max()))
        worst = max(
            worst, float(np.abs(getattr(solution, name)(x, np.full_like(x, t)) - truth).max())
        )
    kernels = max(s.kernels for s in solution.history)
    return (
        f"| {row.name} | {tol:.0e} | {solution.outcome.kind} | {worst / size:.1e} "
        f"| {off / size:.0e} | {solution.error_estimate:.1e} | {kernels} "
        f"| {len(solution.history)} | {seconds:.2f} |"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of the names")
    parser.add_argument("--tol", type=float, default=1e-6)
    options = parser.parse_args()
    print(
        "| problem | tol | outcome | error | of the reference | estimate | functions | steps | s |"
    )
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows():
        if any(part in row.name for part in options.only):
            print(measured(row, row.tol or options.tol), flush=True)


if __name__ == "__main__":
    main()
