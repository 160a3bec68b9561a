"""Linear elements: second order where resolved, no overshoot where not, and errors as they are."""

import numpy as np
import pytest
from tests.estimate.mesh_shapes import Notch, Tube, UnitBall, UnitDisk

import sharpfront as sf
from sharpfront.errors import LinearSystemError
from sharpfront.estimate import factor
from sharpfront.estimate.elements import Elements, can_be_built
from sharpfront.estimate.weak import UnsuitableError
from sharpfront.geometry.meshes.mesh import box_mesh
from sharpfront.geometry.meshes.shape_mesh import shape_mesh
from sharpfront.kernels.basis import isotropic
from sharpfront.solution.approximation import Approximation

NAMES = ("left", "right", "bottom", "top", "back", "front")
SQUARE = sf.Box((0, 1), (0, 1))
CUBE = sf.Box((0, 1), (0, 1), (0, 1))


def square(n, m=None):
    return box_mesh([np.linspace(0, 1, n + 1), np.linspace(0, 1, (m or n) + 1)], NAMES[:4])


def cube(n):
    return box_mesh([np.linspace(0, 1, n + 1)] * 3, NAMES)


def wave(x, y):
    return np.sin(2 * x + y) + x * y


def slope_x(x, y):
    return 2 * np.cos(2 * x + y) + y


def slope_y(x, y):
    return np.cos(2 * x + y) + x


def on_wave(u, x, y):
    return u - wave(x, y)


def poisson(u, x, y):
    return sf.laplacian(u) + 5 * np.sin(2 * x + y)


def flow(u, x, y):
    source = 0.5 * np.sin(2 * x + y) + slope_x(x, y) + 2 * slope_y(x, y)
    return 0.1 * sf.laplacian(u) - u.dx - 2 * u.dy + source


def variable(u, x, y):
    a, b, c, s = 1 + x * x + y, 2 - x * y, 0.3 * x, np.sin(2 * x + y)
    known = -4 * a * s - b * s + 2 * c * (1 - 2 * s) + x * slope_x(x, y) - wave(x, y)
    return a * u.dxx + b * u.dyy + 2 * c * u.dxy + x * u.dx - u - known


ROBIN = {
    "left": on_wave,
    "bottom": on_wave,
    "right": lambda u, x, y: (
        u.dn + (1 + y) * u - slope_x(x, y) - (1 + y) * (np.sin(2 * x + y) + x * y)
    ),
    "top": lambda u, x, y: 2 * u.dy + u.dx - 2 * slope_y(x, y) - slope_x(x, y),
}
SMOOTH = {
    "poisson": (poisson, {"boundary": on_wave}),
    "flow": (flow, {"boundary": on_wave}),
    "variable": (variable, {"boundary": on_wave}),
    "robin and oblique": (variable, ROBIN),
}


def order(errors):
    return np.log2(errors[0] / errors[1])


@pytest.mark.parametrize("name", SMOOTH)
def test_the_error_falls_with_the_square_of_the_spacing(name):
    equation, conditions = SMOOTH[name]
    problem = sf.Problem(SQUARE, equation, **conditions)
    errors = []
    for n in (12, 24):
        mesh = square(n)
        errors.append(np.abs(Elements.build(problem, mesh).solution() - wave(*mesh.points.T)).max())
    assert errors[1] < 1e-3
    assert 1.85 < order(errors) < 2.3


def test_second_order_round_a_tube():
    problem = sf.Problem(
        Tube(),
        lambda u, x, y: (
            sf.laplacian(u)
            - u.dx
            + (4 * np.pi**2 - 1) * np.sin(2 * np.pi * x) * np.exp(y)
            + 2 * np.pi * np.cos(2 * np.pi * x) * np.exp(y)
        ),
        boundary=lambda u, x, y: u - np.sin(2 * np.pi * x) * np.exp(y),
    )
    errors = []
    for n in (16, 32):
        axis = np.linspace(0, 1, n + 1)
        mesh = box_mesh([axis, axis], Tube.parts, (True, False))
        found = Elements.build(problem, mesh).solution()
        x, y = mesh.points.T
        assert np.all(found[mesh.images] == found)
        errors.append(np.abs(found - np.sin(2 * np.pi * x) * np.exp(y)).max())
    assert order(errors) > 1.85


@pytest.mark.parametrize("most", [10, 10**6])
def test_second_order_in_space_with_either_solver(monkeypatch, most):
    monkeypatch.setattr(factor, "_MOST_IN_SPACE", most)
    problem = sf.Problem(
        CUBE,
        lambda u, x, y, z: sf.laplacian(u) + 6 * np.sin(2 * x + y) * np.cos(z),
        boundary=lambda u, x, y, z: u - np.sin(2 * x + y) * np.cos(z),
        front=lambda u, x, y, z: u.dn + np.sin(2 * x + y) * np.sin(z),
    )
    errors = []
    for n in (6, 12):
        mesh = cube(n)
        x, y, z = mesh.points.T
        found = Elements.build(problem, mesh).solution()
        errors.append(np.abs(found - np.sin(2 * x + y) * np.cos(z)).max())
    assert order(errors) > 1.75


def test_where_iterations_fail_complete_factors_take_over(monkeypatch):
    def fails(matrix, rhs, **options):
        return np.zeros_like(rhs), 1

    monkeypatch.setattr(factor, "_MOST_IN_SPACE", 10)
    monkeypatch.setattr(factor.sla, "gmres", fails)
    problem = sf.Problem(
        CUBE, lambda u, x, y, z: sf.laplacian(u), boundary=lambda u, x, y, z: u - z
    )
    mesh = cube(4)
    assert Elements.build(problem, mesh).solution() == pytest.approx(mesh.points[:, 2])


def linear(x, y):
    return 1 + 2 * x - 3 * y


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"right": lambda u, x, y: u.dn - 2},
        {"right": lambda u, x, y: -3 * u.dn + 6, "top": lambda u, x, y: u.dn + 3},
        {"left": lambda u, x, y: u.dn - 5 * u + 2 + 5 * linear(x, y)},
        {"bottom": lambda u, x, y: u.dy + 4 * u.dx + y * u - 5 - y * linear(x, y)},
    ],
)
def test_linear_functions_are_exact(conditions, monotone):
    def on_line(u, x, y):
        return 2 * u - 2 * linear(x, y)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: 2 * u.dxx + u.dxy + u.dyy + 7 * sf.laplacian(u),
        **({"boundary": on_line} | conditions),
    )
    mesh = box_mesh([np.linspace(0, 1, 6) ** 2, np.linspace(0, 1, 5)], NAMES[:4])
    found = Elements.build(problem, mesh, monotone=monotone).solution()
    assert found == pytest.approx(linear(*mesh.points.T), abs=1e-12)


def test_linear_functions_are_exact_where_they_are_carried():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -1e-3 * sf.laplacian(u) + u.dx + y * u.dy - 2 + 3 * y,
        boundary=lambda u, x, y: u - linear(x, y),
    )
    mesh = box_mesh([np.linspace(0, 1, 8) ** 2, np.linspace(0, 1, 7)], NAMES[:4])
    assert Elements.build(problem, mesh).solution() == pytest.approx(linear(*mesh.points.T))


def test_dirichlet_wins_at_a_corner_and_disagreeing_data_are_averaged():
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u),
        left=lambda u, x, y: u - 1,
        bottom=lambda u, x, y: u - 2,
        right=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
    )
    mesh = square(4)
    found = Elements.build(problem, mesh).solution().reshape(5, 5)
    assert found[0, 0] == 1.5
    assert np.all(found[0, 1:] == 1)
    assert np.all(found[1:, 0] == 2)


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-6])
def test_layers_thinner_than_a_cell_do_not_overshoot(eps):
    mesh = square(40)
    x = mesh.points[:, 0]
    outflow = sf.Problem(
        SQUARE, lambda u, x, y: -eps * sf.laplacian(u) + u.dx - 1, boundary=lambda u, x, y: u
    )
    found = Elements.build(outflow, mesh, monotone=True).solution()
    assert found.min() >= 0
    assert np.all(found <= x + 1e-10)
    middle = found.reshape(41, 41)[:36, 20]
    assert middle == pytest.approx(x.reshape(41, 41)[:36, 20], abs=0.03)
    reaction = sf.Problem(
        SQUARE, lambda u, x, y: eps * sf.laplacian(u) - u + 1, boundary=lambda u, x, y: u
    )
    for monotone in (False, True):
        found = Elements.build(reaction, mesh, monotone=monotone).solution()
        assert found.min() >= 0
        assert found.max() < 1 + 1e-5


def test_away_from_a_thin_layer_accuracy_is_kept():
    problem = sf.Problem(
        SQUARE, lambda u, x, y: -1e-4 * sf.laplacian(u) + u.dx - 1, boundary=lambda u, x, y: u
    )
    mesh = square(40)
    x, y = mesh.points.T
    away = (x < 0.8) & (np.abs(y - 0.5) < 0.25)
    assert np.abs(Elements.build(problem, mesh).solution() - x)[away].max() < 2e-3


def test_oblique_flow_in_space_does_not_overshoot():
    problem = sf.Problem(
        CUBE,
        lambda u, x, y, z: -1e-5 * sf.laplacian(u) + u.dx + 0.5 * u.dy + 0.2 * u.dz - 1,
        boundary=lambda u, x, y, z: u,
    )
    found = Elements.build(problem, cube(10), monotone=True).solution()
    assert found.min() >= 0
    assert found.max() < 1


def test_thin_cells_keep_the_layer_they_resolve():
    eps = 1e-3
    inner = 1 - 10 * eps * np.linspace(1, 0, 31)
    axis = np.concatenate([np.linspace(0, inner[0], 11)[:-1], inner])
    mesh = box_mesh([axis, np.linspace(0, 1, 6)], NAMES[:4])

    def exact(x):
        return np.exp((x - 1) / eps)

    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: -eps * sf.laplacian(u) + u.dx,
        boundary=lambda u, x, y: u - exact(x),
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
    )
    found = Elements.build(problem, mesh).solution()
    assert np.abs(found - exact(mesh.points[:, 0])).max() < 0.02


ERRORS = {
    "poisson": (lambda u, x, y: sf.laplacian(u), {}),
    "flow": (lambda u, x, y: 1e-3 * sf.laplacian(u) - u.dx - 0.3 * u.dy, {}),
    "reaction": (lambda u, x, y: -1e-4 * sf.laplacian(u) + u, {}),
    "mixed": (
        lambda u, x, y: (1 + x * y) * u.dxx + u.dyy + y * u.dx - u,
        {"right": lambda u, x, y: u.dn + u, "top": lambda u, x, y: u.dn},
    ),
}


def wrong_by_kernels(size, width=0.08):
    """Return an approximation of u = 0 that is wrong by a sum of kernels."""
    rng = np.random.default_rng(1)
    centres = rng.random((size, 2))
    basis = isotropic(centres, np.full(size, width))
    return Approximation(("x", "y"), {"u": basis}, {"u": 1e-9 * rng.standard_normal(size)})


@pytest.mark.parametrize("name", ERRORS)
def test_the_error_of_an_approximation_is_found(name):
    equation, conditions = ERRORS[name]
    problem = sf.Problem(SQUARE, equation, **({"boundary": lambda u, x, y: u} | conditions))
    approximation, mesh = wrong_by_kernels(100), square(50)
    true = -approximation.values("u", mesh.points, (0, 0))
    found = Elements.build(problem, mesh).error(approximation)
    assert np.abs(found - true).max() < 0.05 * np.abs(true).max()


def test_a_source_may_be_given_at_the_nodes():
    problem = sf.Problem(SQUARE, lambda u, x, y: -sf.laplacian(u), boundary=lambda u, x, y: u)
    mesh = square(10)
    elements = Elements.build(problem, mesh)
    data = [np.zeros(len(place.points)) for place in elements.places]
    at_nodes = elements.solve(mesh.points @ [1.0, 2.0], data)
    assert at_nodes == pytest.approx(elements.solve(elements.points @ [1.0, 2.0], data))
    assert at_nodes.min() < -0.05


NEUMANN = {"boundary": lambda u, x, y: u.dn}


@pytest.mark.parametrize(
    "pin",
    [
        sf.at((0.3, 0.62), lambda u, x, y: u - np.cos(np.pi * 0.3)),
        sf.integral(lambda u, x, y: u, equals=0.0),
        sf.integral(lambda u, x, y: (1 + x) * u, equals=-2 / np.pi**2),
    ],
)
def test_a_further_condition_pins_a_neumann_problem(pin):
    problem = sf.Problem(
        SQUARE,
        lambda u, x, y: sf.laplacian(u) + np.pi**2 * np.cos(np.pi * x),
        conditions=pin,
        **NEUMANN,
    )
    mesh = square(30)
    elements = Elements.build(problem, mesh)
    exact = np.cos(np.pi * mesh.points[:, 0])
    assert np.abs(elements.solution() - exact).max() < 5e-3
    assert elements.singular_measure() > 0.1


REGULAR = {
    "poisson": (lambda u, x, y: sf.laplacian(u), {}),
    "flow 1e-4": (lambda u, x, y: -1e-4 * sf.laplacian(u) + u.dx, {}),
    "reaction 1e-4": (lambda u, x, y: -1e-4 * sf.laplacian(u) + u, {}),
    "scaled": (lambda u, x, y: -1e-8 * sf.laplacian(u), {}),
    "between resonances": (lambda u, x, y: sf.laplacian(u) + 30 * u, {}),
    "neumann with reaction": (lambda u, x, y: sf.laplacian(u) - u, NEUMANN),
}
SINGULAR = {
    "resonance": (lambda u, x, y: sf.laplacian(u) + 2 * np.pi**2 * u, {}, 2e-3),
    "neumann": (lambda u, x, y: sf.laplacian(u), NEUMANN, 1e-10),
    "neumann with flow": (lambda u, x, y: -1e-3 * sf.laplacian(u) + u.dx, NEUMANN, 1e-10),
}


@pytest.mark.parametrize("name", REGULAR)
def test_regular_problems_are_told_as_such(name):
    equation, conditions = REGULAR[name]
    problem = sf.Problem(SQUARE, equation, **({"boundary": lambda u, x, y: u} | conditions))
    assert Elements.build(problem, square(40)).singular_measure() > 0.1


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_problems_are_told_as_such(name):
    equation, conditions, most = SINGULAR[name]
    problem = sf.Problem(SQUARE, equation, **({"boundary": lambda u, x, y: u} | conditions))
    assert Elements.build(problem, square(40)).singular_measure() < most


def test_an_exactly_singular_matrix_is_no_crash(monkeypatch):
    def refuses(*arguments, **options):
        raise RuntimeError("Factor is exactly singular")

    monkeypatch.setattr(factor.sla, "splu", refuses)
    problem = sf.Problem(SQUARE, lambda u, x, y: sf.laplacian(u), **NEUMANN)
    elements = Elements.build(problem, square(4))
    assert elements.singular_measure() == 0.0
    with pytest.raises(LinearSystemError, match="missing condition"):
        elements.solution()


def dirichlet(u, x, y):
    return u


UNSUITABLE = {
    "nonlinear": (lambda u, x, y: sf.laplacian(u) - u**2, {"boundary": dirichlet}),
    "first order": (lambda u, x, y: u.dx + u.dy, {"boundary": dirichlet}),
    "fourth order": (lambda u, x, y: sf.laplacian(sf.laplacian(u)), {"boundary": dirichlet}),
    "mixed type": (lambda u, x, y: u.dxx + (x - 0.5) * u.dyy, {"boundary": dirichlet}),
    "degenerate": (lambda u, x, y: u.dxx + u.dy, {"boundary": dirichlet}),
    "a part without condition": (lambda u, x, y: sf.laplacian(u), {"left": dirichlet}),
    "two conditions": (lambda u, x, y: sf.laplacian(u), {"boundary": lambda u, x, y: (u, u.dn)}),
    "along the boundary": (
        lambda u, x, y: sf.laplacian(u),
        {"boundary": dirichlet, "left": lambda u, x, y: u.dy},
    ),
}


@pytest.mark.parametrize("name", UNSUITABLE)
def test_what_cannot_be_discretised_is_refused(name):
    equation, conditions = UNSUITABLE[name]
    problem = sf.Problem(SQUARE, equation, **conditions)
    assert not can_be_built(problem, square(4))
    with pytest.raises(UnsuitableError):
        Elements.build(problem, square(4))


def test_what_can_be_discretised_is_told_so():
    assert can_be_built(sf.Problem(SQUARE, poisson, boundary=on_wave), square(4))


@pytest.mark.parametrize("domain", [UnitDisk(), Notch()])
def test_second_order_on_other_shapes(domain):
    # The last part has u_n + u given, which needs the right normals and the right part.
    last = {
        "lower": lambda u, x, y: u.dn + u - wave(x, y) - x * slope_x(x, y) - y * slope_y(x, y),
        "inner": on_wave,
    }
    problem = sf.Problem(
        domain, poisson, boundary=on_wave, **{domain.parts[1]: last[domain.parts[1]]}
    )
    errors = []
    for spacing in (0.1, 0.05):
        mesh = shape_mesh(domain, spacing)
        errors.append(np.abs(Elements.build(problem, mesh).solution() - wave(*mesh.points.T)).max())
    assert errors[1] < 2e-3
    assert order(errors) > 1.5


def test_a_poisson_problem_in_a_ball():
    problem = sf.Problem(
        UnitBall(),
        lambda u, x, y, z: sf.laplacian(u) + 6 * np.sin(2 * x + y + z),
        boundary=lambda u, x, y, z: u - np.sin(2 * x + y + z),
    )
    mesh = shape_mesh(UnitBall(), 0.15)
    exact = np.sin(mesh.points @ [2, 1, 1])
    assert np.abs(Elements.build(problem, mesh).solution() - exact).max() < 0.03
