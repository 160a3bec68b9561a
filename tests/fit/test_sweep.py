"""Many members of a family: grids, lists, processes, rows on disk."""

import os
import pickle
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.dask_cluster import local_client

import sharpfront as sf
from sharpfront.cli.sweep import Probe
from sharpfront.errors import ArgumentError, MissingExtraError, ProblemError

LINE = sf.Interval(0, 1)


def layer(nu, c=1.0):
    return sf.Problem(
        LINE, lambda u, x: -nu * u.dxx + c * u.dx, left=lambda u, x: u, right=lambda u, x: u - 1
    )


def exact(x, nu, c=1.0):
    return np.expm1(c * x / nu) / np.expm1(c / nu)


def test_a_grid_on_the_kernels_of_neighbours():
    nus, cs = np.geomspace(0.05, 0.2, 4), np.array([1.0, 2.0])
    table = sf.sweep(layer, nu=nus, c=cs, observe=lambda s: s([0.5, 0.9]), options={"tol": 1e-7})
    assert table.values.shape == (4, 2, 2) and table.converged.all() and not table.failed
    truth = exact(np.array([0.5, 0.9]), nus[:, None, None], cs[:, None])
    assert np.abs(table.values - truth).max() < 1e-7
    assert table.error_estimate.max() < 1e-7 and "all converged" in str(table)
    grid = table.to_xarray()
    assert float(grid.value.sel(nu=0.2, c=2.0).isel(item_0=1)) == table.values[3, 1, 1]


def test_kernels_that_will_not_do_for_a_neighbour_are_not_used():
    near, far = sf.solve(layer, nu=0.1), 1e-4
    values = near.member.family.values({"nu": far})
    found = near.member.neighbour(near, values, 1e-8)
    assert found.converged and abs(found(1 - far) - np.exp(-1)) < 1e-8
    assert near.member._on_kernels(near, values, 1e-8) is None
    beside = near.member._on_kernels(near, {"nu": 0.12, "c": 1.0}, 1e-6)
    assert beside is not None and beside.kernels == near.kernels
    assert abs(beside(0.9) - exact(0.9, 0.12)) < 1e-6 and beside.member.values["nu"] == 0.12


@pytest.mark.parametrize("option", ["tol", "max_kernels"])
def test_an_option_of_a_solve_has_its_place(option):
    with pytest.raises(ArgumentError, match=f"Write options=.'{option}': "):
        sf.sweep(swept_out, eps=[0.1, 0.2], **{option: 100})


def swept_out(eps):
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx + 0.5 * u.dy - 1,
        boundary=lambda u, x, y: u,
    )


@pytest.mark.parametrize(("eps", "part", "tol"), [(0.05, 0.8, 1e-4), (0.045, 0.8, 1e-4)])
def test_patches_of_a_neighbour_are_cut_where_they_do_not_do(eps, part, tol):
    first = sf.solve(swept_out, eps=eps, tol=tol)
    after = first.member.neighbour(first, {"eps": part * eps}, tol)
    assert after.converged and len(after.history) == 2 and after.kernels > first.kernels
    wanted = sf.solve(swept_out, eps=part * eps, tol=0.01 * tol)
    x, y = np.meshgrid(*[1 - np.geomspace(1e-3, 1, 25)] * 2)
    error = np.abs(after(x, y) - wanted(x, y)).max()
    assert error < tol and error < 2 * after.error_estimate


def rim(eps):
    return sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y: -(eps**2) * sf.laplacian(u) + u - np.exp(x),
        boundary=lambda u, x, y: u,
    )


@pytest.mark.parametrize(("eps", "part"), [(0.2, 0.7), (0.21, 0.8), (0.19, 0.75)])
def test_the_estimate_on_the_patches_of_a_neighbour_grows_as_the_error_does(eps, part):
    first = sf.solve(rim, eps=eps, tol=1e-6)
    after = first.member.neighbour(first, {"eps": part * eps}, 1e-3)
    assert "of a neighbour" in str(after.outcome) and after.kernels == first.kernels
    wanted = sf.solve(rim, eps=part * eps, tol=1e-8)
    radius, angle = np.meshgrid(1 - np.geomspace(1e-3, 1, 30), np.linspace(0, 6, 20))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    error = np.abs(after(x, y) - wanted(x, y)).max() / np.abs(wanted(x, y)).max()
    assert 0.5 * error < after.error_estimate < 20 * error
    assert after.error_estimate > 3 * first.error_estimate
    # Three steps away patches are those of the first, and so is what the estimate is told by.
    third = after.member.neighbour(after, {"eps": eps}, 1e-3)
    assert third.error_estimate == pytest.approx(first.error_estimate, rel=0.05)


@pytest.mark.parametrize(("wind", "before"), [(8.0, 30.0), (10.0, 40.0), (6.0, 20.0)])
def test_a_resonance_is_seen_on_the_patches_of_a_neighbour(wind, before):
    def carried(k):
        return sf.Problem(
            sf.Box((0, 1), (0, 1)),
            lambda u, x, y: -sf.laplacian(u) + wind * u.dx - k * u - 1,
            boundary=lambda u, x, y: u,
        )

    near = sf.solve(carried, k=before, tol=1e-4)
    # Solutions are damped more than they oscillate.
    resonance = wind**2 / 4 + 2 * np.pi**2
    found = near.member._on_kernels(near, {"k": resonance * (1 - 1e-6)}, 1e-4)
    assert near.converged and found is None


def test_far_neighbours_and_those_with_other_functions_of_corners_are_solved_afresh():
    first = sf.solve(swept_out, eps=0.1, tol=1e-3)
    afresh = first.member.neighbour(first, {"eps": 0.14}, 1e-3)
    assert afresh.kernels < 0.5 * first.kernels
    # Patches are those of the first, three times as narrow.
    first = sf.solve(swept_out, eps=0.03, tol=1e-3)
    second = first.member._on_kernels(first, {"eps": 0.045}, 1e-3)
    assert second is not None
    assert second.member._on_kernels(second, {"eps": 0.09}, 1e-3) is None


def spike(a):
    return sf.Problem(
        LINE,
        lambda u, x: -u.dxx + u - 1e4 * np.exp(-(((x - a) / 1e-4) ** 2)) - 1,
        boundary=lambda u, x: u,
    )


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.35), (0.7, 0.2001)])
def test_what_moves_is_not_missed_between_the_kernels_of_a_neighbour(a, b):
    near = sf.solve(spike, a=a, tol=1e-6)
    found = near.member.neighbour(near, {"a": b}, 1e-6)
    assert abs(found(b) - sf.solve(spike(b), tol=1e-8)(b)) < 1e-6


def moody(nu):
    if nu > 0.25:
        raise ValueError("too large")
    return layer(nu)


def test_values_that_fail_are_rows_and_a_list_is_swept_in_order():
    points = [{"nu": 0.1}, {"nu": 0.3}, {"nu": 0.2}]
    table = sf.sweep(moody, points=points, observe=lambda s: s(0.5))
    assert table.converged.tolist() == [True, False, True] and np.isnan(table.values[1])
    assert table.failed == {(0.3,): "ValueError: too large"}
    assert table.to_xarray().nu.values.tolist() == [0.1, 0.3, 0.2]


def deadly(nu, folder):
    """Kill the worker: always at 0.2, at 0.3 once only."""
    mark = Path(folder) / "once"
    if nu == 0.2 or (nu == 0.3 and not mark.exists()):
        mark.touch() if nu == 0.3 else None
        os.kill(os.getpid(), signal.SIGKILL)
    return layer(nu)


def test_a_killed_worker_loses_no_row_and_the_sweep_ends(tmp_path):
    nus = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35]
    table = sf.sweep(deadly, nu=nus, folder=str(tmp_path), observe=lambda s: s(0.5), workers=2)
    assert list(table.failed) == [(0.2,)] and "died" in table.failed[0.2,]
    rest = [i for i in range(6) if i != 2]
    assert np.abs(table.values[rest] - exact(0.5, np.array(nus)[rest])).max() < 1e-7


@pytest.mark.filterwarnings("ignore")
def test_on_workers_of_dask_a_killed_one_loses_no_row(tmp_path):
    nus = [0.1, 0.15, 0.25, 0.3, 0.35]
    with local_client(1) as client:
        folder, rows = str(tmp_path), tmp_path / "rows"
        table = sf.sweep(
            deadly, nu=nus, folder=folder, observe=lambda s: s(0.5), client=client, into=rows
        )
    assert (tmp_path / "once").exists() and table.converged.all()
    assert np.abs(table.values - exact(0.5, np.array(nus))).max() < 1e-7
    assert len((rows / "rows.jsonl").read_text().splitlines()) == 5


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[distributed\]"):
        sf.sweep(layer, nu=[0.1], client="tcp://10.0.0.1:8786")


def test_rows_are_on_disk_at_once_and_a_sweep_goes_on(tmp_path):
    seen = []

    def interrupted(row):
        seen.append(row.index)
        if len(seen) == 2:
            raise KeyboardInterrupt

    nus = [0.1, 0.2, 0.3]
    with pytest.raises(KeyboardInterrupt):
        sf.sweep(layer, nu=nus, into=tmp_path, on_row=interrupted)
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write("[2, 0.5, 1e")  # a line that was cut short
    with pytest.raises(ProblemError, match="resume=True"):
        sf.sweep(layer, nu=nus, into=tmp_path)
    with pytest.raises(ProblemError, match="other values"):
        sf.sweep(layer, nu=[0.1, 0.5], into=tmp_path, resume=True)
    later = []
    table = sf.sweep(layer, nu=nus, into=tmp_path, resume=True, on_row=later.append)
    assert [row.index for row in later] == [2] and table.converged.all()
    again = []
    sf.sweep(layer, nu=nus, into=tmp_path, resume=True, keep="solutions", on_row=again.append)
    assert [row.index for row in again] == [0, 1, 2]  # none of them was kept before
    assert sf.load(tmp_path / "row-2.npz")(0.5) == pytest.approx(exact(0.5, 0.3), abs=1e-7)


def at_place(solution):
    return solution(0.99)


def test_rows_of_other_places_are_not_taken_for_those_asked_for(tmp_path):
    stated = {"nu": [0.1, 0.2], "into": tmp_path, "resume": True}
    sf.sweep(layer, observe=Probe(((0.99,),)), **stated)
    with pytest.raises(ProblemError, match="observe="):
        sf.sweep(layer, observe=Probe(((0.5,),)), **stated)
    again = sf.sweep(layer, observe=Probe(((0.99,),)), **stated)
    assert again.values[:, 0] == pytest.approx([exact(0.99, 0.1), exact(0.99, 0.2)], abs=1e-7)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"c": 3.0}, "fixed"),
        ({"options": {"tol": 1e-10}}, "options"),
        ({"observe": at_place}, "observe="),
        ({"nu": None, "points": [{"nu": 0.1}, {"nu": 0.2}]}, "values"),
    ],
)
def test_rows_of_another_sweep_are_not_taken_for_its_own(tmp_path, other, words):
    stated = {"nu": [0.1, 0.2], "c": 1.0, "into": tmp_path, "resume": True}
    sf.sweep(layer, **stated)
    changed = {k: v for k, v in {**stated, **other}.items() if v is not None}
    with pytest.raises(ProblemError, match=words):
        sf.sweep(layer, **changed)


def test_points_are_read_by_name_in_any_order():
    table = sf.sweep(
        layer, points=[{"nu": 0.1, "c": 1.0}, {"c": 2.0, "nu": 0.3}], observe=lambda s: s(0.5)
    )
    assert table.values == pytest.approx([exact(0.5, 0.1), exact(0.5, 0.3, 2.0)], abs=1e-7)


@pytest.mark.parametrize("observe", [lambda s: None, lambda s: "text", lambda s: {"a": 1.0}])
def test_what_is_no_number_is_a_row_that_failed(observe):
    table = sf.sweep(layer, nu=[0.1, 0.2], observe=observe)
    assert len(table.failed) == 2 and np.isnan(table.values).all()


def test_observations_of_different_shapes_are_told():
    table = sf.sweep(layer, nu=[1.0, 2.0], observe=lambda s: np.ones(int(s.member.values["nu"])))
    with pytest.raises(ProblemError, match="differs in shape"):
        table.to_xarray()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sf.sweep(layer, nu=0.1), "Nothing varies"),
        (lambda: sf.sweep(layer, nu=[np.nan]), "finite numbers"),
        (lambda: sf.sweep(layer, mu=[0.1]), "'mu' is neither"),
        (lambda: sf.sweep(layer, nu=[0.1], keep="all"), "keep"),
        (lambda: sf.sweep(layer, nu=[0.1], resume=True), 'into="folder"'),
        (lambda: sf.sweep(layer, points=[{"nu": 1.0}, {"c": 1.0}]), "points="),
        (lambda: sf.sweep(layer, points=[1.0, 2.0]), "points="),
        (lambda: sf.sweep(layer, points=[{"nu": "a"}]), "finite numbers"),
        (lambda: sf.sweep(layer, nu=[]), "finite numbers"),
        (lambda: sf.sweep(layer, nu=np.ones((2, 2))), "finite numbers"),
        (lambda: sf.sweep(layer, nu=["a"]), "finite numbers"),
        (lambda: sf.sweep(layer, nu=[0.1], options={"toll": 1e-3}), "'toll' is neither"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises((ProblemError, TypeError), match=words):
        call()


def table_of(x):
    return np.interp(x, [0, 1], [1, 3])


table_like = sf.function(table_of)


def test_functions_of_a_script_travel_with_the_package_that_they_name():
    # A worker of dask gets them by value, and what they name with them.
    assert pickle.loads(pickle.dumps(sf)) is sf
    cloudpickle = pytest.importorskip("cloudpickle")
    there: dict[str, object] = {"__name__": "__main__", "sf": sf}
    exec("def line(a): return sf.Problem(sf.Interval(0, 1), 'u_x = a', left='u = 0', "
         "parameters={'a': a})", there)  # fmt: skip
    found = pickle.loads(cloudpickle.dumps(there["line"]))
    assert sf.solve(found(2.0))(1.0) == pytest.approx(2.0)


@pytest.mark.parametrize(
    "initial",
    [
        "sin(pi*x)",
        0.0,
        np.cos,
        table_of,
        {"u": np.sin},
        lambda x: np.where(x < 0.3, 1.0, x**2),
        lambda x: 0.5,
        lambda x: table_like(x) * np.exp(-x),
    ],
)
def test_problems_in_time_and_with_tables_pickle(initial):
    k = sf.function(table_of)
    problem = sf.Problem(
        LINE,
        lambda u, x, t: u.dt - u.dxx + k(x) * u,
        boundary=lambda u, x, t: u,
        initial=initial,
        time=(0, 0.1),
    )
    again = pickle.loads(pickle.dumps(problem))
    x = np.linspace(0, 1, 5)[:, None]
    assert repr(again) == repr(problem)
    assert np.allclose(
        again.initial.values("u", x), problem.initial.values("u", x), rtol=1e-15, atol=0.0
    )
