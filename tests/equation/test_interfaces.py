"""What holds across lines on which coefficients jump or loads act."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation import to_text
from sharpfront.equation.edges import parallel_parts, places_along, switches
from sharpfront.equation.interfaces import interface_conditions
from sharpfront.equation.text import parse
from sharpfront.equation.trace import Symbols, trace
from sharpfront.equation.values import environment, inside_values
from sharpfront.errors import EquationError


def across(residual, unknowns, coordinates, name):
    """Return how smooth unknowns are, and the fluxes as texts with their loads."""
    equations = trace(residual, Symbols(unknowns, coordinates))
    found = interface_conditions(equations, unknowns, coordinates, name)
    fluxes = [
        (
            {(t.unknown, t.orders): to_text(t.coefficient) for t in flux.form.terms},
            [to_text(load.strength) for load in flux.loads],
        )
        for flux in found.fluxes
    ]
    return found.continuous, fluxes


def step(x):
    return np.where(x < 0.5, 1.0, 7.0)


K = "where(x < 0.5, 1, 7)"


class TestConditions:
    def test_flux(self):
        found = across(lambda u, x: (step(x) * u.dx).dx - 1, ("u",), ("x",), "x")
        assert found == ({"u": 1}, [({("u", (1,)): K}, [])])

    def test_all_terms_belong_to_the_flux(self):
        (flux,) = across(lambda u, x: (step(x) * u.dx).dx + u.dxx, ("u",), ("x",), "x")[1]
        assert flux[0] == {("u", (1,)): f"{K} + 1"}

    def test_what_is_divided_by_a_jump_leaves_nothing(self):
        found = across(lambda u, x: (step(x) * u.dx).dx / step(x), ("u",), ("x",), "x")
        assert found == ({"u": 1}, [({("u", (1,)): K}, [])])

    def test_what_is_carried_jumps_so_that_the_flux_goes_on(self):
        found = across(lambda u, x: (step(x) * u).dx, ("u",), ("x",), "x")
        assert found == ({"u": 0}, [({("u", (0,)): K}, [])])

    def test_two_derivatives_of_a_product(self):
        smooth, fluxes = across(lambda u, x: (step(x) * u).dxx, ("u",), ("x",), "x")
        assert smooth == {"u": 0}
        assert [f[0] for f in fluxes] == [{("u", (1,)): K}, {("u", (0,)): K}]

    def test_a_smooth_factor_before_the_flux(self):
        smooth, ((flux, _),) = across(lambda u, x: (x * step(x) * u.dx).dx / x, ("u",), ("x",), "x")
        assert smooth == {"u": 1} and set(flux) == {("u", (1,))}

    def test_without_a_flux_slopes_go_on(self):
        assert across(lambda u, x: step(x) * u.dxx, ("u",), ("x",), "x") == ({"u": 2}, [])

    def test_beam(self):
        smooth, fluxes = across(lambda u, x: (step(x) * u.dxx).dxx, ("u",), ("x",), "x")
        assert smooth == {"u": 2}
        assert [set(f[0]) for f in fluxes] == [{("u", (3,))}, {("u", (2,))}]

    def test_tensor(self):
        residual = lambda u, x, y: (step(x) * u.dx + 2 * step(x) * u.dy).dx + u.dyy  # noqa: E731
        smooth, ((flux, _),) = across(residual, ("u",), ("x", "y"), "x")
        assert smooth == {"u": 1} and set(flux) == {("u", (1, 0)), ("u", (0, 1))}
        assert across(residual, ("u",), ("x", "y"), "y") == ({"u": 2}, [])

    def test_elasticity_has_tractions(self):
        def residual(u, v, x, y):
            mu, lam = step(x), 2 * step(x)
            shear = mu * (u.dy + v.dx)
            return (
                ((lam + 2 * mu) * u.dx + lam * v.dy).dx + shear.dy,
                shear.dx + (lam * u.dx + (lam + 2 * mu) * v.dy).dy,
            )

        smooth, fluxes = across(residual, ("u", "v"), ("x", "y"), "x")
        assert smooth == {"u": 1, "v": 1}
        assert [set(f[0]) for f in fluxes] == [
            {("u", (1, 0)), ("v", (0, 1))},
            {("u", (0, 1)), ("v", (1, 0))},
        ]

    def test_a_pressure_jumps_with_the_viscosity(self):
        def residual(u, v, p, x, y):
            return (
                -sf.div(step(x) * sf.grad(u)) + p.dx,
                -sf.div(step(x) * sf.grad(v)) + p.dy,
                u.dx + v.dy,
            )

        smooth, fluxes = across(residual, ("u", "v", "p"), ("x", "y"), "x")
        assert smooth == {"u": 1, "v": 1, "p": 0}
        assert [set(f[0]) for f in fluxes] == [{("u", (1, 0)), ("p", (0, 0))}, {("v", (1, 0))}]

    @pytest.mark.parametrize("times", [0, 1, 2])
    def test_a_load_and_its_derivatives(self, times):
        smooth, fluxes = across(
            lambda u, x: u.d("x", 4) - 5 * sf.delta(x - 0.3).d("x", times), ("u",), ("x",), "x"
        )
        assert smooth == {"u": 3 - times}
        loaded = [f for f in fluxes if f[1]]
        assert loaded == [({("u", (3 - times,)): "1"}, ["-5"])]
        assert smooth["u"] + len(fluxes) == 4

    def test_a_variable_factor_of_a_higher_load(self):
        # x delta'(x - a) = a delta'(x - a) - delta(x - a).
        _, fluxes = across(lambda u, x: u.dxx - x * sf.delta(x - 0.3).dx, ("u",), ("x",), "x")
        loads = {next(iter(f[0])): f[1] for f in fluxes}
        assert loads == {("u", (1,)): ["1"], ("u", (0,)): ["-x"]}

    def test_two_ways_at_once_are_refused(self):
        with pytest.raises(EquationError, match="asks for 3 conditions"):
            across(lambda u, x: (step(x) * u.dx).dx + step(x) * u.dxx, ("u",), ("x",), "x")

    @pytest.mark.parametrize(
        "residual",
        [
            lambda u, x, y: u.dxx + u.dyy - sf.delta(x) * sf.delta(y),
            lambda u, x, y: u.dxx + u.dyy - np.sin(sf.delta(x)),
            lambda u, x, y: u.dxx + u.dyy - u.dx * sf.delta(x),
        ],
    )
    def test_products_without_a_meaning_are_refused(self, residual):
        with pytest.raises(EquationError, match="meaning"):
            across(residual, ("u",), ("x", "y"), "x")


@pytest.mark.parametrize("argument", [lambda u, x, y: x + y, lambda u, x, y: u, lambda u, x, y: 1])
def test_a_load_is_on_a_line_parallel_to_an_axis(argument):
    with pytest.raises(EquationError, match="one coordinate"):
        trace(lambda u, x, y: sf.delta(argument(u, x, y)) + u, Symbols(("u",), ("x", "y")))


@pytest.mark.parametrize(
    ("condition", "x_places", "y_places"),
    [
        (lambda x, y: x * y > 0, [0.0], [0.0]),
        (lambda x, y: (x - 0.25) * (y + 0.5) > 0, [0.25], [-0.5]),
        (lambda x, y: np.maximum(abs(x), abs(y)) < 0.5, [-0.5, 0.5], [-0.5, 0.5]),
        (lambda x, y: (x < 0.5) * (y < 0.25) > 0.5, [0.5], [0.25]),
        (lambda x, y: (x < 0.5) & (y < 0.25), [0.5], [0.25]),
        (lambda x, y: x + y < 0.3, None, None),
        (lambda x, y: x * y > 0.1, None, None),
        (lambda x, y: np.hypot(x, y) < 0.5, None, None),
    ],
)
def test_which_switches_are_parallel_to_the_axes(condition, x_places, y_places):
    (expression,) = trace(
        lambda u, x, y: u * np.where(condition(x, y), 1, 2), Symbols(("u",), ("x", "y"))
    )
    known = all(parallel_parts(s) is not None for s in switches(expression))
    assert known == (x_places is not None)
    if known:
        for name, expected in (("x", x_places), ("y", y_places)):
            found = places_along(expression, name, -1.0, 1.0)
            np.testing.assert_allclose(np.unique(found), expected, atol=1e-14)


def test_values_on_an_edge_are_those_of_one_side():
    table = sf.function(lambda x: np.where(x > 0.5, 3.0, 1.0) + x, breaks=(0.5,))
    x = np.full((1, 1), 0.5)
    for residual in (
        lambda u, x: u * (np.where(x < 0.5, 1.0, 3.0) + x),
        lambda u, x: u * (2 + np.sign(x - 0.5) + x),
        lambda u, x: u * table(x),
    ):
        (expression,) = trace(residual, Symbols(("u",), ("x",)))
        for inside, expected in ((0.3, 1.5), (0.7, 3.5)):
            leaves = {("derivative", "u", (0,)): np.ones(1)}
            here, beside = (environment(("x",), at) | leaves for at in (x, np.full((1, 1), inside)))
            found = inside_values(expression, here, beside, 1)
            np.testing.assert_allclose(found, [expected], rtol=1e-15)


@pytest.mark.parametrize(
    "text", ["-diff(where(x < 0.5, 1, 7)*u_x, x) - 1", "u_xx - 3*delta(x - 0.3)"]
)
def test_texts_are_read_back(text):
    symbols = Symbols(("u",), ("x",))
    assert to_text(parse(text, symbols)) == text


def test_a_parameter_may_be_called_delta():
    symbols = Symbols(("u",), ("x",))
    assert to_text(parse("u_xx - delta*x", symbols, {"delta": 0.25})) == "u_xx - 0.25*x"
