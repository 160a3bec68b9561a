"""What pictures of solutions in time show, read back from Matplotlib's own objects."""

from dataclasses import replace

import numpy as np
import pytest
from tests.lazy import Lazy
from tests.show.time_solutions import circle, front, occurs_in_cells, pair, plane, shock

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.show.data.kernels import kernels_at, section
from sharpfront.show.data.placements import Moment, mixture_between
from sharpfront.show.data.quantity import Quantity
from sharpfront.show.data.raster import raster_in_time
from sharpfront.show.figures.tracks import node_paths, passages, tracks_of

plt = Lazy("matplotlib.pyplot")
artists = Lazy("matplotlib.collections")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def collections(axes, kind):
    return [c for c in axes.collections if isinstance(c, kind)]


def middles(image):
    """Return the middles of an image's cells along both axes."""
    rows, columns = image.get_array().shape
    x0, x1, y0, y1 = image.get_extent()
    x = x0 + (x1 - x0) * (np.arange(columns) + 0.5) / columns
    return x, y0 + (y1 - y0) * (np.arange(rows) + 0.5) / rows


# The map over space and time


def test_the_map_shows_values_where_and_when_they_are():
    axes = shock().plot(x=(0.5, 0.6), t=(0.4, 0.6), resolution=40)
    image = axes.images[0]
    x, t = middles(image)
    assert image.get_array().shape == (40, 40)
    off = np.abs(image.get_array() - shock()(x, t[:, None]))
    # A cell may show a kernel's centre in it instead of its middle.
    assert np.mean(off < 1e-12) > 0.9
    assert off.max() < 1e-4
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "t")
    assert axes.get_xlim() == (0.5, 0.6)
    assert axes.get_ylim() == (0.4, 0.6)


def test_tracks_end_where_the_history_says():
    axes = shock().plot(resolution=20, kernels=True)
    tracks = collections(axes, artists.LineCollection)[0]
    ends = np.array(tracks.get_segments())[:, 1]
    wanted = [(m, step.time) for step in shock().history for m in step.mixture.means[:, 0]]
    assert np.allclose(ends, wanted, atol=1e-12)
    weights = np.concatenate([step.mixture.weights for step in shock().history])
    order = np.argsort(weights)
    assert np.all(np.diff(np.asarray(tracks.get_linewidths())[order]) >= 0)
    assert "components" in axes.get_title()


def test_tracks_follow_the_front():
    tracks = tracks_of(shock())
    heaviest = [
        tracks.ends[i, 1] for i in np.flatnonzero(tracks.weights > 0.6 * tracks.weights.max())
    ]
    x, t = np.array(heaviest).T
    assert np.median(np.abs(x - 0.25 - t / 2)) < 0.05


def test_tracks_on_a_circle_stay_there():
    tracks = tracks_of(circle())
    inside = (tracks.ends[:, :, 0] >= 0) & (tracks.ends[:, :, 0] < 1)
    assert np.all(inside.any(axis=1))
    whole = sum(step.mixture.components for step in circle().history)
    crossing = np.sum(~inside.all(axis=1))
    assert len(tracks.ends) == whole + crossing / 2
    assert crossing > 0


def test_a_spike_between_the_dots_is_seen_in_every_row():
    basis = shock().approximation.bases["u"]
    where = section(shock().domain, ("x", "t"), {})
    rows = (np.arange(50) + 0.5) / 50
    at = {round(t, 12): kernels_at(basis, t).centres[:, 0] for t in rows}
    at = {t: centres[np.argmin(np.abs(centres - 0.5))] for t, centres in at.items()}

    def spike(points):
        place = np.array([at[round(t, 12)] for t in points[:, 1]])
        return np.exp(-(((points[:, 0] - place) / 1e-6) ** 2))

    picture = raster_in_time(Quantity("u", spike), basis, shock().domain, where, 50)
    assert np.all(picture.values.max(axis=1) == 1.0)


# A moment


def test_the_curve_at_a_moment():
    axes = shock().plot(t=0.5)
    x, u = axes.lines[0].get_data()
    assert np.allclose(u, shock()(x, 0.5), atol=1e-13)
    assert np.sum((u > 0.05) & (u < 0.95)) > 20
    assert axes.get_title().startswith("t = 0.5;")
    assert np.allclose(axes.get_yticks(), [0, 0.5, 1])
    assert axes.get_ylabel() == "u" and axes.get_legend() is None


def test_kernels_and_components_are_under_the_curve():
    axes = shock().plot(t=0.3, kernels=True)
    strip = axes.transData.inverted().transform(axes.transAxes.transform([(0, 0.26)]))[0, 1]
    assert strip < axes.lines[0].get_ydata().min()
    basis = shock().approximation.bases["u"]
    assert np.allclose(axes.lines[1].get_xdata(), kernels_at(basis, 0.3).centres[:, 0])
    mixture = mixture_between(shock().history, 0.3)
    bells = [path.vertices for path in collections(axes, artists.PolyCollection)[0].get_paths()]
    assert len(bells) == mixture.components
    tops = np.array([bell[np.argmax(bell[:, 1])] for bell in bells])
    assert np.allclose(tops[:, 0], mixture.means[:, 0])
    feet = min(bell[:, 1].min() for bell in bells)
    heights = tops[:, 1] - feet
    assert np.allclose(heights / heights.max(), mixture.weights / mixture.weights.max(), atol=0.01)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["u", "kernels", "components of the mixture"]


def test_bells_are_seen_on_both_sides_of_a_seam():
    moment = Moment(circle(), 0.6)
    means = moment.mixture.means[:, 0]
    assert np.all((means >= 0) & (means < 1))
    bells = collections(circle().plot(t=0.6, kernels=True), artists.PolyCollection)[0].get_paths()
    assert len(bells) == 3 * len(means)


def test_a_part_of_the_line_at_a_moment():
    axes = shock().plot(x=(0.4, 0.6), t=0.5, kernels=True)
    assert axes.get_xlim() == (0.4, 0.6)
    ticks = axes.lines[1].get_xdata()
    assert np.all((ticks >= 0.4) & (ticks <= 0.6))
    assert len(ticks) > 5


def test_widths_of_the_kernels_at_a_moment():
    axes = shock().plot("kernels", t=0.5)
    x, widths = axes.lines[0].get_data()
    kernels = kernels_at(shock().approximation.bases["u"], 0.5)
    assert np.allclose(x, kernels.centres[:, 0])
    assert np.allclose(widths, np.sqrt(kernels.covariances[:, 0, 0]))


# Along time


def test_a_front_that_passes_is_resolved_in_time():
    axes = shock().plot(x=0.5)
    t, u = axes.lines[0].get_data()
    assert np.allclose(u, shock()(0.5, t), atol=1e-13)
    assert np.max(np.abs(np.diff(u))) < 0.05
    assert axes.get_xlabel() == "t"


def test_at_most_one_node_passes_between_two_moments():
    basis = shock().approximation.bases["u"]
    moments = passages(basis, 0.5, (0.2, 0.8)).centres[:, 0]
    left = [np.sum(basis.slab_at(float(t)).at(float(t)).nodes < 0.5) for t in moments]
    ends = np.isin(moments, basis.times)
    jumps = np.abs(np.diff(left))[~ends[:-1] & ~ends[1:]]
    assert jumps.max() == 1
    assert (moments[0], moments[-1]) == (0.2, 0.8)


# Nodes' paths


def test_paths_of_nodes_and_components():
    axes = shock().plot("kernels")
    paths, tracks = collections(axes, artists.LineCollection)[:2]
    basis = shock().approximation.bases["u"]
    assert len(paths.get_segments()) == sum(min(80, len(slab.frame.nodes)) for slab in basis.slabs)
    assert len(tracks.get_segments()) == sum(s.mixture.components for s in shock().history)
    last = [path[-1] for path in paths.get_segments() if path[-1, 1] == 1.0]
    assert np.allclose(np.sort([x for x, _ in last]), basis.slab_at(1.0).at(1.0).nodes)


def test_some_of_many_nodes_are_followed():
    basis = shock().approximation.bases["u"]
    window = np.array([[0.0, 0.0], [1.0, 1.0]])
    paths, shown, seen = node_paths(basis, window, most=5)
    nodes = max(len(slab.frame.nodes) for slab in basis.slabs)
    assert (shown, seen) == (5, nodes)
    assert len(paths) == 5 * len(basis.slabs)
    paths, shown, seen = node_paths(basis, np.array([[0.4, 0.2], [0.6, 0.3]]))
    assert all(np.any((p[:, 0] >= 0.4) & (p[:, 0] <= 0.6)) for p in paths)
    assert all(p[0, 1] >= 0.2 and p[-1, 1] <= 0.3 for p in paths)
    assert seen < nodes


def test_paths_on_a_circle_have_no_leap():
    paths, _, _ = node_paths(circle().approximation.bases["u"], np.array([[0, 0], [1, 1]]))
    assert max(np.abs(np.diff(path[:, 0])).max() for path in paths) < 0.7
    assert any(path[:, 0].max() > 1 for path in paths)


# The course of the solve


def test_estimate_steps_and_kernels_over_time():
    error, steps, counts = shock().plot("estimate").ravel()
    times, largest = shock().error_over_time()
    assert error.lines[0].get_xdata().tolist() == times.tolist()
    assert error.lines[0].get_ydata().tolist() == [r.error_estimate for r in shock().history]
    assert error.lines[1].get_ydata()[1:].tolist() == largest.tolist()
    assert error.lines[2].get_ydata() == [shock().tol, shock().tol]
    assert steps.lines[0].get_ydata()[1:].tolist() == [r.dt for r in shock().history]
    assert counts.lines[0].get_ydata()[1:].tolist() == [r.kernels for r in shock().history]
    assert steps.lines[0].get_xdata().tolist() == [0.0, *times]
    assert shock().plot("estimate", t=(0, 0.5))[0, 0].get_xlim() == (0, 0.5)


def test_the_residual_at_moments():
    axes = shock().plot("residual", moments=[0.25, 0.75])
    assert len(axes.lines) == 2
    x, size = axes.lines[1].get_data()
    assert np.allclose(size, np.abs(shock().residual(x, 0.75)), rtol=1e-10)
    assert axes.get_yscale() == "log"
    assert len(shock().plot("residual").lines) == 5
    x, size = shock().plot("residual", t=0.5).lines[0].get_data()
    assert np.allclose(size, np.abs(shock().residual(x, 0.5)), rtol=1e-10)


def test_all_panels():
    axes = shock().plot("all", resolution=30)
    assert axes.shape == (3, 2)
    axes[0, 0].figure.canvas.draw()
    loaded = replace(shock(), problem=None).plot("all", resolution=30)
    assert "no residual" in loaded[1, 0].texts[0].get_text()


def test_a_residual_that_the_basis_cannot_give_is_not_drawn():
    problem = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.d("x", 6),
        initial=lambda x: x,
        time=(0, 1),
    )
    axes = replace(shock(), problem=problem).plot("all", resolution=20)
    assert "not carried" in axes[1, 0].texts[0].get_text()


# Film


def test_a_film_shows_moments_side_by_side_on_one_scale():
    axes = shock().plot("film", moments=6, kernels=True)
    assert axes.shape == (2, 3)
    for t, panel in zip(np.linspace(0, 1, 6), axes.ravel(), strict=True):
        assert panel.get_title() == f"t = {t:.6g}"
        x, u = panel.lines[0].get_data()
        assert np.allclose(u, shock()(x, t), atol=1e-13)
    assert len({panel.get_ylim() for panel in axes.ravel()}) == 1
    assert len(axes[0, 0].figure.legends) == 1


def test_moments_of_a_film():
    titles = [a.get_title() for a in shock().plot("film", moments=[0.1, 0.7]).ravel()]
    assert titles == ["t = 0.1", "t = 0.7"]
    part = shock().plot("film", moments=3, t=(0.2, 0.4), x=(0.3, 0.5)).ravel()
    assert [a.get_title() for a in part] == ["t = 0.2", "t = 0.3", "t = 0.4"]
    assert part[0].get_xlim() == (0.3, 0.5)
    widths = {round(a.get_position().width, 3) for a in shock().plot("film", moments=5).ravel()}
    assert len(widths) == 1


# Systems


def test_unknowns_of_a_system():
    maps = pair().plot(resolution=20)
    assert maps.shape == (1, 2)
    image = pair().plot(unknown="v", resolution=20).images[0]
    x, t = middles(image)
    assert np.allclose(image.get_array(), pair().v(x, t[:, None]), atol=1e-12)
    curves = pair().plot(t=0.5)
    for name, line in zip("uv", curves.lines[:2], strict=True):
        assert line.get_label() == name
        assert np.allclose(line.get_ydata(), getattr(pair(), name)(line.get_xdata(), 0.5))
    assert "nodes of u, v" in pair().plot("kernels").get_title()
    assert len(pair().plot("film", moments=3, unknown="v").ravel()[0].lines) == 1


# The plane


@pytest.mark.parametrize(("options", "t"), [({}, 1.0), ({"t": 0.3}, 0.3)])
def test_a_map_in_the_plane_is_of_one_moment(options, t):
    axes = plane().plot(resolution=40, **options)
    assert axes.get_title().startswith(f"t = {t:g};")
    image = axes.images[0]
    assert occurs_in_cells(image, lambda x, y: plane()(x, y, t))
    assert not occurs_in_cells(image, lambda x, y: plane()(x, y, t - 0.05))
    assert not occurs_in_cells(image, lambda x, y: plane()(1 - x, y, t))


def test_cuts_through_the_plane_in_time():
    solution = plane()
    x, u = solution.plot(t=0.3, y=0.5).lines[0].get_data()
    assert np.allclose(u, solution(x, 0.5, 0.3))
    image = solution.plot(y=0.5, resolution=30).images[0]
    x, t = middles(image)
    assert np.mean(np.isclose(image.get_array(), solution(x, 0.5, t[:, None]))) > 0.9
    t, u = solution.plot(x=0.2, y=0.5).lines[0].get_data()
    assert np.allclose(u, solution(0.2, 0.5, t))


@pytest.mark.parametrize(("t", "number", "tau"), [(0.4, 0, 0.4), (0.75, 1, 0.25)])
def test_products_in_the_plane_are_where_their_map_puts_them(t, number, tau):
    basis = plane().approximation.bases["u"]
    kernels, square = kernels_at(basis, t), basis.frames[number]
    counts = [line.functions.kernels for line in basis.parts[number].lines]
    assert len(kernels.centres) == counts[0] * counts[1]
    first, second = square.jets(kernels.centres, tau)
    for jet, n in ((first, counts[0]), (second, counts[1])):
        assert np.allclose(jet.xi * n % 1, 0.5)
    slopes = np.array([[first.x, first.y], [second.y, second.x]]).transpose(2, 0, 1)
    flat = slopes @ kernels.covariances @ slopes.transpose(0, 2, 1)
    assert np.allclose(flat, np.diag((2.5 / np.array(counts)) ** 2))


def test_ellipses_in_the_plane_at_a_moment():
    axes = plane().plot("kernels", t=0.6, resolution=20)
    drawn, mixture = collections(axes, artists.EllipseCollection)
    kernels = kernels_at(plane().approximation.bases["u"], 0.6)
    assert len(drawn.get_offsets()) == len(kernels.centres)
    # A fifth of the way from 0.5 to 0.7.
    assert np.allclose(mixture.get_offsets(), [[0.54, 1.0]])


def test_a_film_of_maps_has_one_scale():
    axes = plane().plot("film", moments=3, resolution=20).ravel()
    assert len({a.images[0].get_clim() for a in axes}) == 1
    assert [a.get_title() for a in axes] == ["t = 0", "t = 0.5", "t = 1"]


# What is refused


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("film", {"moments": [0.5, 2.0]}, "between 0 and 1"),
        ("film", {"moments": 0}, "at least one"),
        ("kernels", {"x": 0.5}, "free"),
        ("solution", {"t": 2.0}, "between 0 and 1"),
        ("solution", {"unknown": "w"}, "no unknown"),
        ("surface", {}, "in space"),
    ],
)
def test_impossible_pictures(what, options, words):
    with pytest.raises(ProblemError, match=words):
        shock().plot(what, **options)


def test_impossible_pictures_in_the_plane():
    with pytest.raises(ProblemError, match="one moment"):
        plane().plot(t=(0.2, 0.4))
    with pytest.raises(ProblemError, match="at a moment"):
        plane().plot("kernels", x=0.5)
    with pytest.raises(ProblemError, match="in space"):
        plane().plot("surface")


def test_what_stands_still_has_no_moments():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dxx, left=lambda u, x: u, right=lambda u, x: u - 1
    )
    solution = sf.solve(problem, tol=1e-2)
    for options in ({"what": "film"}, {"what": "residual", "moments": 3}):
        with pytest.raises(ProblemError, match="does not change"):
            solution.plot(**options)


def test_the_solution_is_the_shock():
    x = np.linspace(0, 1, 400)
    assert np.max(np.abs(shock()(x, 0.7) - front(x, 0.7))) < 1e-3
