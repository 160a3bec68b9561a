"""A parameter found by a neural network: DeepXDE's Brinkman-Forchheimer example, beside `sf.fit`.

    pip install '.[bench-network]'
    DDE_BACKEND=pytorch python benchmarks/network.py --seconds 300

Flow between two plates through a porous medium, nu_e and K from five exact measurements, both
started a hundred times too large. The network has the settings that DeepXDE publishes with its
example: 3 layers of 20, tanh, Adam at 1e-3, 30 000 steps, 100 points. CPU seconds of one core. Of
three more of its examples only `sf.fit` is run, beside the number of steps that are published.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

POROSITY, VISCOSITY, TRUTH, START = 0.4, 1e-3, 1e-3, 0.1
STEPS, POINTS, EVERY = 30_000, 100, 1_000


def measured() -> tuple[np.ndarray, np.ndarray]:
    """Return the five places and the exact velocity there."""
    x = np.arange(1, 6) / 6
    r = np.sqrt(VISCOSITY * POROSITY) / TRUTH
    return x, 1 - np.cosh(r * (x - 0.5)) / np.cosh(r * 0.5)


def by_network(seconds: float) -> None:
    """Train until all steps are done or the time is up, and print the parameters now and then."""
    import deepxde as dde

    dde.config.set_random_seed(0)
    nu_e, k = dde.Variable(START), dde.Variable(START)

    def residual(x: Any, u: Any) -> Any:
        return -nu_e / POROSITY * dde.grad.hessian(u, x) + VISCOSITY * u / k - 1

    x, u = measured()
    seen = dde.icbc.PointSetBC(x[:, None], u[:, None])
    line = dde.geometry.Interval(0, 1)
    data = dde.data.PDE(line, residual, [seen], POINTS, 0, train_distribution="uniform")
    network = dde.nn.FNN([1, 20, 20, 20, 1], "tanh", "Glorot uniform")
    network.apply_output_transform(lambda x, u: x * (1 - x) * u)
    model = dde.Model(data, network)
    model.compile("adam", lr=1e-3, external_trainable_variables=[nu_e, k], verbose=0)
    started, done = time.process_time(), 0
    while done < STEPS and time.process_time() - started < seconds:
        model.train(iterations=EVERY, display_every=EVERY, verbose=0)
        done += EVERY
        _told(f"network, {done} steps", float(nu_e), float(k), started)


def by_fit() -> None:
    """Print what `sf.fit` finds from the same start."""
    import sharpfront as sf

    def flow(nu_e: float, k: float) -> sf.Problem:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: -nu_e / POROSITY * u.dxx + VISCOSITY * u / k - 1,
            boundary=lambda u, x: u,
        )

    x, u = measured()
    free = sf.Free(START, positive=True)
    started = time.process_time()
    found = sf.fit(flow, data=sf.Data(x=x, u=u, sigma=1e-6), curvature=False, nu_e=free, k=free)
    _told(f"sharpfront, {found.solves} solves", found.nu_e, found.k, started)


def others_by_fit() -> None:
    """Print what `sf.fit` finds in more of DeepXDE's examples, from their starts and exact data."""
    import sharpfront as sf

    def diffusion(c: float) -> sf.Problem:
        def equation(u: Any, x: Any, t: Any) -> Any:
            return u.dt - c * u.dxx + (1 - np.pi**2) * np.exp(-t) * np.sin(np.pi * x)

        start = {"initial": lambda x: np.sin(np.pi * x), "time": (0, 1)}
        return sf.Problem(sf.Interval(-1, 1), equation, boundary=lambda u, x, t: u, **start)

    def reaction(d: float, k: float) -> sf.Problem:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda a, b, x, t: (
                a.dt - 1e-3 * d * a.dxx + k * a * b**2,
                b.dt - 1e-3 * d * b.dxx + 2 * k * a * b**2,
            ),
            boundary=lambda a, b, x, t: (a - 1 + x, b - 1 + x),
            initial=dict.fromkeys("ab", lambda x: np.exp(-20 * x)),
            time=(0, 10),
        )

    def varied(k: Any) -> sf.Problem:
        return sf.Problem(
            sf.Interval(0, 1),
            lambda u, x: 0.01 * u.dxx - k(x) * u - np.sin(2 * np.pi * x),
            boundary=lambda u, x: u,
        )

    x = np.linspace(-1, 1, 12)[1:-1]
    data = sf.Data(x=x, t=1.0, u=np.exp(-1) * np.sin(np.pi * x), sigma=1e-5)
    _fitted("diffusion, 50 000 steps", diffusion, data, {"c": 1.0}, c=sf.Free(2.0))
    truth = {"d": 2.0, "k": 0.1}
    exact = sf.solve(reaction, tol=1e-8, **truth)
    x, t = (each.ravel() for each in np.meshgrid(np.linspace(0.05, 0.95, 10), np.arange(1, 11.0)))
    data = sf.Data(x=x, t=t, a=exact.a(x, t), b=exact.b(x, t), sigma=1e-5)
    free = {"d": sf.Free(1.0), "k": sf.Free(0.05)}
    _fitted("two species, 80 000 steps", reaction, data, truth, **free)

    def rate(x: Any) -> Any:
        return 0.1 + np.exp(-0.5 * ((x - 0.5) / 0.15) ** 2)

    x = np.linspace(0, 1, 102)[1:-1]
    data, started = sf.Data(x=x, u=sf.solve(varied(rate))(x), sigma=1e-4), time.process_time()
    k = sf.fit(varied, data=data, curvature=False, k=sf.FreeFunction(positive=True)).k
    off = np.linalg.norm(k(x) - rate(x)) / np.linalg.norm(rate(x))
    print(f"a rate k(x), 20 000 steps  {time.process_time() - started:.2f} s  off by {off:.1e}")


def _fitted(words: str, family: Any, data: Any, truth: dict[str, float], **free: Any) -> None:
    import sharpfront as sf

    started = time.process_time()
    found = sf.fit(family, data=data, curvature=False, **free)
    off = ", ".join(f"{found.values[n] / v - 1:+.1e}" for n, v in truth.items())
    seconds = time.process_time() - started
    print(f"{words:26} {found.solves} solves, {seconds:.2f} s  off by {off}", flush=True)


def _told(words: str, nu_e: float, k: float, started: float) -> None:
    off = f"off by {nu_e / TRUTH - 1:+.1e}, {k / TRUTH - 1:+.1e}"
    print(f"{words:24} {time.process_time() - started:7.2f} s  {off}", flush=True)


def main() -> None:
    """Run both, the network for a limited time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300.0, help="of CPU for the network")
    limit = parser.parse_args().seconds
    for way in (by_fit, others_by_fit, lambda: by_network(limit)):
        try:
            way()
        except ImportError as error:
            print(f"{error}. pip install '.[bench-network]'")


if __name__ == "__main__":
    main()
