"""A parameter found by a neural network: DeepXDE's Brinkman-Forchheimer example, beside `sf.fit`.

    pip install '.[bench-network]'
    DDE_BACKEND=pytorch python benchmarks/network.py --seconds 300

Flow between two plates through a porous medium, nu_e and K from five exact measurements, both
started a hundred times too large. The network has the settings that DeepXDE publishes with its
example: 3 layers of 20, tanh, Adam at 1e-3, 30 000 steps, 100 points. CPU seconds of one core.
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


def _told(words: str, nu_e: float, k: float, started: float) -> None:
    off = f"off by {nu_e / TRUTH - 1:+.1e}, {k / TRUTH - 1:+.1e}"
    print(f"{words:24} {time.process_time() - started:7.2f} s  {off}", flush=True)


def main() -> None:
    """Run both, the network for a limited time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=300.0, help="of CPU for the network")
    limit = parser.parse_args().seconds
    for way in (by_fit, lambda: by_network(limit)):
        try:
            way()
        except ImportError as error:
            print(f"{error}. pip install '.[bench-network]'")


if __name__ == "__main__":
    main()
