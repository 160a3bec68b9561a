"""Unions, differences, intersections, and the names of their parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.geometry.shape_cases import CUBE, L_SHAPE, SQUARE

from sharpfront.errors import DomainError
from sharpfront.geometry import Ball, Box, Disk, HalfSpace, Implicit, Polygon, restore_domain

HYPOTHESIS = settings(deadline=None, max_examples=25, derandomize=True, database=None)
places = st.floats(-1, 1).map(lambda number: round(number, 2))
sizes = st.floats(0.2, 1).map(lambda number: round(number, 2))


@st.composite
def shapes(draw):
    x, y, a, b = draw(places), draw(places), draw(sizes), draw(sizes)
    if draw(st.booleans()):
        return Disk((x, y), a)
    return Box((x, x + a), (y, y + b))


@st.composite
def overlapping(draw):
    first, second = draw(shapes()), draw(shapes())
    points = first.sample(256)
    inside = second.contains(points).mean()
    # Slivers are regions too, but no sample of a few hundred points finds their area.
    assume(0.02 < inside < 0.98)
    return first, second


def sizes_of(domain):
    return {part: domain.boundary_measure(part) for part in domain.parts}


def counted(domain):
    low, high = domain.bounds
    points = low + np.random.default_rng(1).random((20_000, 2)) * (high - low)
    return domain.contains(points).mean() * np.prod(high - low)


@HYPOTHESIS
@given(pair=overlapping())
def test_areas_add_up(pair):
    a, b = pair
    both = (a & b).measure
    assert (a | b).measure == pytest.approx(a.measure + b.measure - both, rel=1e-8)
    assert (a - b).measure == pytest.approx(a.measure - both, rel=1e-8, abs=1e-10)
    assert both == pytest.approx((b & a).measure, rel=1e-8)
    assert both == pytest.approx(counted(a & b), rel=0.05, abs=0.005)


@HYPOTHESIS
@given(pair=overlapping())
def test_lengths_add_up(pair):
    # What bounds the union or the intersection is, together, all of both boundaries, each once;
    # so is what bounds the two differences together with the union's shared stretches.
    a, b = pair
    whole = sum(sizes_of(a).values()) + sum(sizes_of(b).values())
    parts = sum(sizes_of(a | b).values()) + sum(sizes_of(a & b).values())
    assert parts == pytest.approx(whole, rel=1e-6)


@HYPOTHESIS
@given(pair=overlapping(), which=st.sampled_from("|-&"), seed=st.integers(0, 99))
def test_normals_of_combinations_lead_outside(pair, which, seed):
    a, b = pair
    domain = {"|": a | b, "-": a - b, "&": a & b}[which]
    for part in domain.parts:
        found = domain.boundary(part, 9, seed)
        assert domain.contains(found.points).all()
        assert np.abs(domain.distance(found.points)).max() < 1e-9
        assert domain.contains(found.points - 2e-6 * found.normals).all()
        assert not domain.contains(found.points + 2e-6 * found.normals).any()


@HYPOTHESIS
@given(pair=overlapping(), third=shapes())
def test_membership_is_that_of_logic(pair, third):
    a, b = pair
    points = Box((-2, 2), (-2, 2)).sample(300)
    in_a, in_b, in_c = (shape.contains(points) for shape in (a, b, third))
    clear = np.min([np.abs(s.distance(points)) for s in (a, b, third)], axis=0) > 1e-6
    points, in_a, in_b, in_c = points[clear], in_a[clear], in_b[clear], in_c[clear]
    assert np.array_equal((a | b).contains(points), in_a | in_b)
    assert np.array_equal((a - b).contains(points), in_a & ~in_b)
    assert np.array_equal((a & b).contains(points), in_a & in_b)
    assert np.array_equal(((a & b) | third).contains(points), (in_a & in_b) | in_c)
    assert np.array_equal(((a | third) - (a & b)).contains(points), (in_a | in_c) & ~(in_a & in_b))


@HYPOTHESIS
@given(pair=overlapping())
def test_bounds_of_combinations_are_those_of_their_boundary(pair):
    a, b = pair
    for domain in (a | b, a - b, a & b):
        points = np.concatenate([domain.boundary(part, 2000).points for part in domain.parts])
        np.testing.assert_allclose(points.min(axis=0), domain.bounds[0], atol=2e-3)
        np.testing.assert_allclose(points.max(axis=0), domain.bounds[1], atol=2e-3)
        assert np.all(points >= domain.bounds[0] - 1e-9)
        assert np.all(points <= domain.bounds[1] + 1e-9)


def test_a_hole_has_its_normals_turned():
    found = (SQUARE - Disk((0.5, 0.5), 0.2)).boundary("surface", 50)
    inwards = (0.5 - found.points) / 0.2
    np.testing.assert_allclose(found.normals, inwards, atol=1e-12)


def test_intersection_points_are_corners():
    lens = Disk((0, 0), 1) & Disk((1, 0), 1)
    corners = lens.corners[np.argsort(lens.corners[:, 1])]
    expected = [[0.5, -math.sqrt(0.75)], [0.5, math.sqrt(0.75)]]
    np.testing.assert_allclose(corners, expected, atol=1e-12)
    area = 2 * math.pi / 3 - math.sqrt(0.75)
    assert lens.measure == pytest.approx(area, rel=1e-12)
    assert sizes_of(lens) == pytest.approx(
        {"surface": 2 * math.pi / 3, "surface2": 2 * math.pi / 3}
    )


@pytest.mark.parametrize(
    "domain, area, lengths, corners",
    [
        # The disk touches the bottom from inside, at the very middle of it.
        (SQUARE - Disk((0.5, 0.2), 0.2), 1 - 0.04 * math.pi,
         {"left": 1, "right": 1, "bottom": 1, "top": 1, "surface": 0.4 * math.pi}, 4),
        # Both circles begin where they touch.
        (Disk((0, 0), 1) - Disk((0.5, 0), 0.5), 0.75 * math.pi,
         {"surface": 2 * math.pi, "surface2": math.pi}, 0),
        # Boxes that share an edge, and then a hole that ends on it.
        ((SQUARE | Box((1, 2), (0, 1))) - Box((1, 1.5), (0.2, 0.8)), 1.7,
         {"left": 1, "bottom": 1, "top": 1, "right": 1, "bottom2": 1, "top2": 1,
          "left2": 0.6, "right2": 0.6, "bottom3": 0.5, "top3": 0.5}, 8),
        # A region with itself.
        (SQUARE | SQUARE, 1, {"left": 1, "right": 1, "bottom": 1, "top": 1}, 4),
        (SQUARE & SQUARE, 1, {"left": 1, "right": 1, "bottom": 1, "top": 1}, 4),
        # A part that vanishes, and a stretch that both have.
        (SQUARE - Box((0, 1), (0.5, 2)), 0.5,
         {"left": 0.5, "right": 0.5, "bottom": 1, "bottom2": 1}, 4),
        (SQUARE & Box((0, 0.5), (-1, 2)), 0.5,
         {"left": 1, "bottom": 0.5, "top": 0.5, "right": 1}, 4),
        # A hole so narrow that few samples of the boundary see it.
        (Box((0, 100), (0, 1)) - Box((50.003, 50.004), (0.5, 2)), 100 - 5e-4,
         {"left": 1, "right": 1, "bottom": 100, "top": 99.999,
          "left2": 0.5, "right2": 0.5, "bottom2": 0.001}, 8),
        (Polygon(L_SHAPE) & Box((0, 2), (0, 1)), 2,
         {"surface": 5, "top": 1}, 4),
    ],
    ids=["touching disk", "touching circles", "hole at a seam", "self |", "self &", "cut off",
         "shared side", "narrow", "L"],
)  # fmt: skip
def test_coincident_and_touching_boundaries(domain, area, lengths, corners):
    assert domain.measure == pytest.approx(area, rel=1e-9)
    assert sizes_of(domain) == pytest.approx(lengths, rel=1e-6)
    assert len(domain.corners) == corners


def test_shared_faces_in_space():
    slot = CUBE - Box((0.25, 0.75), (0.25, 0.75), (0.5, 1))
    assert slot.measure == pytest.approx(0.875, rel=1e-3)
    assert sizes_of(slot) == pytest.approx(
        {"left": 1, "right": 1, "bottom": 1, "top": 1, "back": 1, "front": 0.75,
         "left2": 0.25, "right2": 0.25, "bottom2": 0.25, "top2": 0.25, "back2": 0.25},
        rel=2e-3,
    )  # fmt: skip
    assert np.all(slot.boundary("left2", 40).normals == [1, 0, 0])


def test_names_clash_into_numbers():
    rings = (Disk((0, 0), 1) | Disk((1, 0), 1)) | Disk((2, 0), 1)
    assert rings.parts == ("surface", "surface2", "surface3")
    other = Disk((5, 0), 1) | (Disk((0, 0), 1) | Disk((1, 0), 1))
    assert other.parts == ("surface", "surface2", "surface3")
    left = SQUARE - Box((0.3, 0.5), (0.4, 0.6)) - Disk((0.7, 0.5), 0.1).named("left")
    assert left.parts[4:] == ("left2", "right2", "bottom2", "top2", "left3")


def test_naming_joins_all_parts():
    walls = Box((0, 1), (0, 2)).named("wall")
    assert walls.parts == ("wall",)
    assert walls.boundary_measure("wall") == 6
    assert len(walls.corners) == 4
    assert walls.measure == 2
    step = (SQUARE - Box((0, 0.5), (0, 0.5)).named("step")).parts
    assert step == ("left", "right", "bottom", "top", "step")


def test_parts_by_a_function():
    channel = Box((0, 4), (0, 1)) - Disk((1, 0.5), 0.2).named("cylinder")
    domain = channel.part("inflow", lambda x, y: (x < 1e-9) & (y > 0.25) & (y < 0.75))
    domain = domain.part("wake", lambda x, y: (x > 1) & (np.hypot(x - 1, y - 0.5) < 0.21))
    assert sizes_of(domain) == pytest.approx(
        {"left": 0.5, "right": 1, "bottom": 4, "top": 4, "cylinder": 0.2 * math.pi,
         "inflow": 0.5, "wake": 0.2 * math.pi},
    )  # fmt: skip
    assert domain.boundary("wake", 50).points[:, 0].min() > 1
    assert domain.boundary("cylinder", 50).points[:, 0].max() < 1
    assert len(domain.corners) == 4
    assert domain.measure == channel.measure
    gone = SQUARE.part("lid", lambda x, y: y == 1)
    assert gone.parts == ("left", "right", "bottom", "lid")


def test_half_spaces_cut():
    half = Ball((0, 0, 0), 1) & HalfSpace((0, 0, 0.5), (0, 0, -1)).named("cut")
    assert half.measure == pytest.approx(5 * math.pi / 24, rel=2e-3)
    assert half.boundary_measure("cut") == pytest.approx(0.75 * math.pi, rel=0.01)
    assert half.boundary_measure("surface") == pytest.approx(math.pi, rel=0.01)
    assert np.all(half.boundary("cut", 20).normals == [0, 0, -1])
    assert half.bounds[0][2] < 0.5 < half.bounds[0][2] + 0.1
    triangle = SQUARE - HalfSpace((0, 1), (-1, -1))
    assert triangle.measure == pytest.approx(0.5)
    outside = SQUARE & (HalfSpace((0, 1), (1, 1)) | HalfSpace((0.9, 0.9), (-1, -1)))
    assert outside.measure == pytest.approx(0.5 + 0.02, rel=1e-9)


def test_periodic_boxes_with_holes():
    domain = Box((0, 1), (0, 1), periodic=("x",)) - Disk((0.5, 0.5), 0.2)
    assert domain.periodic_axes == (True, False)
    assert domain.parts == ("bottom", "top", "surface")
    assert domain.measure == pytest.approx(1 - 0.04 * math.pi, rel=1e-4)
    assert domain.bounds.tolist() == [[0, 0], [1, 1]]
    assert domain.named("wall").periodic_axes == (True, False)
    low, high = Disk((0, 0.5), 0.2), Disk((1, 0.5), 0.2)
    both = Box((0, 1), (0, 1), periodic=("x",)) - (low | high)
    assert sizes_of(both) == pytest.approx(
        {"bottom": 1, "top": 1, "surface": 0.2 * math.pi, "surface2": 0.2 * math.pi}
    )
    assert len(both.corners) == 0
    with pytest.raises(DomainError, match="periodic along x, but its two ends differ"):
        Box((0, 1), (0, 1), periodic=("x",)) - low
    with pytest.raises(DomainError, match="first region of a difference"):
        Box((0, 1), (0, 1), periodic=("x",)) | Disk((0.5, 0.5), 0.1)
    with pytest.raises(DomainError, match="first region of a difference"):
        SQUARE - Box((0, 1), (0, 1), periodic=("x",))


def test_only_regions_combine():
    with pytest.raises(DomainError, match="expected another region, got 1"):
        SQUARE - 1


@pytest.mark.parametrize("radius", [1e-4, 0.03])
def test_a_small_region_cut_from_large_faces(radius):
    octant = CUBE & Ball((0, 0, 0), radius)
    quarter = math.pi / 4 * radius**2
    assert octant.measure == pytest.approx(math.pi / 6 * radius**3, rel=2e-3)
    assert sizes_of(octant) == pytest.approx(
        {"left": quarter, "bottom": quarter, "back": quarter, "surface": 2 * quarter}, rel=0.01
    )
    assert np.linalg.norm(octant.boundary("left", 300).points, axis=1).max() <= radius


def test_a_small_share_of_a_sphere():
    cap = Ball((0, 0, 0), 1) & Ball((0, 0, 1.97), 1)
    # The caps are 0.015 high, three quarters of a percent of each sphere.
    expected = 2 * math.pi * 0.015
    assert sizes_of(cap) == pytest.approx({"surface": expected, "surface2": expected}, rel=0.01)
    found = cap.boundary("surface", 1000)
    assert len(found.points) == 1000
    assert found.points[:, 2].min() >= 0.985 - 1e-9


@pytest.mark.parametrize(("low", "high"), [(-1.0, 0.0), (-1.0, 0.3), (-0.2, 1.0)])
def test_parts_that_begin_beyond_an_end_leave_no_slivers(low, high):
    whole = Box((-1, 1), (0, 1))
    domain = whole.part("held", lambda x, y: (y < 1e-12) & (x < high) & (x > low))
    curves = [c for own in domain.pieces_in(None).values() for c in own]
    assert min(c.measure for c in curves) > 0.1
    assert sum(c.measure for c in curves) == pytest.approx(6.0)


def aligned(seed):
    """Return a combination of boxes and disks with round numbers: sides lie flush, curves touch."""
    random = np.random.default_rng(seed)
    whole = None
    while whole is None or random.random() < 0.6:
        x, y = (np.sort(random.choice(9, 2, replace=False)) / 4 - 1 for _ in range(2))
        box = Box(tuple(x.tolist()), tuple(y.tolist()))
        centre, radius = random.integers(-2, 3, 2) / 4, random.integers(1, 5) / 4
        own = box if random.random() < 0.6 else Disk(tuple(centre.tolist()), float(radius))
        whole = own if whole is None else random.choice([whole.__or__, whole.__sub__])(own)
    return whole


@pytest.mark.parametrize("seed", range(40))
def test_boundaries_that_lie_flush_enclose_what_is_inside(seed):
    """The area comes from the boundary, each stretch of which counts once."""
    try:
        domain = aligned(seed)
    except DomainError:
        pytest.skip("nothing is left of it")
    places = (np.arange(240) + 0.5) / 240 * 3 - 1.5 + 1e-5
    grid = np.stack(np.meshgrid(places, places), axis=-1).reshape(-1, 2)
    inside = np.count_nonzero(domain.contains(grid)) * (3 / 240) ** 2
    assert domain.measure == pytest.approx(inside, abs=0.03)


def test_a_side_that_two_regions_share_in_part_counts_once():
    bent = Box((-0.25, 1), (-0.5, 0.5)) - Box((0.5, 1), (-0.75, 0.25))
    domain = bent | Box((0, 1), (-0.25, 0.5))
    assert domain.measure == pytest.approx(1.125, rel=1e-12)
    length = sum(sizes_of(domain).values())
    assert length == pytest.approx(2 * (1.25 + 1.0), rel=1e-12)


@pytest.mark.parametrize("box", [Box((-1, 1), (0, 1)), Box((-1, 1), (0, 2)), Box((-2, 2), (0, 2))])
def test_a_box_that_touches_a_disk_at_its_corner_cuts_it_there(box):
    """Beside the corner the box's side is no farther from the circle than rounding."""
    corners = (Disk((0, 0), 1) & box).corners
    assert np.abs(np.sort(corners[:, 0]) - [-1, 1]).max() < 1e-12
    assert np.abs(corners[:, 1]).max() < 1e-12


@pytest.mark.parametrize(
    ("region", "shut", "kept"),
    [
        (
            Box((-1, 1), (-1, 1)) - Box((-0.3, 0.3), (-0.2, 1)),
            [(0.0, 1.0), (0.29, 1.0)],
            [(-0.3, 1.0), (0.3, -0.2), (0.0, -0.2), (0.3, 0.5), (-0.5, 1.0)],
        ),
        (
            (Box((-1, 1), (-1, 1)) - Box((0, 1), (0, 1))).named("rim") - Disk((-0.5, -0.5), 0.2),
            [(1.0, 0.2), (0.2, 1.0)],
            [(0.0, 1.0), (1.0, -0.2), (0.0, 0.5), (-0.3, -0.5)],
        ),
        (
            Box((0, 1), (0, 1)) - Box((0.5, 1), (0, 1)) | Box((0.8, 2), (0, 0.5)),
            [(1.0, 0.7)],
            [(1.0, 0.3), (0.5, 0.7), (2.0, 0.5)],
        ),
        (
            Box((0, 1), (0, 1), (0, 1)) - Box((0.5, 1), (0.5, 1), (0.5, 1)),
            [(1.0, 0.7, 0.7)],
            [(0.5, 0.7, 0.7), (1.0, 0.2, 0.2)],
        ),
    ],
)
def test_faces_behind_which_nothing_is_left_are_not_inside(region, shut, kept):
    assert not region.contains(np.array(shut)).any()
    assert region.contains(np.array(kept)).all()


def test_far_from_a_hole_a_level_set_is_only_asked_for_its_sign():
    """Of no points, feet of perpendiculars were sought all the same: ten of eleven seconds."""
    calls = []
    egg = Implicit(lambda x, y: calls.append(x) or x**2 + 2 * y**2 - 1, ((-1.2, 1.2), (-1, 1)))
    plate = egg - Disk((0.3, 0), 0.2)
    assert plate.measure > 0
    calls.clear()
    inside = plate.contains(np.array([(-0.5, 0.1), (0.7, 0.1), (2.0, 0.0)]))
    assert inside.tolist() == [True, True, False] and len(calls) == 1


def test_pieces_that_were_given_one_name_are_one_part():
    """The second was ``hole2``, and had the condition of the rest of the boundary."""
    one, two = Disk((0.3, 0.3), 0.1).named("hole"), Disk((0.7, 0.6), 0.15).named("hole")
    plate = Box((0, 1), (0, 1)) - one - two
    assert plate.parts == ("left", "right", "bottom", "top", "hole")
    assert plate.boundary_measure("hole") == pytest.approx(0.5 * math.pi)
    assert restore_domain(plate.state()).parts == plate.parts
    marked = Box((0, 1), (0, 1)).part("hole", lambda x, y: x < 1e-9) - two
    assert marked.boundary_measure("hole") == pytest.approx(1 + 0.3 * math.pi)
    # Names that nobody gave are told apart.
    plain = Disk((0, 0), 1) - Disk((0.3, 0), 0.2) - Disk((-0.3, 0), 0.2).named("hole")
    assert plain.parts == ("surface", "surface2", "hole")
