"""Corners at which free sides of a plate meet need a condition of their own."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.trust.free_corners import free_corners, twisted

NU = 0.3
SQUARE = sf.Box((0, 1), (0, 1))


def free(across):
    """The moment and the shear force on a side across an axis."""

    def both(w, x, y):
        one, other = (w.dxx, w.dyy) if across == "x" else (w.dyy, w.dxx)
        moment = one + NU * other
        along, beside = ("x", "y") if across == "x" else ("y", "x")
        return moment, moment.d(along, 1) + 2 * (1 - NU) * w.dxy.d(beside, 1)

    return both


def bilaplacian(w):
    return w.d("x", 4) + 2 * w.dxx.dyy + w.d("y", 4)


def plate(*conditions, **sides):
    held = {"left": lambda w, x, y: (w, w.dx), "right": free("x")}
    both = {"bottom": free("y"), "top": free("y")}
    return sf.Problem(
        SQUARE,
        lambda w, x, y: bilaplacian(w) - 1,
        conditions=conditions,
        **{**held, **both, **sides},
    )


def twist(x, y):
    return sf.at((x, y), lambda w, x, y: w.dxy)


def test_free_sides_leave_a_force_at_their_corner_open():
    outcome = sf.solve(plate(), tol=0.1).outcome
    assert outcome.kind == "ill-posed"
    assert "corner (1, 0)" in outcome.detail
    assert "sf.at((1, 0), lambda w, x, y: w.dxy)" in outcome.detail
    assert "corner (1, 1)" in twisted(plate(twist(1, 0))).detail


def test_with_moments_at_its_corners_a_cantilever_plate_is_solved():
    solution = sf.solve(plate(twist(1, 0), twist(1, 1)), tol=1e-3)
    # 0.129 q a^4 / D in the middle of the free side, from tables for nu = 0.3.
    assert solution.converged and abs(solution(1, 0.5) - 0.129) < 5e-4


@pytest.mark.parametrize(
    ("sides", "corners"),
    [
        ({}, 2),
        ({"right": lambda w, x, y: (w, w.dxx)}, 0),  # supported
        ({"right": lambda w, x, y: (w.dx, w.d("x", 3))}, 0),  # a line of symmetry
        ({"top": lambda w, x, y: (w, w.dy)}, 1),
        ({"top": lambda w, x, y: (w.dyy + NU * w.dxx, w.d("y", 3) + 5 * w)}, 2),  # on springs
    ],
)
def test_which_corners_are_free(sides, corners):
    assert len(free_corners(plate(**sides))) == corners


def test_shapes_without_corners_and_equations_of_order_two_have_none():
    disk = sf.Problem(
        sf.Disk((0, 0), 1),
        lambda w, x, y: bilaplacian(w) - 1,
        boundary=lambda w, x, y: (w.dxx, w.dyy),
    )
    assert not len(free_corners(disk))
    box = sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u) - u, boundary=lambda u, x, y: u.dxx)
    assert not len(free_corners(box))


def test_modes_and_motions_of_such_plates_are_refused():
    free_all_round = {side: free("x") for side in ("left", "right")}
    modes = sf.Problem(
        SQUARE,
        lambda w, lam, x, y: bilaplacian(w) - lam * w,
        **free_all_round,
        bottom=free("y"),
        top=free("y"),
    )
    with pytest.raises(ProblemError, match="a force at the corner open"):
        sf.eigs(modes, k=2)
    motion = sf.Problem(
        SQUARE,
        lambda w, x, y, t: w.dtt + bilaplacian(w),
        left=lambda w, x, y, t: (w, w.dx),
        right=lambda w, x, y, t: free("x")(w, x, y),
        bottom=lambda w, x, y, t: free("y")(w, x, y),
        top=lambda w, x, y, t: free("y")(w, x, y),
        initial=(lambda x, y: x**2, 0),
        time=(0, 0.1),
    )
    with pytest.raises(ProblemError, match="a force at the corner open"):
        sf.solve(motion, tol=1e-2)


def test_a_polygon_has_them_too():
    triangle = sf.Polygon([(0, 0), (1, 0), (0, 1)]).part("held", lambda x, y: x < 1e-9)
    problem = sf.Problem(
        triangle,
        lambda w, x, y: bilaplacian(w) - 1,
        held=lambda w, x, y: (w, w.dx),
        boundary=lambda w, x, y: (w.dxx + w.dyy, w.d("x", 3) + w.d("y", 3)),
    )
    np.testing.assert_allclose(free_corners(problem), [[1, 0]])
