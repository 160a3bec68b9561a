"""States that miss conditions at an end meet all of them, and little else changes."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.evolve.end_corrections import EndCorrection, corrections
from sharpfront.evolve.time_system import time_system


def found_at(side, conditions, starts, unknowns="u", order=2, tol=1e-6):
    """Return states of a system before and after their corrections at an end, as functions."""
    names = unknowns.split()
    problem = sf.Problem(
        sf.Interval(0, 1),
        tuple(f"{n}_t + {n}_xxxx = 0" if order == 4 else f"{n}_t = {n}_xx" for n in names),
        initial=tuple(starts) if len(starts) > 1 else starts[0],
        time=(0, 1),
        **conditions,
    )
    system = time_system(problem)
    states = [system.initial(n) for n in names]
    found, words = corrections(system, states, side, tol, 1e-12, 1e-6)
    end = float(side)

    def value(i, inward):
        own = states[i](np.array([abs(end - inward)]))
        return float((own + sum(c.values(np.array([inward])) for k, c in found if k == i))[0])

    return value, found, words


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("diffusion", [1.0, 1e-3])
def test_what_a_slope_does_to_the_value_in_its_condition_counts(side, diffusion):
    """Alone it leaves 1e-3 of the condition at the smaller diffusion."""
    sense = 1 - 2 * side
    inlet = f"u - {sense * diffusion}*u_x = 1"
    parts = (
        {"left": inlet, "right": "u_x = 0"} if side == 0 else {"left": "u_x = 0", "right": inlet}
    )
    value, found, _ = found_at(side, parts, [0.0])
    ((_, c),) = found
    assert c.order == 1
    at, slope, *_ = (c.amount * own for own in c.at_end)
    assert abs(at - sense * diffusion * slope - 1) < 1e-12
    assert value(0, 0.1) == 0.0


@pytest.mark.parametrize("side", [0, 1])
def test_value_and_slope_of_a_clamped_end_are_met_together(side):
    parts = {"boundary": lambda u, x, t: (u - 0.3, u.dx - 2)}
    value, found, words = found_at(side, parts, [lambda x: np.cos(x)], order=4)
    assert sorted(c.order for _, c in found) == [0, 1] and len(words) >= 1
    assert abs(value(0, 0.0) - 0.3) < 1e-12
    slope = -np.sin(side) + sum(c.amount * c.at_end[1] for _, c in found)
    assert abs(slope - 2) < 1e-9


@pytest.mark.parametrize("start", [0.2, 3.0])
def test_conditions_that_are_not_linear_are_met(start):
    value, _, _ = found_at(1, {"left": "u = 0", "right": "u**4 + u = 18"}, [start])
    assert abs(value(0, 0.0) - 2) < 1e-10


def test_two_conditions_on_the_same_unknowns_are_met_by_both():
    parts = {"boundary": lambda u, v, x, t: (u + v - 3, u - v - 1)}
    value, _, _ = found_at(0, parts, [0.5, 0.5], "u v")
    assert abs(value(0, 0.0) - 2) < 1e-12 and abs(value(1, 0.0) - 1) < 1e-12


@pytest.mark.parametrize(
    "correction",
    [
        EndCorrection(0, 2.0, 0.1, 0),
        EndCorrection(1, 2.0, 0.1, 1),
        EndCorrection(1, 2.0, 0.1, 0, flat=True),
        EndCorrection(0, 2.0, 0.1, 1, flat=True),
        EndCorrection(1, 2.0, 0.1, 2, flat=True),
    ],
)
def test_value_and_slope_at_the_end_are_what_is_said(correction):
    inward = np.array([0.0, 1e-6])
    here, beside = correction.values(inward)
    slope = (beside - here) / 1e-6 * (1 - 2 * correction.side)
    assert np.allclose([here, slope], 2 * np.array(correction.at_end[:2]), atol=1e-3)


def test_states_that_meet_their_conditions_are_left_alone():
    _, found, words = found_at(0, {"boundary": "u_x = 0"}, [1.0])
    assert found == [] and words == []


def test_an_inlet_whose_start_misses_it_is_followed():
    """At 1e-8 no step was short enough: the condition was missed by a thousandth at all times."""
    column = sf.Problem(
        sf.Interval(0, 1),
        lambda c, x, t: c.dt + c.dx - 1e-3 * c.dxx,
        left=lambda c, x, t: c - 1e-3 * c.dx - 1,
        right=lambda c, x, t: c.dx,
        initial=0,
        time=(0, 0.5),
    )
    exact = sf.solve(column, tol=1e-5)
    finer = sf.solve(column, tol=1e-8)
    assert exact.converged and finer.domain.time[1] == 0.5
    x = np.linspace(0, 1, 201)
    assert np.abs(exact(x, 0.5) - finer(x, 0.5)).max() < 1e-5


def released(initial, tol, **conditions):
    return sf.solve(
        sf.Problem(
            sf.Interval(0, 1),
            lambda u, x, t: u.dt + 0.01 * u.d("x", 4) + u**3,
            initial=initial,
            time=(0, 0.1),
            **conditions,
        ),
        tol=tol,
    )


@pytest.mark.parametrize(
    "held",
    [
        lambda u, x, t: (u, u.dxx),
        lambda u, x, t: (u, u.dx),
        lambda u, x, t: (u.dx, u.dxxx),
    ],
    ids=["hinged", "clamped", "no flux"],
)
def test_starts_that_miss_conditions_of_an_equation_of_order_four(held):
    """No step was short enough where second derivatives were off."""

    def start(x):
        return np.sin(np.pi * x) ** 2 + 0.2 * np.sin(np.pi * x)

    rough, fine = (released(start, tol, boundary=held) for tol in (1e-4, 1e-6))
    assert rough.converged and fine.converged
    x = np.linspace(0, 1, 101)
    for t in (0.01, 0.1):
        assert np.abs(rough(x, t) - fine(x, t)).max() < 1e-4


def test_a_start_that_is_no_formula_keeps_its_second_derivatives():
    _, found, words = found_at(
        0, {"boundary": lambda u, x, t: (u.dx, u.dxxx)}, [sf.function(lambda x: np.cos(np.pi * x))],
        order=4,
    )  # fmt: skip
    assert found == [] and words == []


def test_a_flow_through_an_end_that_a_field_takes_part_in():
    """What a constraint holds is not known at first: at 1e-6 no mesh held the start."""

    def stated(tol):
        return sf.solve(
            sf.Problem(
                sf.Interval(0, 1),
                lambda n, v, x, t: (n.dt - 0.01 * n.dxx + (n * v.dx).dx, v.dxx + 20 * (n - 1)),
                left=lambda n, v, x, t: (0.01 * n.dx - n * v.dx, v),
                right=lambda n, v, x, t: (0.01 * n.dx - n * v.dx, v - 0.1),
                initial={"n": lambda x: 1 + 0.2 * np.cos(2 * np.pi * x)},
                time=(0, 0.1),
            ),
            tol=tol,
        )

    rough, fine = stated(1e-4), stated(1e-7)
    assert rough.converged and fine.converged
    assert abs(fine.n.integral(t=0.1) - 1) < 1e-5
    x = np.linspace(0, 1, 101)
    size = np.abs(fine.n(x, 0.1)).max()
    assert np.abs(rough.n(x, 0.1) - fine.n(x, 0.1)).max() < 1e-4 * size


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-8])
def test_a_constraint_that_contradicts_a_condition_has_no_size(tol):
    """Meshes that did not resolve it left sizes of 1e27, beside which any error was nothing."""
    split = sf.Problem(
        sf.Interval(0, 1),
        lambda u, m, x, t: (u.dt + m.dxx + u**3, m - 0.01 * u.dxx),
        boundary=lambda u, m, x, t: (u, m),  # but m starts with 0.2 there
        initial={"u": lambda x: np.sin(np.pi * x) ** 2},
        time=(0, 0.5),
    )
    assert not sf.solve(split, tol=tol).converged


def test_the_weaker_run_begins_with_what_a_constraint_holds_too():
    """From nothing it did not find the root of a cubic in any step."""
    reacting = sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (u.dt - 0.01 * u.dxx - v + u, v**3 + v - u - 1),
        boundary=lambda u, v, x, t: u.dx,
        initial={"u": lambda x: np.cos(np.pi * x)},
        time=(0, 1),
    )
    solution = sf.solve(reacting, tol=1e-6)
    assert solution.converged
    u, v = solution.u(0.3, 0.7), solution.v(0.3, 0.7)
    assert abs(v**3 + v - u - 1) < 1e-6
