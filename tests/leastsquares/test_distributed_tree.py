"""A tree on a cluster gives the answer of one machine, and outlives its workers."""

import importlib
import os
import pickle
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.dask_cluster import local_client
from tests.leastsquares.test_device import solved
from tests.leastsquares.test_gram import PAIR, PLATE, of_order_two

import sharpfront as sf
from sharpfront.errors import ArgumentError, MissingExtraError, ProblemError
from sharpfront.leastsquares import distributed_tree
from sharpfront.leastsquares.merges import Front
from sharpfront.leastsquares.traces import Tree


class Here:
    """Runs tasks at once, each with arguments that have travelled."""

    def __init__(self, workers):
        self.workers, self.travelled = workers, []

    def scheduler_info(self, n_workers):
        return {"workers": dict.fromkeys(range(self.workers))}

    def submit(self, function, *arguments, pure):
        self.travelled += [a for a in arguments if function.__name__ == "_merged_above"]
        return function(*(pickle.loads(pickle.dumps(a)) for a in arguments))


class Orthogonal(Tree):
    """One machine, QR throughout."""

    def factor(self, system):
        order = self.elimination(system)
        return system, order.solve(self._leaves(system, order), gram=False)


@pytest.mark.parametrize(
    ("problem", "counts", "functions", "workers"),
    [
        (of_order_two(0.7, 5.0, -30.0), (7, 6), (5, 6), 2),
        (of_order_two(0.0, 0.0, 0.0), (2, 9), (6, 5), 3),
        (PAIR, (4, 5), (6, 6), 1),
        (PLATE, (5, 4), (7, 7), 5),
        (of_order_two(0.3, 1.0, 0.0), (1, 1), (6, 6), 2),
    ],
)
def test_the_answer_is_that_of_one_machine(problem, counts, functions, workers, monkeypatch):
    monkeypatch.setattr(distributed_tree, "gathered", lambda client, futures: futures)
    monkeypatch.setattr(distributed_tree, "as_bytes", lambda value: pickle.dumps(Held(value)))
    bounds = problem.domain.bounds.T
    lines = [np.linspace(*b, n + 1) ** 1.5 for b, n in zip(bounds, counts, strict=True)]
    client = Here(workers)
    found, columns = solved(problem, lines, functions, Tree(cluster=client, large=0))
    wanted, others = solved(problem, lines, functions, Orthogonal())
    np.testing.assert_allclose(columns, others, atol=1e-11 * np.abs(others).max())
    assert found.condition == pytest.approx(wanted.condition, rel=1e-9)
    assert found.residual_norm == pytest.approx(wanted.residual_norm, rel=1e-12, abs=1e-15)
    # What travels to a merge is a triangle over the rim, never a cell.
    fronts = [f for f in client.travelled if isinstance(f, Front)]
    assert len(fronts) >= min(2, workers) * (counts[0] * counts[1] > 16)
    assert all(f.triangle.shape == (len(f.index),) * 2 for f in fronts)


class Held:
    """Something that need not travel, as closures of a test."""

    every: ClassVar[list] = []

    def __init__(self, value):
        self.every.append(value)
        self.place = len(self.every) - 1

    def __reduce__(self):
        return held, (self.place,)


def held(place):
    return Held.every[place]


def deadly(x, folder, mother):
    """The source; the first worker that asks for it dies."""
    marker = Path(folder) / "once"
    if os.getpid() != mother and not marker.exists():
        marker.touch()
        os._exit(1)
    return np.exp(x)


def with_source(source, domain=None):
    return sf.Problem(
        domain or sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - sf.function(source)(x) * (1 + y),
        boundary=lambda u, x, y: u,
    )


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_takes_nothing_along(tmp_path):
    folder, mother = str(tmp_path), os.getpid()
    problem = with_source(lambda x: deadly(x, folder, mother))
    lines = [np.linspace(0, 1, 8) ** 2, np.linspace(0, 1, 6)]
    with local_client(2) as client:
        _, columns = solved(problem, lines, (6, 6), Tree(cluster=client, large=0))
    assert (tmp_path / "once").exists()
    _, others = solved(problem, lines, (6, 6), Orthogonal())
    np.testing.assert_allclose(columns, others, atol=1e-11)


def test_a_whole_solve_on_a_cluster_is_that_of_one_machine(monkeypatch):
    monkeypatch.setattr(distributed_tree, "gathered", lambda client, futures: futures)
    monkeypatch.setattr(distributed_tree, "as_bytes", lambda value: pickle.dumps(Held(value)))
    monkeypatch.setattr(
        importlib.import_module("sharpfront.solve.strategy"),
        "connected",
        lambda client, name: client,
    )
    corner = sf.Box((0, 1), (0, 1)) - sf.Box((0.5, 1), (0.5, 1))
    client = Here(2)
    # Coefficients vary, and patches are cut towards corners: with functions of these eight will do.
    problem = sf.Problem(
        corner,
        lambda u, x, y: -(1 + x) * u.dxx - u.dyy - sf.function(np.exp)(x) * (1 + y),
        boundary=lambda u, x, y: u,
    )
    adaptor = sf.Patches(leastsquares=Tree(large=1))
    found = sf.solve(problem, tol=1e-2, adaptor=adaptor, cluster=client)
    wanted = sf.solve(problem, tol=1e-2, adaptor=sf.Patches())
    x, y = 0.5 * np.random.default_rng(0).random((2, 50))
    np.testing.assert_allclose(found(x, y), wanted(x, y), rtol=1e-9, atol=1e-11)
    assert client.travelled and found.converged


def test_what_cannot_go_to_a_cluster_is_said(monkeypatch):
    plane = with_source(np.exp)
    line = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx - 1, boundary=lambda u, x: u)
    with pytest.raises(ProblemError, match=r"cluster= has no meaning .* not solved on patches"):
        sf.solve(line, cluster="tcp://10.0.0.1:8786")
    with pytest.raises(ProblemError, match="device= has no meaning together with cluster="):
        sf.solve(plane, cluster="tcp://10.0.0.1:8786", device="cuda")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[distributed\]"):
        sf.solve(plane, cluster="tcp://10.0.0.1:8786")


def test_something_else_than_a_client_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises((ArgumentError, ProblemError), match="cluster"):
        sf.solve(with_source(np.exp), cluster=3)
