import functools

import numpy as np
import pytest

from sharpfront.adapt.fronts import find_fronts
from sharpfront.adapt.strands import Samples, strands
from sharpfront.errors import MixtureError

BOUNDS = np.array([[0.0, 0.0], [1.0, 1.0]])
WIDTH = 0.01


def grid(count=120):
    axis = (np.arange(count) + 0.5) / count
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    return points, np.full(len(points), 1 / count**2)


def field(u, count=120, noise=0.01, seed=0):
    """Samples of a function with noise, and the gradient by differences of them."""
    points, volumes = grid(count)
    values = u(points[:, 0], points[:, 1]).reshape(count, count)
    values = values + noise * np.random.default_rng(seed).uniform(-1, 1, values.shape)
    gradients = np.stack(np.gradient(values, 1 / count), axis=-1).reshape(-1, 2)
    return points, gradients, volumes


def step(level):
    return np.tanh(level / (2 * WIDTH))


def circle(x, y, radius=0.25):
    return np.hypot(x - 0.5, y - 0.5) - radius


def wavy(x, y):
    return y - 0.5 - 0.3 * (x - 0.5) - 0.08 * np.sin(6 * x)


def rising(x, y):
    return (x + 0.6 * y - 0.8) / np.hypot(1, 0.6)


def falling(x, y):
    return (y - 0.5 * x - 0.25) / np.hypot(1, 0.5)


@functools.cache
def found(name, seed=0):
    fields = {
        "circle": lambda x, y: step(circle(x, y)),
        "wavy": lambda x, y: step(wavy(x, y)) + 0.3 * np.sin(3 * x),
        "sum": lambda x, y: step(rising(x, y)) + step(falling(x, y)),
        "apart": lambda x, y: (
            step(np.hypot(x - 0.3, y - 0.3) - 0.15) + step(np.hypot(x - 0.7, y - 0.65) - 0.2)
        ),
        "ridge": lambda x, y: 1 - step(rising(x, y)) ** 2,
    }
    return find_fronts(*field(fields[name], seed=seed), BOUNDS, seed=seed)


def on_curve(level, within=0.02 * WIDTH):
    points = np.random.default_rng(1).random((400_000, 2))
    return points[np.abs(level(points[:, 0], points[:, 1])) < within]


def distance(front, points):
    """From the zero level, to first order, in widths of the step."""
    slope = front.slope(points) / front.amplitude
    z = front.level(points)
    root = np.sqrt(1 + z**2)
    steep = np.linalg.norm(slope, axis=1) / (0.6 / root + 0.4 / root**2)
    return np.abs(z) / steep / WIDTH


@pytest.mark.parametrize(("name", "level"), [("circle", circle), ("wavy", wavy)])
def test_a_curved_front_is_found_to_a_fraction_of_its_width(name, level):
    (front,) = found(name).embedding.fronts
    assert distance(front, on_curve(level)).max() < 0.5


def test_the_width_to_resolve_is_about_four_times_that_of_the_step():
    (front,) = found("circle").embedding.fronts
    at = on_curve(circle)
    width = 1 / (np.linalg.norm(front.slope(at), axis=1) / front.amplitude) / WIDTH
    assert np.all((width > 2) & (width < 5))


def test_the_climb_counts_for_no_more_than_the_front_is_large():
    small = find_fronts(*field(lambda x, y: step(circle(x, y, 0.12))), BOUNDS)
    assert small.embedding.fronts[0].amplitude == pytest.approx(1.6 * 0.12, rel=0.1)
    assert found("wavy").embedding.fronts[0].amplitude == pytest.approx(0.4)


def test_the_level_keeps_its_sign_on_either_side():
    (front,) = found("circle").embedding.fronts
    points, _ = grid(40)
    level = circle(points[:, 0], points[:, 1])
    far = np.abs(level) > WIDTH
    assert np.array_equal(np.sign(front.level(points[far])), np.sign(level[far]))


def test_two_fronts_that_cross_are_two():
    fronts = found("sum").embedding.fronts
    assert len(fronts) == 2
    for level in (rising, falling):
        at = on_curve(level)
        assert min(distance(front, at).max() for front in fronts) < 0.5


def test_two_closed_fronts_are_two():
    assert len(found("apart").embedding.fronts) == 2


def test_the_flanks_of_a_ridge_lie_on_either_side_of_it():
    fronts = found("ridge").embedding.fronts
    at = on_curve(rising)
    slopes = [front.slope(at) for front in fronts]
    assert len(fronts) == 2
    assert np.all((slopes[0] * slopes[1]).sum(axis=1) < 0)
    # Each flank rises towards the ridge, so that on the ridge both have been passed.
    assert all(np.all(front.level(at) > 0) for front in fronts)


def test_a_smooth_field_has_no_front():
    assert find_fronts(*field(lambda x, y: np.sin(3 * x + y)), BOUNDS) is None


def test_a_constant_has_no_front():
    assert find_fronts(*field(lambda x, y: 0 * x, noise=0), BOUNDS) is None


def test_the_mixture_lies_on_the_front_and_is_longer_than_thick():
    mixture = found("circle").mixture
    assert mixture.dimension == 2
    assert np.all(np.abs(circle(*mixture.means.T)) < 0.1)
    thin, long = np.sqrt(np.linalg.eigvalsh(mixture.covariances)).T
    assert np.all(long > 2 * thin)


def test_the_same_seed_finds_the_same_fronts():
    again = find_fronts(*field(lambda x, y: step(circle(x, y))), BOUNDS)
    points, _ = grid(20)
    assert np.array_equal(again.embedding(points), found("circle").embedding(points))


def test_other_units_give_the_same_fronts_in_those_units():
    points, gradients, volumes = field(lambda x, y: step(circle(x, y)))
    large = find_fronts(100 * points, 7 * gradients, 1e4 * volumes, 100 * BOUNDS)
    at, _ = grid(20)
    expected = found("circle").embedding.fronts[0].level(at)
    assert large.embedding.fronts[0].level(100 * at) == pytest.approx(expected, rel=1e-4, abs=1e-3)


def test_a_sphere_is_found_in_space():
    axis = (np.arange(30) + 0.5) / 30
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    offset = points - 0.5
    radius = np.linalg.norm(offset, axis=1)
    gradients = offset / radius[:, None] / np.cosh((radius - 0.3) / 0.04)[:, None] ** 2
    bounds = np.array([[0.0] * 3, [1.0] * 3])
    (front,) = find_fronts(
        points, gradients, np.full(len(points), 30.0**-3), bounds
    ).embedding.fronts
    on = 0.5 + 0.3 * offset[::50] / radius[::50, None]
    assert np.abs(front.level(on)).max() < 0.3


def test_a_strand_follows_an_arc_exactly():
    rng = np.random.default_rng(3)
    angle = rng.uniform(-1, 1, 500)
    normals = np.column_stack([np.cos(angle), np.sin(angle)])
    samples = Samples(0.4 * normals, normals, np.ones(500), np.ones(500))
    group, _ = strands(samples, np.ones((500, 1)))
    assert group.thin[0] < 1e-8
    assert group.curvatures[0] == pytest.approx(np.eye(2) / 0.4, abs=1e-8)
    assert group.levels(np.array([[-0.4, 0.0]]))[0] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("shapes", [((5, 1), (5, 1), (5,)), ((5, 2), (4, 2), (5,))])
def test_arrays_that_do_not_fit_are_refused(shapes):
    with pytest.raises(MixtureError, match="expected"):
        find_fronts(*(np.ones(shape) for shape in shapes), BOUNDS)
