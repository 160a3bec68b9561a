"""A physics-informed neural network, trained until its time is up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sharpfront.equation.expression import Apply, Derivative
from sharpfront.equation.graph import derivatives_in, evaluate, ordered
from sharpfront.equation.values import environment
from sharpfront.problem import Problem
from sharpfront.rivals.collocation import AtPoints, Held, held_at, per_face, region
from sharpfront.rivals.contract import Found, Setting, Subject

_TRAINED_AT = 1000
# Torch's functions by NumPy's names, where they differ.
_OTHER_NAMES = {"divide": "true_divide", "power": "pow", "absolute": "abs", "arctan": "atan"}
# Steps of Adam before L-BFGS takes over, in parts of the time.
_ADAM = 0.6


def _unfit(problem: Problem) -> bool:
    """Tell whether a function of an unknown is none that torch has."""
    import torch

    def known(name: str) -> bool:
        return hasattr(torch, _OTHER_NAMES.get(name, name))

    residuals = [*problem.equations, *(r for c in problem.conditions for r in c.residuals)]
    return not all(
        known(node.function.name)
        for e in residuals
        for node in ordered(e)
        if isinstance(node, Apply) and derivatives_in(node)
    )


class Pinn(AtPoints):
    """Adam, then L-BFGS, on the mean squared residual; conditions weigh as a setting says."""

    def applies(self, subject: Subject) -> str:
        """Return why not."""
        foreign = "a function of the unknown is none of torch's"
        return super().applies(subject) or (foreign if _unfit(subject.problem) else "")

    def settings(self, subject: Subject) -> tuple[Setting, ...]:
        """Return networks and weights, with parts of the time."""
        return tuple(
            Setting(
                f"3 layers of {width}, inputs times {scale:g}, conditions times {weight:g}, "
                f"{share:.0%} of the time",
                {"width": width, "scale": scale, "weight": weight},
                share,
            )
            for width, scale, weight, share in (
                (20, 1.0, 1.0, 0.1),
                (20, 1.0, 100.0, 0.25),
                (20, 10.0, 100.0, 0.3),
                (40, 1.0, 1000.0, 0.35),
            )
        )

    def solve(self, subject: Subject, setting: Setting, seed: int, seconds: float) -> Found:
        """Return the network as trained when the time is up."""
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64)
        # The clock outside would take all of it away.
        stop = time.process_time() + 0.85 * seconds
        training = _Training(subject.problem, setting.values, seed)
        training.run(stop, seconds)
        return {n: training.field(i) for i, n in enumerate(subject.problem.unknowns)}


class _EnoughError(Exception):
    """The time is up."""


class _Training:
    """A network, its points, and the loss."""

    def __init__(self, problem: Problem, values: Mapping[str, Any], seed: int) -> None:
        import torch

        self.torch, self.problem, self.weight = torch, problem, values["weight"]
        domain = region(problem)
        low, high = domain.bounds
        self.middle = torch.tensor(0.5 * (low + high))
        self.factor = torch.tensor(2.0 * values["scale"] / (high - low))
        sizes = [len(low), *[values["width"]] * 3, len(problem.unknowns)]
        layers: list[Any] = []
        for i, (a, b) in enumerate(pairwise(sizes)):
            layers += [torch.nn.Linear(a, b), torch.nn.Tanh()] if i < 3 else [torch.nn.Linear(a, b)]
        self.network = torch.nn.Sequential(*layers)
        inside = domain.sample(_TRAINED_AT, "quasi", seed)
        held = held_at(problem, inside, per_face(_TRAINED_AT, len(low)), seed)
        self.rows = [_TrainedRow(torch, problem, each) for each in held]

    def outputs(self, points: Any) -> Any:
        """Return all unknowns at points (m, d)."""
        return self.network((points - self.middle) * self.factor)

    def loss(self) -> Any:
        """Return the mean squared residuals, weighed."""
        total: Any = 0.0
        for row in self.rows:
            size = self.torch.mean(row.residual(self.outputs) ** 2)
            total = total + (size if row.held.inside else self.weight * size)
        return total

    def run(self, stop: float, seconds: float) -> None:
        """Train by Adam, and by L-BFGS for the rest of the time."""
        torch, switch = self.torch, stop - (1 - _ADAM) * seconds
        optimiser = torch.optim.Adam(self.network.parameters(), lr=3e-3)
        while time.process_time() < switch:
            optimiser.zero_grad()
            self.loss().backward()
            optimiser.step()
        optimiser = torch.optim.LBFGS(
            self.network.parameters(), max_iter=10, history_size=50, line_search_fn="strong_wolfe"
        )
        lowest, best = float("inf"), self.network.state_dict()

        def closure() -> Any:
            nonlocal lowest, best
            if time.process_time() > stop:
                raise _EnoughError
            optimiser.zero_grad()
            value = self.loss()
            value.backward()
            size = float(value.detach())
            if size < lowest:
                lowest = size
                best = {k: v.clone() for k, v in self.network.state_dict().items()}
            return value

        with contextlib.suppress(_EnoughError):
            while True:
                optimiser.step(closure)
        # A line search may have been left half-way.
        self.network.load_state_dict(best)

    def field(self, index: int) -> Callable[..., Any]:
        """Return an unknown as a function of the coordinates."""

        def at(*coordinates: Any) -> Any:
            arrays = np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in coordinates))
            points = self.torch.tensor(np.stack([a.ravel() for a in arrays], axis=1))
            with self.torch.no_grad():
                return self.outputs(points)[:, index].numpy().reshape(arrays[0].shape)

        return at


class _TrainedRow:
    """A residual at its points, evaluated by torch where it depends on the unknowns."""

    def __init__(self, torch: Any, problem: Problem, held: Held) -> None:
        self.torch, self.problem, self.held = torch, problem, held
        self.points = torch.tensor(held.points, requires_grad=True)
        self.mirror = None if held.mirror is None else torch.tensor(held.mirror, requires_grad=True)
        self.known = None if held.known is None else torch.tensor(held.known)
        leaves = environment(problem.coordinates, held.points, held.normals)
        self.nodes = list(ordered(held.residual))
        self.fixed = {
            id(n): torch.tensor(np.asarray(evaluate(n, leaves), dtype=float))
            for n in self.nodes
            if not derivatives_in(n)
        }

    def residual(self, outputs: Callable[[Any], Any]) -> Any:
        """Return the residual of a network's outputs, (m,)."""
        found = self._inserted(outputs(self.points), self.points)
        if self.known is not None:
            found = found - self.known
        if self.mirror is not None:
            found = found - self._inserted(outputs(self.mirror), self.mirror)
        return found

    def _inserted(self, u: Any, points: Any) -> Any:
        values: dict[int, Any] = dict(self.fixed)
        known: dict[tuple[str, tuple[int, ...]], Any] = {}
        for node in self.nodes:
            if isinstance(node, Derivative):
                values[id(node)] = self._derivative(node.unknown, node.orders, u, points, known)
            elif isinstance(node, Apply) and id(node) not in values:
                name = node.function.name
                call = getattr(self.torch, _OTHER_NAMES.get(name, name))
                values[id(node)] = call(*(values[id(a)] for a in node.arguments))
        return values[id(self.held.residual)]

    def _derivative(
        self, name: str, orders: Sequence[int], u: Any, points: Any, known: dict[Any, Any]
    ) -> Any:
        """Return a derivative from the one of an order less, each worked out once."""
        key = (name, tuple(orders))
        if key not in known:
            if not any(orders):
                known[key] = u[:, self.problem.unknowns.index(name)]
            else:
                axis = next(i for i, n in enumerate(orders) if n)
                lower = [n - (i == axis) for i, n in enumerate(orders)]
                below = self._derivative(name, lower, u, points, known)
                grad = self.torch.autograd.grad(below.sum(), points, create_graph=True)[0]
                known[key] = grad[:, axis]
        return known[key]


PINN = Pinn(
    "pinn",
    "PINN",
    "Raissi, Perdikaris and Karniadakis, Physics-informed neural networks, JCP 378 (2019)",
    needs=("torch",),
    drawn=True,
)
