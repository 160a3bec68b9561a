"""What pictures show, read back from Matplotlib's own objects."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.lazy import Lazy
from tests.show import solutions

import sharpfront as sf
from sharpfront.adapt import Paper
from sharpfront.errors import MissingExtraError, ProblemError
from sharpfront.show.data.kernels import Kernels, kernels_of, section
from sharpfront.show.data.quantity import Quantity, colour_scale
from sharpfront.show.data.raster import outline_of, raster
from sharpfront.show.figures.plane import MOST_ELLIPSES, draw_ellipses, surface_of

art3d = Lazy("mpl_toolkits.mplot3d.art3d")
plt = Lazy("matplotlib.pyplot")
SQUARE = sf.Box((0, 1), (0, 1))


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def layer():
    """A layer of width 1e-4 at the right wall."""
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-4 * sf.laplacian(u) + u.dx - 1,
        left=lambda u, x, y: u,
        right=lambda u, x, y: u,
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
    )
    return sf.solve(problem, tol=1e-2, max_kernels=400)


@pytest.fixture(scope="module")
def disk():
    """An odd function of x on a disk."""
    problem = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda u, x, y: -sf.laplacian(u) - np.sin(3 * x),
        boundary=lambda u, x, y: u,
    )
    return sf.solve(problem, tol=1e-2)


@pytest.fixture(scope="module")
def cube():
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 2)),
        lambda u, x, y, z: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y, z: u - z,
    )
    return sf.solve(problem, tol=0.1, max_kernels=130)


@pytest.fixture(scope="module")
def line():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -1e-4 * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    return sf.solve(problem)


def image(axes):
    return axes.images[0]


# The plane


def test_a_layer_thinner_than_a_dot_is_drawn_as_a_line(layer):
    axes = layer.plot()
    values = image(axes).get_array()
    assert np.all(values[:, -2] > 0.95)
    assert np.all(values[:, -1] < 0.05)
    assert "narrower than a dot" in axes.get_title()
    assert axes.get_aspect() == 1.0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")


def test_a_range_zooms_into_the_layer(layer):
    values = image(layer.plot(x=(0.999, 1))).get_array()
    middles = 0.999 + 1e-3 * (np.arange(values.shape[1]) + 0.5) / values.shape[1]
    y = (np.arange(values.shape[0]) + 0.5) / values.shape[0]
    assert np.allclose(values, layer(middles, y[:, None]), atol=1e-12)
    assert np.sum((values[100] > 0.1) & (values[100] < 0.9)) > 20


def test_values_are_shown_where_they_are(disk):
    axes = disk.plot(resolution=60)
    values, (x0, x1, y0, y1) = image(axes).get_array(), image(axes).get_extent()
    rows, columns = values.shape
    x = x0 + (x1 - x0) * (np.arange(columns) + 0.5) / columns
    y = y0 + (y1 - y0) * (np.arange(rows) + 0.5) / rows
    inner = (x**2 + y[:, None] ** 2) < 0.9
    grid = np.broadcast_arrays(x, y[:, None])
    assert np.allclose(values[inner], disk(grid[0][inner], grid[1][inner]), atol=1e-12)
    assert np.all(np.ma.getmaskarray(values)[[0, 0, -1, -1], [0, -1, 0, -1]])
    clip = image(axes).get_clip_path().get_fully_transformed_path()
    inside = axes.transData.transform([(0.7, 0.7), (0.72, 0.72)])
    assert clip.contains_points(inside).tolist() == [True, False]


def test_values_of_both_signs_get_a_diverging_scale(disk, layer):
    odd = image(disk.plot())
    assert odd.get_cmap().name == "RdBu_r"
    assert odd.get_clim()[0] == -odd.get_clim()[1]
    assert image(layer.plot()).get_cmap().name == "viridis"


def test_differences_below_the_error_are_not_drawn():
    low, high, _ = colour_scale((-1e-4, 1e-4), Quantity("u", np.sin, noise=1e-2))
    assert high - low >= 1e-2
    assert colour_scale((1.0, 1.0), Quantity("u", np.sin))[0] < 1.0
    assert colour_scale((-0.5, 1.0), Quantity("u", np.sin)) == (-1.0, 1.0, "RdBu_r")
    assert colour_scale((-0.1, 1.0), Quantity("u", np.sin)) == (-0.1, 1.0, "viridis")


def test_a_spike_between_dots_is_seen_and_a_front_is_not_moved():
    where = section(SQUARE, ("x", "y"), {})
    at, width = 0.503, 1e-5
    centres = np.stack([np.full(40, at), (np.arange(40) + 0.5) / 40], axis=1)
    covariances = np.tile(np.diag([width**2, 0.02**2]), (40, 1, 1))
    kernels = Kernels(centres, covariances)
    spike = raster(lambda p: np.exp(-(((p[:, 0] - at) / width) ** 2)), SQUARE, where, kernels, 100)
    assert np.all(spike.values[:, 50] == 1.0)
    assert np.all(np.delete(spike.values, 50, axis=1) == 0.0)
    front = raster(lambda p: np.tanh((p[:, 0] - at) / width), SQUARE, where, kernels, 100)
    assert np.all(front.values[:, :50] == -1.0)
    assert np.all(front.values[:, 51:] == 1.0)


def test_outlines_have_their_holes():
    ring = sf.Disk((0, 0), 1) - sf.Disk((0, 0), 0.5)
    rings = outline_of(ring, section(ring, ("x", "y"), {})).to_polygons()
    signed = [0.5 * np.sum(p[:-1, 0] * p[1:, 1] - p[1:, 0] * p[:-1, 1]) for p in rings]
    assert np.isclose(sum(signed), np.pi * 0.75, rtol=1e-3)


def test_long_boxes_are_stretched():
    strip = sf.Box((0, 10), (0, 1))
    problem = sf.Problem(strip, lambda u, x, y: u - y, boundary=lambda u, x, y: u - y)
    axes = sf.solve(problem, tol=0.1, max_kernels=60).plot(resolution=50)
    assert axes.get_aspect() == "auto"
    assert image(axes).get_array().shape == (50, 50)


# Kernels


def test_ellipses_are_turned_and_thinned():
    turned = np.array([[2.5, 1.5], [1.5, 2.5]])
    _, axes = plt.subplots()
    domain = sf.Box((-1, 1), (-1, 1))
    picture = raster(
        lambda points: points[:, 0],
        domain,
        section(domain, ("x", "y"), {}),
        Kernels(np.zeros((0, 2)), np.zeros((0, 2, 2))),
        10,
    )
    draw_ellipses(axes, Kernels(np.zeros((1, 2)), turned[None]), None, domain, picture)
    ellipse = axes.collections[0]
    assert np.isclose(ellipse.get_widths()[0], 4.0)
    assert np.isclose(ellipse.get_angles()[0] % 180, 45.0)
    rng = np.random.default_rng(0)
    many = Kernels(rng.uniform(size=(4000, 2)), np.tile(np.diag([1e-2, 1e-4]), (4000, 1, 1)))
    shown, left = many.thinned(MOST_ELLIPSES)
    assert len(shown.centres) == MOST_ELLIPSES
    assert left == 4000 - MOST_ELLIPSES
    twice = Kernels(np.tile(many.centres[:10], (2, 1)), many.covariances[:20])
    assert [len(k.centres) if isinstance(k, Kernels) else k for k in twice.thinned(99)] == [10, 0]


def test_a_section_sees_gaussians_on_it():
    where = section(SQUARE, ("x", "y"), {"y": 0.5})
    centres = np.array([[0.2, 0.4], [0.2, 0.1]])
    covariances = np.tile(0.01 * np.array([[1.0, 0.5], [0.5, 1.0]]), (2, 1, 1))
    seen = Kernels(centres, covariances).on(where)
    assert np.allclose(seen.centres, [[0.25]])
    assert np.allclose(seen.covariances, [[[0.0075]]])


def test_free_kernels_have_the_covariance_of_their_shapes():
    problem = sf.Problem(SQUARE, lambda u, x, y: u - x, boundary=lambda u, x, y: u - x)
    solution = sf.solve(problem, tol=0.5, adaptor=Paper(kernels=30, iterations=1))
    basis = solution.approximation.bases["u"]
    kernels = kernels_of(basis)
    product = basis.shapes @ kernels.covariances @ np.swapaxes(basis.shapes, 1, 2)
    assert np.allclose(product, np.eye(2))
    assert solution.plot("kernels", resolution=30).images


# Cuts


def test_a_cut_goes_into_the_layer_and_to_the_boundary(layer, disk):
    axes = layer.plot(y=0.5)
    x, y = axes.lines[0].get_data()
    assert np.allclose(y, layer(x, 0.5))
    assert np.sum(x > 1 - 1e-3) > 20
    assert "y = 0.5" in axes.get_title()
    x, y = disk.plot(y=0.6).lines[0].get_data()
    inside = x[np.isfinite(y)]
    assert np.allclose([inside[0], inside[-1]], [-0.8, 0.8], rtol=0, atol=1e-9)
    assert np.isnan(y[0])


@pytest.mark.parametrize("where", [{"z": 0.5}, {"y": 2.0}, {"x": (0.5, 0.2)}, {"x": (1, 2, 3)}])
def test_impossible_cuts_are_refused(layer, where):
    with pytest.raises(ProblemError):
        layer.plot(**where)


def test_a_point_is_no_picture(layer):
    with pytest.raises(ProblemError, match="Every coordinate is fixed"):
        layer.plot(x=0.5, y=0.5)


# Residual, estimate, all


def test_the_residual_is_drawn_by_its_logarithm(disk):
    axes = disk.plot("residual", resolution=41)
    values = image(axes).get_array()
    x = -1 + 2 * 30.5 / 41
    assert np.isclose(values[20, 30], np.log10(abs(disk.residual(x, 0.0))))
    assert values.min() <= image(axes).get_clim()[0]


def test_the_residual_along_a_line(line):
    x, y = line.plot("residual").lines[0].get_data()
    assert np.allclose(y, np.abs(line.residual(x)), rtol=1e-12)


def test_the_estimate_over_the_kernels(layer):
    axes = layer.plot("estimate")
    kernels, estimates = axes.lines[0].get_data()
    assert kernels.tolist() == [record.kernels for record in layer.history]
    assert estimates.tolist() == [record.error_estimate for record in layer.history]
    assert axes.lines[2].get_ydata() == [layer.tol, layer.tol]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_all_four_panels(line, layer):
    for solution in (line, layer):
        axes = solution.plot("all")
        assert axes.shape == (2, 2)
        axes[0, 0].figure.canvas.draw()
    assert str(layer.outcome.kind) in axes[0, 0].figure.get_suptitle()


def test_a_loaded_solution_has_no_residual(disk):
    loaded = replace(disk, problem=None)
    with pytest.raises(ProblemError, match="does not know its equation"):
        loaded.plot("residual")
    axes = loaded.plot("all", resolution=40)
    assert "no residual" in axes[1, 0].texts[0].get_text()
    assert axes[1, 1].lines


def test_kernels_along_a_line(line):
    axes = line.plot("kernels")
    widths = axes.lines[0].get_ydata()
    assert len(widths) == line.kernels
    assert widths.min() < 1e-4


# Systems


def test_each_unknown_has_a_panel():
    pair = solutions.pair()
    axes = pair.plot(resolution=50)
    assert axes.shape == (1, 2)
    for panel, name in zip(axes.ravel(), "uv", strict=True):
        assert np.isclose(image(panel).get_array().max(), getattr(pair, name)(0.5, 0.5), rtol=1e-2)
    assert image(pair.plot(unknown="v", resolution=50)).colorbar.ax.get_ylabel() == "v"
    assert len(pair.plot("all", resolution=30).ravel()) == 6
    with pytest.raises(ProblemError, match="no unknown 'w'"):
        pair.plot(unknown="w")


# Space


def test_middle_planes_share_a_scale(cube):
    axes = cube.plot(resolution=40)
    assert [a.get_title() for a in axes.ravel()] == ["z = 1", "y = 0.5", "x = 0.5"]
    assert len({image(a).get_clim() for a in axes.ravel()}) == 1
    low, high = image(axes[0, 0]).get_clim()
    assert low < 0.1
    assert high > 1.9


def test_one_plane(cube):
    axes = cube.plot(z=0.5, resolution=41)
    assert np.isclose(image(axes).get_array()[20, 20], cube(0.5, 0.5, 0.5))
    assert "z = 0.5" in axes.get_title()
    x, y = cube.plot(z=0.5, y=0.5).lines[0].get_data()
    assert np.allclose(y, cube(x, 0.5, 0.5))


def test_planes_that_miss_the_domain(cube):
    apart = sf.Ball((0.2, 0.5, 0.5), 0.1) | sf.Ball((0.8, 0.5, 0.5), 0.1)
    solution = replace(cube, domain=apart)
    axes = solution.plot(resolution=30)
    assert axes[0, 2].texts[0].get_text() == "misses the domain"
    assert axes[0, 0].images
    with pytest.raises(ProblemError, match=r"x = 0.5 misses the domain"):
        solution.plot(x=0.5, resolution=30)


def test_the_surface(cube):
    axes = cube.plot("surface")
    assert axes.name == "3d"
    assert isinstance(axes.collections[0], art3d.Poly3DCollection)
    with pytest.raises(ProblemError, match="projection='3d'"):
        cube.plot("surface", axes=plt.figure().add_subplot())


def test_surfaces_are_closed_and_in_place():
    for domain, area in (
        (sf.Box((0, 1), (0, 2), (0, 3)), 22.0),
        (sf.Ball((0, 0, 0), 1), 4 * np.pi),
    ):
        corners = surface_of(domain)
        sides = corners[:, 1:] - corners[:, :1]
        total = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum() / 2
        assert np.isclose(total, area, rtol=1e-2)
        assert np.max(np.abs(domain.distance(corners.reshape(-1, 3)))) < 1e-2


def test_the_viewer_is_optional(cube, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(MissingExtraError, match=r"sharpfront\[plot3d\]"):
        cube.plot("viewer")


def test_the_viewer_holds_the_surface(cube, monkeypatch):
    pyvista = pytest.importorskip("pyvista")
    monkeypatch.setattr(pyvista, "OFF_SCREEN", True)
    plotter = cube.plot("viewer")
    mesh = plotter.meshes[0]
    assert np.allclose(mesh["u"], cube(*np.asarray(mesh.points).T))
    assert np.isclose(mesh.area, 10.0)
    plotter.close()


# Words


def test_given_axes_are_used(disk):
    _, axes = plt.subplots()
    assert disk.plot(axes) is axes
    assert disk.plot("estimate", axes=axes) is axes
    _, four = plt.subplots(2, 2)
    assert list(disk.plot("all", axes=four, resolution=30).ravel()) == list(four.ravel())
    with pytest.raises(ProblemError, match="4 panels, got 1 axes"):
        disk.plot("all", axes=axes)


def test_unknown_pictures_are_refused(disk):
    with pytest.raises(ProblemError, match="got 'movie'"):
        disk.plot("movie")
    with pytest.raises(ProblemError, match="in space"):
        disk.plot("surface")
