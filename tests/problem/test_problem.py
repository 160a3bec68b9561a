"""The problem statement: domain, equation and conditions, and what does not fit together."""

from __future__ import annotations

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation import laplacian
from sharpfront.equation.values import environment, form_values
from sharpfront.errors import EquationError, ProblemError
from sharpfront.geometry import Box, Interval
from sharpfront.kernels.assemble import RowSet, assemble
from sharpfront.kernels.basis import isotropic
from sharpfront.problem import Condition, Problem, at, integral

UNIT = Interval(0, 1)
SQUARE = Box((0, 1), (0, 1))


def values(form, coordinates, points, normals=None):
    """The form as a dictionary: value of each coefficient by (unknown, orders), and the source."""
    points = np.atleast_2d(np.array(points, dtype=float))
    normals = None if normals is None else np.atleast_2d(np.array(normals, dtype=float))
    leaves = environment(coordinates, points, normals)
    coefficients, source = form_values(form, leaves, len(points))
    keys = [(t.unknown, t.orders) for t in form.terms]
    return dict(zip(keys, (float(c[0]) for c in coefficients), strict=True)), float(source[0])


def layer(**changes):
    arguments = {"left": lambda u, x: u, "right": lambda u, x: u - 1} | changes
    return Problem(UNIT, lambda u, x: -0.01 * u.dxx + (1 + x) * u.dx - np.exp(x), **arguments)


def test_a_residual_becomes_its_linear_form():
    problem = layer()
    assert (problem.unknowns, problem.coordinates) == (("u",), ("x",))
    assert problem.domain is UNIT
    (form,) = problem.forms
    coefficients, source = values(form, ("x",), [[0.5]])
    assert coefficients == {("u", (2,)): -0.01, ("u", (1,)): 1.5}
    assert source == pytest.approx(-np.exp(0.5))
    assert form.order == 2


def test_conditions_are_those_of_the_named_parts():
    problem = layer()
    assert [c.part for c in problem.conditions] == ["left", "right"]
    assert [values(c.forms[0], ("x",), [[0.0]])[1] for c in problem.conditions] == [0.0, -1.0]
    assert all(isinstance(c, Condition) for c in problem.conditions)


def test_parts_without_a_condition_have_none():
    assert [c.part for c in layer(right=None).conditions] == ["left"]
    assert layer(left=None, right=None).conditions == ()


def test_boundary_holds_wherever_no_part_overrides_it():
    problem = Problem(
        SQUARE,
        lambda u, x, y: -0.1 * laplacian(u) + u.dx - 1,
        boundary=lambda u, x, y: u - 5,
        right=lambda u, x, y: u.dn - 7,
        top=None,
    )
    sources = {}
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part)
        sources[condition.part] = values(
            condition.forms[0], problem.coordinates, face.points, face.normals
        )
    assert list(sources) == ["left", "right", "bottom", "top"]
    for part in ("left", "bottom", "top"):
        assert sources[part] == ({("u", (0, 0)): 1.0}, -5.0)
    assert sources["right"] == ({("u", (1, 0)): 1.0, ("u", (0, 1)): 0.0}, -7.0)


@pytest.mark.parametrize(
    "clamped",
    [
        lambda u, x: (u - 1, u.dx + 2),
        lambda u, x: [u - 1, u.dx + 2],
        ("u = 1", "u_x = -2"),
        (lambda u, x: u - 1, "u_x = -2"),
        (lambda u, x: u - 1, lambda u, x: u.dx + 2),
    ],
    ids=["tuple", "list", "texts", "mixed", "functions"],
)
def test_several_conditions_on_one_part(clamped):
    problem = Problem(UNIT, lambda u, x: u.dxxxx - 1, left=clamped, right=lambda u, x: (u, u.dx))
    left, right = problem.conditions
    assert [values(f, ("x",), [[0.0]]) for f in left.forms] == [
        ({("u", (0,)): 1.0}, -1.0),
        ({("u", (1,)): 1.0}, 2.0),
    ]
    assert len(right.forms) == 2


def test_texts_with_parameters_state_the_same_problem():
    text = Problem(
        UNIT,
        "-nu*u_xx + (1 + x)*u_x = exp(x)",
        parameters={"nu": 0.01, "top": 1.0},
        left="u = 0",
        right="u = top",
    )
    function = layer()
    assert text.unknowns == ("u",)
    assert text.parameters == {"nu": 0.01, "top": 1.0}
    for x in (0.0, 0.3, 1.0):
        one, other = (values(p.forms[0], ("x",), [[x]]) for p in (text, function))
        assert one[0] == pytest.approx(other[0])
        assert one[1] == pytest.approx(other[1])
    for one, other in zip(text.conditions, function.conditions, strict=True):
        assert values(one.forms[0], ("x",), [[0.0]]) == values(other.forms[0], ("x",), [[0.0]])


def test_the_callers_parameters_are_not_kept_by_reference():
    parameters = {"nu": 0.01}
    problem = Problem(UNIT, "-nu*u_xx + u_x", parameters=parameters, boundary="u")
    parameters["nu"] = 5.0
    assert problem.parameters == {"nu": 0.01}


def test_text_and_function_mix():
    problem = Problem(UNIT, "u_xx = k", parameters={"k": 2.0}, boundary=lambda u, x: u - x)
    assert values(problem.forms[0], ("x",), [[0.5]])[1] == -2.0
    assert values(problem.conditions[1].forms[0], ("x",), [[1.0]])[1] == -1.0


def test_systems_have_one_residual_per_unknown():
    problem = Problem(
        UNIT,
        lambda u, v, x: (u.dx - v, 0.1 * v.dx + 4 * u - x),
        left=lambda u, v, x: u,
        right=lambda v, x: v - 3,
    )
    assert problem.unknowns == ("u", "v")
    first, second = problem.forms
    assert values(first, ("x",), [[0.5]]) == ({("u", (1,)): 1.0, ("v", (0,)): -1.0}, 0.0)
    assert values(second, ("x",), [[0.5]]) == ({("v", (1,)): 0.1, ("u", (0,)): 4.0}, -0.5)
    assert values(problem.conditions[1].forms[0], ("x",), [[1.0]]) == ({("v", (0,)): 1.0}, -3.0)


@pytest.mark.parametrize(
    "equations",
    [
        ("u_x - v = 0", "0.1*v_x + 4*u = x"),
        (lambda u, v, x: u.dx - v, lambda u, v, x: 0.1 * v.dx + 4 * u - x),
    ],
    ids=["texts", "functions"],
)
def test_systems_are_also_tuples(equations):
    problem = Problem(UNIT, equations, left="u = 0", right="v = 3")
    assert problem.unknowns == ("u", "v")
    assert values(problem.forms[1], ("x",), [[0.5]]) == (
        {("v", (1,)): 0.1, ("u", (0,)): 4.0},
        -0.5,
    )


def test_systems_assemble_into_column_blocks():
    problem = Problem(
        UNIT,
        lambda u, v, x: (u.dx - v, v.dx + 4 * u - x),
        left=lambda u, v, x: u,
        right=lambda u, v, x: v - 3,
    )
    u = isotropic(np.linspace(0, 1, 4)[:, None], np.full(4, 0.3))
    v = isotropic(np.linspace(0, 1, 3)[:, None], np.full(3, 0.4))
    points = problem.domain.sample(6)
    rows = [RowSet("equation", problem.forms, points)]
    for condition in problem.conditions:
        face = problem.domain.boundary(condition.part)
        rows.append(RowSet(condition.part, condition.forms, face.points, face.normals))
    system = assemble(rows, dict(zip(problem.unknowns, (u, v), strict=True)), problem.coordinates)
    assert [b.label for b in system.blocks] == ["equation", "equation", "left", "right"]
    assert [b.matrix.shape for b in system.blocks] == [(6, 7), (6, 7), (1, 7), (1, 7)]
    first, second, left, right = (b.matrix for b in system.blocks)
    np.testing.assert_allclose(first, np.hstack([u.matrix(points, (1,)), -v.matrix(points, (0,))]))
    np.testing.assert_allclose(
        second, np.hstack([4 * u.matrix(points, (0,)), v.matrix(points, (1,))])
    )
    assert np.all(left[:, 4:] == 0)
    assert np.all(right[:, :4] == 0)
    np.testing.assert_allclose(system.rhs, [*[0.0] * 6, *points[:, 0], 0.0, 3.0])


def test_five_dimensions():
    box = Box(*[(0, 1)] * 5)
    problem = Problem(
        box,
        lambda u, *x: -laplacian(u) + x[4] * u.d("x2") - x[0],
        boundary=lambda u, *x: u - sum(x),
        x3_high=lambda u, *x: u.dn,
    )
    assert problem.coordinates == ("x1", "x2", "x3", "x4", "x5")
    assert [c.part for c in problem.conditions] == list(box.parts)
    point = [0.1, 0.2, 0.3, 0.4, 0.5]
    coefficients, source = values(problem.forms[0], problem.coordinates, point)
    second = {tuple(2 * (i == j) for j in range(5)): -1.0 for i in range(5)}
    assert coefficients == {("u", k): v for k, v in second.items()} | {("u", (0, 1, 0, 0, 0)): 0.5}
    assert source == pytest.approx(-0.1)
    assert values(problem.conditions[0].forms[0], problem.coordinates, point)[1] == pytest.approx(
        -1.5
    )
    named = Problem(box, lambda u, x1, x2, x3, x4, x5: laplacian(u) - x2, boundary=lambda u, *x: u)
    assert values(named.forms[0], named.coordinates, point)[1] == -0.2


def test_five_dimensions_assemble():
    box = Box(*[(0, 1)] * 5)
    problem = Problem(box, lambda u, *x: laplacian(u) - x[0], boundary=lambda u, *x: u)
    points = box.sample(7)
    basis = isotropic(box.sample(4, seed=1), np.full(4, 0.7))
    system = assemble([RowSet("equation", problem.forms, points)], {"u": basis}, box.coordinates)
    expected = sum(basis.matrix(points, tuple(2 * (i == j) for j in range(5))) for i in range(5))
    np.testing.assert_allclose(system.blocks[0].matrix, expected, atol=1e-13)
    np.testing.assert_allclose(system.rhs, points[:, 0])


@pytest.mark.parametrize(
    "problem, linear",
    [
        (lambda: layer(), True),
        (lambda: Problem(UNIT, lambda u, x: u.dxx + u * u.dx, boundary=lambda u, x: u), False),
        (lambda: layer(right=lambda u, x: u**2 - 1), False),
        (lambda: Problem(UNIT, "u_xx = exp(u)", boundary="u = 0"), False),
        (lambda: Problem(UNIT, lambda u, v, x: (u.dx - v, v.dx + u * v), left="u = 0"), False),
        (lambda: Problem(UNIT, lambda u, x: u.dxx + x**2 * u, boundary=lambda u, x: u), True),
    ],
)
def test_is_linear(problem, linear):
    assert problem().is_linear is linear


def test_forms_of_a_nonlinear_problem_are_refused():
    problem = Problem(UNIT, lambda u, x: u.dxx + u * u.dx, boundary=lambda u, x: u)
    with pytest.raises(EquationError, match="not linear"):
        _ = problem.forms


def test_repr_states_the_problem():
    text = repr(Problem(UNIT, "-nu*u_xx + u_x = 0", parameters={"nu": 0.5}, left="u = 0"))
    assert text.startswith("Problem(Interval(0, 1), ")
    assert "u_xx" in text
    assert "0.5" in text
    assert "left: u" in text
    assert "right" not in text
    assert "v_x" in repr(Problem(UNIT, lambda u, v, x: (u.dx, v.dx + u)))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Problem(UNIT, lambda u, x: (u.dx, u.dxx)), r"2 residual\(s\) for 1 unknown\(s\)"),
        (lambda: Problem(UNIT, lambda u, v, x: u.dx - v), r"1 residual\(s\) for 2.*u, v"),
        (lambda: Problem(UNIT, lambda u, nu, x: nu * u.dx), "nu=nu"),
        (lambda: Problem(UNIT, ("u_x = 1", "u_xx = 0")), r"2 residual\(s\) for 1"),
        (lambda: Problem(UNIT, lambda x: x), "no unknown"),
        (lambda: Problem(UNIT, lambda u, x: x - 1), "does not contain an unknown"),
        (lambda: Problem(UNIT, "x = 1"), "No derivative"),
        (lambda: Problem(UNIT, lambda u, x, y: u.dx), "'y' is not a coordinate"),
        (lambda: Problem(UNIT, lambda u, x, t: u.dx), "time"),
        (lambda: Problem(UNIT, "k*u_xx = 0"), "'k'.*not known"),
        (lambda: Problem(UNIT, 3.0), "Expected a function"),
        (lambda: Problem(UNIT, ()), "empty tuple"),
        (lambda: layer(left=()), "condition on 'left' is an empty tuple"),
        (lambda: layer(left=("u", 3)), "is the number 3; it must say of what"),
        (lambda: layer(left=lambda u, x: 1 + x), "condition on 'left' does not contain"),
        (lambda: layer(left=lambda u, x: None), "condition on 'left' returned None"),
        (lambda: layer(left=lambda w, x: w), "condition on 'left'.*'w'"),
        (lambda: layer(left="w = 1"), "'w'"),
        (lambda: Problem(UNIT, lambda u, x: u.dx - sf.integral(lambda u, x: u)), r"J\.dx as one"),
        (lambda: layer(left=lambda u, x: u - sf.at(1, "u")), r"conditions=\[sf\.at\(0\.5"),
        (lambda: Problem(UNIT, lambda u, x: u.dx - np.mean(u)), r"conditions=\[sf\.integral"),
    ],
)
def test_equations_that_cannot_be_understood_are_refused(make, message):
    with pytest.raises(EquationError, match=message):
        make()


@pytest.mark.parametrize(
    "name, hint",
    [
        ("lft", "Did you mean 'left'?"),
        ("boundry", "Did you mean 'boundary'?"),
        ("parameter", "Did you mean 'parameters'?"),
        ("qqq", "its parts are left, right."),
        ("top", "its parts are left, right."),
    ],
)
def test_unknown_parts_are_refused_with_a_suggestion(name, hint):
    with pytest.raises(ProblemError) as error:
        layer(**{name: lambda u, x: u})
    assert repr(name) in str(error.value)
    assert hint in str(error.value)
    assert ("Did you mean" in str(error.value)) == ("Did you mean" in hint)


def test_conditions_at_points_and_on_integrals():
    problem = Problem(
        SQUARE,
        lambda u, x, y: laplacian(u),
        conditions=[
            at((0.25, 0.5), lambda u, x, y: (u - 1, u.dx)),
            integral(lambda u, x, y: x * u, equals=3),
        ],
    )
    point, total = problem.further
    assert point.point == (0.25, 0.5)
    assert len(point.residuals) == 2
    assert total.equals == 3.0
    assert "at 0.25, 0.5: u - 1 = 0" in repr(problem)
    assert "integral of x*u = 3" in repr(problem)
    assert problem.is_linear
    assert problem.conditions == ()
    nonlinear = Problem(UNIT, "u_xx = 0", conditions=[at(0.5, lambda u, x: u**2 - 1)])
    assert nonlinear.further[0].point == (0.5,)
    assert not nonlinear.is_linear


@pytest.mark.parametrize(
    "condition, kind, message",
    [
        (at(1.5, lambda u, x: u), ProblemError, r"point \(1\.5,\).*Interval\(0, 1\)"),
        (at((0.5, 0.5), lambda u, x: u), ProblemError, "does not lie in"),
        (lambda u, x: u, ProblemError, r"sf\.at\(\.\.\.\), sf\.integral"),
        (at(0.5, lambda u, x: x - 1), EquationError, "does not contain an unknown"),
        (integral(lambda u, x: x), EquationError, "does not contain an unknown"),
    ],
)
def test_further_conditions_that_do_not_fit_are_refused(condition, kind, message):
    with pytest.raises(kind, match=message):
        Problem(UNIT, "u_xx = 0", conditions=[condition])


@pytest.mark.parametrize("domain", [(0, 1), None, "interval", lambda u, x: u.dx, 1.0])
def test_the_first_argument_must_be_a_domain(domain):
    with pytest.raises(ProblemError, match=r"first argument is the domain.*sf\.Interval\(0, 1\)"):
        Problem(domain, lambda u, x: u.dx)


def test_captured_constants_may_be_defaults():
    nu = 0.25
    problem = Problem(UNIT, lambda u, x, nu=nu: nu * u.dxx - 1, boundary=lambda u, x: u)
    assert problem.unknowns == ("u",)
    assert values(problem.forms[0], ("x",), [[0.0]]) == ({("u", (2,)): 0.25}, -1.0)


def test_any_region_with_the_right_answers_is_a_domain():
    class Ring:
        dimension, coordinates, parts = 2, ("x", "y"), ("inner", "outer")

        def boundary(self, part, count=1, seed=0):
            raise NotImplementedError

    problem = Problem(
        Ring(),
        lambda u, x, y: laplacian(u),
        boundary=lambda u, x, y: u,
        inner=lambda u, x, y: u - 1,
    )
    assert [c.part for c in problem.conditions] == ["inner", "outer"]
    with pytest.raises(ProblemError, match=r"inner, outer\. Did you mean 'inner'"):
        Problem(Ring(), lambda u, x, y: laplacian(u), iner=lambda u, x, y: u)


def test_a_condition_on_the_boundary_of_a_ring_is_refused():
    with pytest.raises(ProblemError, match="has no boundary"):
        sf.Problem(
            sf.Interval(0, 1, periodic=True), lambda u, x: u.dxx - u, boundary=lambda u, x: u - 1
        )


def test_a_mapping_of_conditions_is_told_how_parts_are_named():
    sides = {"left": lambda u: u, "right": lambda u: u - 1}
    with pytest.raises(ProblemError, match=r"names left, right.*\*\*mapping"):
        sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx, boundary=sides)
    assert sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx, **sides).conditions


@pytest.mark.parametrize("equals", [(1, 2), [1, lambda u, x: 2 + 0 * x], lambda u, x: (1, 2)])
def test_several_jumps_are_stated_together(equals):
    jumps = sf.jump(lambda u, x: (u, u.dx), x=0.3, equals=equals)
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: u.dxx, boundary=lambda u, x: u, conditions=[jumps]
    )
    solution = sf.solve(problem)
    assert abs(solution(0.2) + 2.4 * 0.2) < 1e-12 and abs(solution(0.5) - 0.2) < 1e-12


@pytest.mark.parametrize("time", [None, (0, 1)])
def test_an_outward_normal_in_an_equation_is_refused(time):
    """On the line it ended in a KeyError: ('normal', 'x')."""
    options = {} if time is None else {"time": time, "initial": 0}

    def equation(u, x):
        return u.dn - 1

    def moving(u, x, t):
        return u.dt - u.dxx + u.dn

    with pytest.raises(EquationError, match=r"\.dn.*boundary only"):
        sf.Problem(sf.Interval(0, 1), moving if time else equation, left="u = 0", **options)
