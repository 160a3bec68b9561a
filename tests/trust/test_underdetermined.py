"""What equations and conditions leave free, found without solving anything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.geometry import Box
from sharpfront.trust.underdetermined import left_free, left_open, require_unknowns

quick = settings(max_examples=15, derandomize=True, deadline=None, database=None)
places = st.tuples(st.floats(0.05, 0.95), st.floats(0.05, 0.95))


def stokes(domain, *conditions):
    return sf.Problem(
        domain,
        lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
        boundary=lambda u, v, p, x, y: (u - y, v),
        conditions=conditions,
    )


@quick
@given(place=places, size=st.floats(1e-2, 1e2))
def test_a_pressure_needs_a_value_anywhere(place, size):
    domain = Box((0, size), (0, 1))
    free = left_free(stokes(domain))
    assert free is not None
    assert free.kind == "ill-posed"
    assert free.detail.endswith("any constant may be added to p.")
    point = (size * place[0], place[1])
    assert left_free(stokes(domain, sf.at(point, lambda u, v, p, x, y: p))) is None
    assert left_free(stokes(domain, sf.integral(lambda u, v, p, x, y: p))) is None
    assert left_free(stokes(domain, sf.at(point, lambda u, v, p, x, y: p.dx))) is not None


def body(domain, *conditions, stiffness=1.0):
    """A body under no forces on its boundary, which has one normal for each part."""

    def stress(u, v):
        return (
            stiffness * (3 * u.dx + v.dy),
            stiffness * (3 * v.dy + u.dx),
            stiffness * (u.dy + v.dx),
        )

    def equations(u, v, x, y):
        along, across, shear = stress(u, v)
        return along.dx + shear.dy, shear.dx + across.dy

    def upright(u, v, x, y):
        along, _, shear = stress(u, v)
        return along, shear

    def flat(u, v, x, y):
        _, across, shear = stress(u, v)
        return across, shear

    return sf.Problem(
        domain,
        equations,
        left=upright,
        right=upright,
        bottom=flat,
        top=flat,
        conditions=conditions,
    )


@quick
@given(
    first=places,
    second=places,
    stiffness=st.floats(1e-6, 1e12),
    slenderness=st.floats(0.02, 500),
)
def test_a_body_is_held_by_three_conditions_that_do_not_let_it_turn(
    first, second, stiffness, slenderness
):
    domain = Box((0, slenderness), (0, 1))
    one = (slenderness * first[0], first[1])
    other = (slenderness * second[0], second[1])
    pins = [sf.at(one, lambda u, v, x, y: u), sf.at(one, lambda u, v, x, y: v)]
    words = left_free(body(domain, stiffness=stiffness)).detail
    assert "added to u; any constant may be added to v; u and v can turn" in words
    words = left_free(body(domain, *pins, stiffness=stiffness)).detail
    assert "constant" not in words
    assert "u and v can turn" in words
    if abs(first[0] - second[0]) > 0.05:
        held = body(domain, *pins, sf.at(other, lambda u, v, x, y: v), stiffness=stiffness)
        assert left_free(held) is None


def test_a_plate_without_support_can_tilt_and_one_with_slopes_alone_can_be_shifted():
    def plate(conditions):
        return sf.Problem(
            sf.Disk((0, 0), 1),
            lambda u, x, y: sf.laplacian(sf.laplacian(u)) - 1,
            boundary=conditions,
        )

    tilting = left_free(plate(lambda u, x, y: (u.dxx + u.dyy, u.dxx.dx + u.dxx.dy)))
    assert "a linear function may be added to u" in tilting.detail
    shifted = left_free(plate(lambda u, x, y: (u.dn, sf.laplacian(u).dn)))
    assert shifted.detail.endswith("any constant may be added to u.")
    assert left_free(plate(lambda u, x, y: (u, u.dn))) is None


@pytest.mark.parametrize("periodic", [("x",), ("x", "y")])
def test_a_periodic_axis_does_not_let_a_solution_tilt(periodic):
    domain = Box((0, 1), (0, 2), periodic=periodic)
    pair = sf.Problem(
        domain,
        lambda u, v, x, y: (sf.laplacian(u) - np.sin(2 * np.pi * x), sf.laplacian(v) - v),
        **({} if "y" in periodic else {"boundary": lambda u, v, x, y: (u.dn, v.dn)}),
    )
    assert left_free(pair).detail.endswith("any constant may be added to u.")


def test_what_moves_together_is_named_together():
    exchange = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x: (u.dxx - u + v, v.dxx + u - v),
        boundary=lambda u, v, x: (u.dn, v.dn),
    )
    assert left_free(exchange).detail.endswith("any constant may be added to u and v.")


APART = {
    "boxes": (sf.Box((0, 1), (0, 1)), sf.Box((2, 3.3), (0.2, 1))),
    "disks": (sf.Disk((0, 0), 1), sf.Disk((3.1, 0.4), 0.7)),
    "box and disk": (sf.Box((0, 1), (0, 1)), sf.Disk((3.1, 0.4), 0.7)),
    "box and ring": (
        sf.Box((0, 1), (0, 1)),
        sf.Disk((3.1, 0.4), 0.7) - sf.Disk((3.1, 0.4), 0.2),
    ),
}


def in_pieces(name, insulated):
    """Return a problem on two pieces that do not touch, whose second is held or not."""
    first, second = APART[name]
    return sf.Problem(
        first.named("first") | second.named("second"),
        lambda u, x, y: -sf.laplacian(u) - np.where(x < 1.5, 1.0, 0.0),
        first=lambda u, x, y: u,
        second=lambda u, x, y: u.dn if insulated else u.dn + u,
    )


@pytest.mark.parametrize("name", APART)
def test_a_piece_that_nothing_holds_is_found(name):
    outcome = sf.solve(in_pieces(name, insulated=True), tol=1e-3).outcome
    assert outcome.kind == "ill-posed"
    assert "any constant may be added to u in the piece between (2" in outcome.detail


@pytest.mark.parametrize("name", APART)
def test_pieces_that_are_held_are_left_alone(name):
    assert left_free(in_pieces(name, insulated=False)) is None


def test_a_piece_that_was_taken_away_again_needs_nothing():
    domain = (sf.Disk((-0.5, 0), 0.5) | sf.Box((0.25, 0.5), (0.75, 1))) - sf.Disk((0, 0.5), 1)
    problem = sf.Problem(domain, lambda u, x, y: -sf.laplacian(u) - 1, boundary=lambda u, x, y: u)
    assert sf.solve(problem, tol=1e-3).converged


@pytest.mark.parametrize("edge", [lambda x, y: x > 0.6, lambda x, y: x + y > 1.3])
@pytest.mark.parametrize("inside", [True, False])
def test_a_conductivity_of_nothing_on_one_side_is_refused(edge, inside):
    def equation(u, x, y):
        k = np.where(edge(x, y), 0.0, 1.0)
        return (sf.div(k * sf.grad(u)) if inside else k * sf.laplacian(u)) - 1

    problem = sf.Problem(Box((0, 1), (0, 1)), equation, boundary=lambda u, x, y: u)
    with pytest.raises(ProblemError, match="says nothing about unknowns"):
        sf.solve(problem, tol=1e-2)


def test_a_rod_that_conducts_nothing_on_one_side_is_refused():
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: (np.where(x > 0.5, 0, 1) * u.dx).dx - 1, boundary="u = 0"
    )
    with pytest.raises(ProblemError, match="says nothing about unknowns"):
        sf.solve(problem)


def test_coefficients_that_vanish_on_a_line_or_leave_another_are_not_refused():
    for equation in (
        lambda u, x, y: np.abs(x - 0.5) * sf.laplacian(u) - 1,
        lambda u, x, y: np.where(x > 0.5, 0, 1) * sf.laplacian(u) + u - 1,
    ):
        require_unknowns(sf.Problem(Box((0, 1), (0, 1)), equation, boundary="u = 0"))


SQUARE = Box((0, 1), (0, 1))
FLOW = (
    lambda u, v, p, x, y: (-sf.laplacian(u) + p.dx, -sf.laplacian(v) + p.dy, u.dx + v.dy),
    lambda u, v, p, x, y: (u, v),
)
SHORT = {
    "a plate with its height only": sf.Problem(
        SQUARE,
        lambda u, x, y: u.d("x", 4) + 2 * u.dxx.dyy + u.d("y", 4) - 1,
        boundary=lambda u, x, y: u,
    ),
    "a plate as two equations": sf.Problem(
        SQUARE,
        lambda u, v, x, y: (sf.laplacian(u) - v, sf.laplacian(v) - 1),
        boundary=lambda u, v, x, y: u,
    ),
    "an outlet with a pressure only": sf.Problem(
        SQUARE, FLOW[0], boundary=FLOW[1], right=lambda u, v, p, x, y: p
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_too_few_conditions_on_a_side_are_counted(name):
    """All of these had been called converged."""
    outcome = sf.solve(SHORT[name], tol=1e-4).outcome
    assert outcome.kind == "ill-posed"
    assert "of order 4 together need 2 conditions" in outcome.detail
    assert "1 on right" in outcome.detail


def test_waves_and_transport_need_no_condition_where_they_leave():
    wave = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (u.dy - v.dx, v.dy - u.dx),
        left=lambda u, v, x, y: u,
        right=lambda u, v, x, y: u,
        bottom=lambda u, v, x, y: (u - np.sin(np.pi * x), v),
    )
    carried = sf.Problem(
        SQUARE,
        lambda u, v, x, y: (-sf.laplacian(u) - 1, v.dx - u),
        boundary=lambda u, v, x, y: u,
        left=lambda u, v, x, y: (u, v),
    )
    for problem in (wave, carried):
        assert left_open(problem) is None


def test_waves_with_conditions_all_round_are_ill_posed():
    """Called converged with twice its tolerance before: changes of data grow without bound."""
    around = sf.Problem(SQUARE, lambda u, x, y: u.dxx - 2 * u.dyy - 1, boundary=lambda u, x, y: u)
    outcome = sf.solve(around, tol=1e-4).outcome
    assert outcome.kind == "ill-posed"
    assert "one of waves" in outcome.detail
    started = sf.Problem(
        SQUARE,
        lambda u, x, y: u.dyy - u.dxx,
        left=lambda u, x, y: u,
        right=lambda u, x, y: u,
        bottom=lambda u, x, y: (u - np.sin(np.pi * x), u.dy),
    )
    mixed = sf.Problem(
        SQUARE, lambda u, x, y: (y - 0.5) * u.dxx + u.dyy - 1, boundary=lambda u, x, y: u
    )
    for problem in (started, mixed):
        assert left_open(problem) is None


@pytest.mark.parametrize(
    "domain",
    [
        (SQUARE | Box((1, 2), (1, 2))).part("held", lambda x, y: x < 1e-9),
        (SQUARE - Box((0.4, 0.6), (-1, 2))).part("held", lambda x, y: x < 1e-9),
        SQUARE - Box((0.4, 0.6), (-1, 2)),
    ],
)
def test_pieces_whose_boxes_touch_are_told_to_be_free(domain):
    """One patch that nothing holds was given whatever stood in its memory."""
    held = "held" if "held" in domain.parts else "left"
    problem = sf.Problem(
        domain,
        lambda u, x, y: -sf.laplacian(u),
        boundary=lambda u, x, y: u.dn,
        **{held: lambda u, x, y: u - 1},
    )
    assert sf.solve(problem, tol=1e-3).outcome.kind == "near-singular"


@pytest.mark.parametrize(
    ("order", "boundary", "words"),
    [
        (2, lambda u, x: u.dn, "any constant may be added to u"),
        (4, lambda u, x: (u.dxx, u.d("x", 3)), "a linear function may be added to u"),
    ],
)
def test_what_slopes_on_a_line_leave_free_is_named(order, boundary, words):
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.d("x", order) - np.cos(np.pi * x), boundary=boundary
    )
    outcome = sf.solve(problem).outcome
    assert outcome.kind == "near-singular" and words in outcome.detail
    # A resonance leaves no constant free.
    swings = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dxx + np.pi**2 * u - x, boundary=lambda u, x: u.dn
    )
    outcome = sf.solve(swings).outcome
    assert outcome.kind == "near-singular" and "may be added" not in outcome.detail
