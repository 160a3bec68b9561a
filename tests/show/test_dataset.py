"""Solutions as xarray datasets."""

import sys
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import DomainError, MissingExtraError, Outcome, OutcomeKind, ProblemError
from sharpfront.geometry import SpaceTime
from sharpfront.show.dataset import to_xarray
from sharpfront.solution import Estimate, Solution
from sharpfront.solution.approximation import Approximation

# Loaded by the tests themselves: it takes as long as collecting a thousand of them.
pytestmark = pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray")


@pytest.fixture(scope="module")
def layer():
    problem = sf.Problem(sf.Interval(0, 1), "-0.001*u_xx + u_x = 0", left="u = 0", right="u = 1")
    return sf.solve(problem)


@dataclass(frozen=True)
class Wave:
    """sin(x - t), as a basis of one function."""

    dimension: int = 2
    size: int = 1
    kernels: int = 1

    def values(self, weights, points, orders):
        return weights[0] * np.sin(points[:, 0] - points[:, 1])


@pytest.fixture
def wave():
    return Solution(
        Approximation(("x", "t"), {"u": Wave()}, {"u": np.ones(1)}),
        SpaceTime(sf.Interval(0, 2), (0.0, 1.0)),
        Estimate(0.0, "a formula"),
        Outcome(OutcomeKind.CONVERGED),
        1e-8,
        (),
        {},
    )


def test_values_coordinates_and_words(layer):
    data = layer.to_xarray()
    assert data.u.dims == ("x",)
    assert np.array_equal(data.u.values, layer(data.x.values))
    assert data.x.values[[0, -1]].tolist() == [0, 1]
    assert data.attrs["tol"] == layer.tol
    assert data.attrs["error_estimate"] == layer.error_estimate
    assert data.attrs["outcome"] == "converged"
    assert "u_xx" in data.attrs["statement"]


def test_places_follow_the_kernels(layer):
    x = to_xarray(layer).x.values
    assert len(x) <= 1010
    assert np.sum(x > 0.99) > 0.2 * len(x)
    assert np.max(np.diff(x)) < 0.01


def test_places_can_be_given(layer):
    data = layer.to_xarray(x=[0.1, 0.5, 0.9])
    assert data.x.values.tolist() == [0.1, 0.5, 0.9]
    assert float(data.u.sel(x=0.5)) == pytest.approx(layer(0.5), abs=1e-13)
    assert 10 < len(layer.to_xarray(x=30).x) <= 31


def test_nothing_outside_a_shape():
    problem = sf.Problem(
        sf.Disk((0, 0), 1), lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u
    )
    disk = sf.solve(problem, tol=0.1)
    data = disk.to_xarray(x=21, y=[-0.5, 0.0, 0.5])
    outside = data.x**2 + data.y**2 > 1
    assert np.isnan(data.u.where(outside, drop=True)).sum() == outside.sum()
    assert not np.isnan(data.u.where(~outside, 0.0)).any()
    assert data.u.sel(x=0, y=0, method="nearest") == pytest.approx(0.25, abs=0.05)


def test_several_unknowns():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, v, x, y: (-sf.laplacian(u) - v, -sf.laplacian(v) - 1),
        boundary=lambda u, v, x, y: (u, v),
    )
    pair = sf.solve(problem, tol=0.1, max_kernels=200)
    data = pair.to_xarray(x=5, y=4)
    assert set(data.data_vars) == {"u", "v"}
    assert np.array_equal(data.v.values, pair.v(data.x.values[:, None], data.y.values[None, :]))


@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_tables_have_a_row_for_each_place_inside(wave, tmp_path, suffix):
    disk = sf.Problem(sf.Disk((0, 0), 1), "-laplacian(u) = 4", boundary="u = 0")
    for solution in (sf.solve(disk), wave):
        if suffix:
            text = sf.export(solution, tmp_path / f"t{suffix}", resolution=9).read_text()
            names, *lines = text.splitlines()
            table = np.array([row.split(",") for row in lines], dtype=float)
            columns = dict(zip(names.split(","), table.T, strict=True))
        else:
            pytest.importorskip("pandas")
            frame = solution.to_dataframe(x=9)
            assert frame.attrs["tol"] == solution.tol
            columns = {name: frame[name].to_numpy() for name in frame}
        assert [*columns] == [*solution.approximation.coordinates, "u"]
        *at, values = columns.values()
        assert np.all(solution(*at) == values)
        assert solution.domain.contains(np.stack(at, axis=1)).all()


def test_time_is_a_dimension(wave):
    data = wave.to_xarray(x=11)
    assert data.u.dims == ("x", "t")
    assert len(data.t) == 101
    assert np.allclose(data.u, np.sin(data.x - data.t))
    assert wave.to_xarray(t=[0.25]).u.shape[1] == 1


def test_netcdf_files_come_back(layer, wave, tmp_path):
    import xarray

    path = sf.export(layer, tmp_path / "layer.nc")
    with xarray.open_dataset(path, engine="scipy") as data:
        assert np.array_equal(data.u.values, layer(data.x.values))
        assert data.attrs["outcome"] == "converged"
    assert list(tmp_path.iterdir()) == [path]
    with xarray.open_dataset(sf.export(wave, tmp_path / "wave.nc", resolution=9)) as data:
        assert data.u.shape[1] == 101
    with pytest.raises(DomainError, match=r"writes a problem in time as \.nc"):
        pytest.importorskip("meshio")
        sf.export(wave, tmp_path / "wave.vtu")


def test_a_data_frame_needs_pandas(layer, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pandas"):
        layer.to_dataframe()


def test_slips_are_named(layer, monkeypatch):
    with pytest.raises(ProblemError, match="y is not a coordinate of this solution; they are x"):
        layer.to_xarray(y=[0.5])
    with pytest.raises(ProblemError, match="array of increasing numbers"):
        layer.to_xarray(x=[0.5, 0.1])
    with pytest.raises(ProblemError, match="runs from 0 to 2; the solution holds from 0 to 1"):
        layer.to_xarray(x=[0, 2])
    with pytest.raises(ProblemError, match="a number of 2 or more, got 1"):
        layer.to_xarray(x=1)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingExtraError, match=r"xarray.*sharpfront\[export\]"):
        layer.to_xarray()
