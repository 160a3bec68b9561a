"""The solution first: what is drawn without being asked for, where, and named how often."""

from functools import cache

import numpy as np
import pytest
from tests.lazy import Lazy
from tests.show import solutions, time_solutions

import sharpfront as sf
from sharpfront.show.data.kernels import Kernels, section
from sharpfront.show.data.raster import raster, with_margin
from sharpfront.show.figures.panels import Wish
from sharpfront.show.figures.plane import draw_ellipses
from sharpfront.show.figures.scenes import map_scene

plt = Lazy("matplotlib.pyplot")
artists = Lazy("matplotlib.collections")

SQUARE = sf.Box((0, 1), (0, 1))
SHAPES = {
    "square": SQUARE,
    "disk": sf.Disk((0.3, -0.2), 0.7),
    "hole off the middle": SQUARE - sf.Disk((0.62, 0.41), 0.22),
    "two holes": SQUARE - sf.Disk((0.3, 0.7), 0.15) - sf.Disk((0.7, 0.3), 0.2),
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@cache
def on(name):
    problem = sf.Problem(
        SHAPES[name], lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u
    )
    return sf.solve(problem, tol=0.5, max_kernels=800)


@cache
def line_pair():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (-0.1 * u.dxx + u - v, -v.dxx + v - 1),
        boundary=lambda u, v, x: (u, v),
    )
    return sf.solve(problem, tol=1e-3)


@cache
def thin():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -1e-3 * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )
    return sf.solve(problem, tol=1e-3)


MADE = {
    "line": thin,
    "square": lambda: on("square"),
    "hole": lambda: on("hole off the middle"),
    "time on a line": time_solutions.shock,
    "time in the plane": time_solutions.plane,
}


def machinery(axes):
    """Return the artists that show kernels or components."""
    kinds = artists.EllipseCollection, artists.LineCollection, artists.PolyCollection
    marks = [line for line in axes.lines if line.get_marker() in ("|", ".", "o")]
    return [*(c for c in axes.collections if isinstance(c, kinds)), *marks]


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("what", ["solution", "close-up"])
def test_nothing_but_the_solution_is_drawn_unasked(name, what):
    axes = np.ravel(np.asarray(MADE[name]().plot(what, resolution=24), dtype=object))
    assert not any(machinery(each) for each in axes)
    titles = " ".join(each.get_title() for each in axes)
    assert "mixture" not in titles


@pytest.mark.parametrize("name", MADE)
def test_kernels_are_drawn_with_the_solution_on_request(name):
    axes = MADE[name]().plot(resolution=24, kernels=True)
    assert machinery(axes)


def test_films_show_kernels_on_request_only():
    for kernels in (False, True):
        scene = map_scene(
            Wish(time_solutions.plane(), ("u",), {}, 20, kernels=kernels), np.linspace(0, 1, 3)
        )
        scene.show(1)
        assert bool(machinery(scene.figure.axes[0])) is kernels
        panel = time_solutions.shock().plot("film", moments=2, kernels=kernels).ravel()[0]
        assert bool(machinery(panel)) is kernels


def drawn(solution, what, **options):
    """Return a picture's dots, and which of its dots are well outside the domain."""
    axes = solution.plot(what, resolution=40, **options)
    axes.set_title("")
    figure = axes.figure
    figure.set_dpi(40)
    figure.canvas.draw()
    dots = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].astype(int)
    rows, columns = np.indices(dots.shape[:2])
    pixels = np.stack([columns + 0.5, dots.shape[0] - rows - 0.5], axis=-1).reshape(-1, 2)
    places = axes.transData.inverted().transform(pixels)
    box = axes.get_window_extent()
    seen = _within(box, pixels)
    one = np.linalg.norm(places[1] - places[0])
    outside = solution.domain.distance(places) < -3 * one
    return dots, (outside & seen).reshape(dots.shape[:2])


def _within(box, pixels):
    low, high = np.array([box.x0, box.y0]), np.array([box.x1, box.y1])
    return np.all((pixels > low + 2) & (pixels < high - 2), axis=1)


@pytest.mark.parametrize("name", SHAPES)
def test_kernels_are_not_drawn_in_holes_or_outside(name):
    solution = on(name)
    for what in ("solution", "kernels"):
        dots, outside = drawn(solution, what, kernels=True)
        assert (outside.sum() > 100) or name == "square"
        assert np.all(dots[outside] == 255)
    collections = solution.plot("kernels", resolution=24).collections
    sides = [
        x for c in collections if isinstance(c, artists.LineCollection) for x in c.get_segments()
    ]
    patches = solution.approximation.bases["u"].patches
    # What of a side lies in a hole or outside is not drawn.
    assert len(sides) == 4 * len(patches) or name != "square"
    middles = np.array([x.mean(axis=0) for x in sides]).reshape(-1, 2)
    low, high = solution.domain.bounds
    on_rim = np.any((middles <= low + 1e-9) | (middles >= high - 1e-9), axis=1)
    assert np.all(on_rim | solution.domain.contains(middles))


def test_a_mixture_in_a_hole_is_cut_off():
    solution = on("hole off the middle")
    there = Kernels(np.array([[0.62, 0.41]]), 0.01 * np.eye(2)[None])
    where = section(solution.domain, ("x", "y"), {})
    none = Kernels(np.zeros((0, 2)), np.zeros((0, 2, 2)))
    picture = raster(lambda p: p[:, 0], solution.domain, where, none, 40)
    figure, axes = plt.subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    draw_ellipses(axes, there, there, solution.domain, picture)
    figure.canvas.draw()
    assert np.all(np.asarray(figure.canvas.buffer_rgba())[:, :, :3] == 255)


@pytest.mark.parametrize("what", ["solution", "kernels", "all"])
@pytest.mark.parametrize("make", [solutions.pair, line_pair, time_solutions.pair])
def test_every_unknown_is_named_once_and_the_outcome_too(make, what):
    solution = make()
    axes = np.ravel(np.asarray(solution.plot(what, resolution=16), dtype=object))
    figure = axes[0].figure
    words = []
    for each in figure.axes:
        words += [each.get_title(), each.get_xlabel(), each.get_ylabel()]
        legend = each.get_legend()
        words += [text.get_text() for text in legend.get_texts()] if legend else []
    if figure.get_suptitle():
        words.append(figure.get_suptitle())
    assert sum("estimated error 1" in w or str(solution.outcome.kind) in w for w in words) <= 1
    if what == "solution":
        for name in ("u", "v"):
            assert sum(word == name for word in words) == 1


def test_curves_that_coincide_are_both_seen():
    first, second = (line.get_linestyle() for line in line_pair().plot().lines)
    assert first != second


def narrow(solution):
    """Tell whether the title says that the picture's dots are too wide."""
    _, axes = plt.subplots()
    solution.plot(axes=axes)
    title = axes.get_title()
    return "narrower than a dot" in title


def test_patches_graded_into_a_corner_are_not_called_narrow_and_layers_are():
    corner = sf.Problem(
        sf.Box((-1, 1), (-1, 1)) - sf.Box((0, 2), (-2, 0)),
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u,
    )
    assert not narrow(sf.solve(corner, tol=1e-3))
    layer = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -1e-7 * sf.laplacian(u) + u - 1,
        boundary=lambda u, x, y: u,
    )
    assert narrow(sf.solve(layer, tol=1e-2, adaptor=sf.Patches()))


def test_what_is_drawn_beside_the_domain_is_that_of_the_nearest_place():
    # Columns much closer together than rows: the next column is nearer than the next row.
    x, y = np.linspace(0, 0.01, 6), np.linspace(0, 1, 5)
    values = np.add.outer(100.0 * y, x)
    inside = values.copy()
    inside[2:, 2:] = np.nan
    found = with_margin(inside, [x, y])
    # The row above is one step away, the last column inside three that are together shorter.
    np.testing.assert_allclose(found[2, 4], values[2, 1])
    np.testing.assert_allclose(with_margin(inside)[2, 4], values[1, 4])
    assert np.isnan(found[-1, -1])
