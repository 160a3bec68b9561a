"""What problem files state, and that they are solved as stated."""

import re
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from tests.problem_file.layer_file import LAYER

import sharpfront as sf
from sharpfront.equation.expression import Expression
from sharpfront.problem_file import StatementError, read, read_text
from sharpfront.problem_file.statement import steps_to

ROOT = Path(__file__).resolve().parents[2]


def in_plane(domain, rest="", folder="."):
    source = (
        f'equation = "laplacian(u) = 1"\n[domain]\n{domain}\n[conditions]\nboundary = "u = 0"\n'
    )
    return read_text(source + rest, folder=folder).problem


def test_the_first_example_of_the_design_is_solved():
    nu = 1e-4
    solution = read_text(LAYER).solve()
    assert solution.converged
    x = np.append(np.linspace(0, 1, 101), 1 - nu * np.linspace(0, 20, 101))
    exact = np.exp((x - 1) / nu) * np.expm1(-x / nu) / np.expm1(-1 / nu)
    assert np.max(np.abs(solution(x) - exact)) < 1e-8


def test_changed_parameters_go_before_those_of_the_file():
    statement = read_text(LAYER, changed={"nu": 1e-2})
    assert statement.parameters == {"nu": 1e-2}
    assert statement.solve()(0.99) == pytest.approx(np.exp(-1), rel=1e-6)
    assert read_text(LAYER, changed={"nu": "1/4**2"}).parameters == {"nu": 0.0625}


def test_parameters_and_definitions_build_on_those_before_them():
    source = LAYER.replace("nu = 1e-4", 'a = 0.5\nnu = "a**2"').replace(
        "[conditions]", '[definitions]\ns = "nu*x"\nvalue = "s + a"\n[conditions]'
    )
    statement = read_text(source.replace("u = 1", "u = value"))
    assert statement.parameters == {"a": 0.5, "nu": 0.25}
    assert "u - (0.25*x + 0.5) = 0" in repr(statement.problem)


def test_a_definition_without_coordinates_is_a_number_like_others():
    source = LAYER.replace("[conditions]", '[definitions]\nw = "sqrt(nu)"\n[conditions]')
    statement = read_text(f'{source}at = {{ point = "50*w", condition = "u = 0" }}\n')
    assert statement.problem.further[0].point == (0.5,)


def test_title_and_name():
    statement = read_text(f'title = "My layer"\n{LAYER}', "some/where/layer.toml")
    assert (statement.name, statement.title) == ("layer", "My layer")
    assert read_text(LAYER, "layer.toml").title == "layer"


class TestDomains:
    def test_interval(self):
        domain = read_text(LAYER.replace("[0, 1]", '[0, "2*pi"]')).problem.domain
        assert domain == sf.Interval(0, 2 * np.pi)
        source = 'equation = "-u_xx + u = 1"\n[domain]\ninterval = [0, 1]\nperiodic = true\n'
        assert read_text(source).problem.domain.periodic

    def test_a_parameter_in_the_domain(self):
        source = LAYER.replace("[0, 1]", '[0, "nu"]')
        assert read_text(source, changed={"nu": 3.0}).problem.domain == sf.Interval(0, 3)

    @pytest.mark.parametrize(
        ("words", "domain"),
        [
            ("box = [[0, 1], [0, 2]]", sf.Box((0, 1), (0, 2))),
            ("box = [[0, 1], [0, 2]]\nperiodic = ['x']", sf.Box((0, 1), (0, 2), periodic=("x",))),
            ("disk = {centre = [1, 2], radius = '1/4'}", sf.Disk((1, 2), 0.25)),
            ("ball = {centre = [1, 2, 3], radius = 2}", sf.Ball((1, 2, 3), 2)),
            (
                "intersection = [{disk = {centre = [0, 0], radius = 1}},"
                " {half-space = {point = [0, 0], normal = [1, 1]}}]",
                sf.Disk((0, 0), 1) & sf.HalfSpace((0, 0), (1, 1)),
            ),
            (
                "union = [{disk = {centre = [0, 0], radius = 1}}, {box = [[0, 2], [0, 1]]}]",
                sf.Disk((0, 0), 1) | sf.Box((0, 2), (0, 1)),
            ),
            (
                "difference = [{union = [{box = [[0, 1], [0, 1]]}, {box = [[0, 2], [0, 0.5]]}]},"
                " {disk = {centre = [0.5, 0.5], radius = 0.1}, name = 'hole'}]",
                (sf.Box((0, 1), (0, 1)) | sf.Box((0, 2), (0, 0.5)))
                - sf.Disk((0.5, 0.5), 0.1).named("hole"),
            ),
        ],
    )
    def test_shapes(self, words, domain):
        made = in_plane(words).domain
        assert repr(made) == repr(domain)
        assert made.parts == domain.parts

    def test_a_box_joined_along_all_axes(self):
        source = 'equation = "-laplacian(u) + u = 1"\n[domain]\nbox = [[0, 1], [0, 1]]\n'
        assert read_text(source + "periodic = true\n").problem.domain.periodic_axes == (True, True)

    def test_polygon_with_a_hole(self):
        pytest.importorskip("shapely")
        holes = "holes = [[[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]]]"
        made = in_plane(f"polygon = [[0, 0], [1, 0], [0, 1]]\n{holes}").domain
        assert made.measure == pytest.approx(0.5 - 0.005)

    def test_implicit(self):
        made = in_plane("implicit = 'x**2 + 4*y**2 - 1'\nbounds = [[-2, 2], [-1, 1]]").domain
        assert made.measure == pytest.approx(np.pi / 2, rel=1e-6)

    def test_solid_is_looked_for_beside_the_file(self, tmp_path):
        trimesh = pytest.importorskip("trimesh")
        trimesh.creation.box((1, 2, 3)).export(tmp_path / "part.stl")
        source = 'equation = "laplacian(u) = 1"\n[domain]\nsolid = "part.stl"\n'
        (tmp_path / "part.toml").write_text(f'{source}[conditions]\nsurface = "u = 0"\n')
        assert read(tmp_path / "part.toml").problem.domain.measure == pytest.approx(6)

    def test_named_parts(self):
        problem = in_plane(
            "disk = {centre = [0, 0], radius = 1}\n[domain.parts]\n"
            "east = 'x > a'\nnorth = '-0.5 < x < 0.5 and y > 0'",
            'east = "u_n = 1"\n[parameters]\na = 0.5\n',
        )
        assert set(problem.domain.parts) == {"surface", "east", "north"}
        assert problem.domain.boundary_measure("east") == pytest.approx(2 * np.pi / 3, rel=1e-3)
        stated = {c.part: repr(c.residuals[0]) for c in problem.conditions}
        assert stated["east"] == "normal_x*u_x + normal_y*u_y - 1"
        assert stated["north"] == stated["surface"] == "u"

    def test_arrays_of_tables(self):
        tables = "[[domain.difference]]\nbox = [[0, 1], [0, 1]]\n[[domain.difference]]\n"
        made = in_plane(f"{tables}[domain.difference.disk]\ncentre = [0.5, 0.5]\nradius = 0.2\n")
        assert made.domain.measure == pytest.approx(1 - 0.04 * np.pi)


def test_conditions_at_points_and_on_integrals():
    source = """
equation = "-u_xx = 1"
[domain]
interval = [0, 2]
[conditions]
integral = { of = "2*u", equals = "1/2" }
[[conditions.at]]
point = 0.5
condition = ["u = 1"]
[[conditions.at]]
point = [1.5]
condition = "u_x = 0"
"""
    problem = read_text(source.replace('integral = { of = "2*u", equals = "1/2" }\n', "")).problem
    assert [c.point for c in problem.further] == [(0.5,), (1.5,)]
    assert problem.conditions == ()
    (only,) = [
        c for c in read_text(source).problem.further if type(c).__name__ == "IntegralCondition"
    ]
    assert only.equals == 0.5
    assert repr(only.residuals[0]) == "2*u"


def test_systems_have_their_unknowns_in_the_order_asked_for():
    source = """
unknowns = ["u", "v"]
[equations]
second = "v_x = -u"
first = "u_x = v"
[domain]
interval = [0, 1]
[conditions]
left = ["u = 0", "v = 1"]
[exact]
u = "sin(x)"
v = "cos(x)"
"""
    statement = read_text(source)
    assert statement.problem.unknowns == ("u", "v")
    solution = statement.solve()
    assert solution.u(1.0) == pytest.approx(np.sin(1), abs=1e-6)
    assert max(statement.true_errors(solution).values()) < 1e-6
    listed = source.replace('unknowns = ["u", "v"]\n[equations]', "").replace(
        'second = "v_x = -u"\nfirst = "u_x = v"', 'equations = ["v_x = -u", "u_x = v"]'
    )
    assert read_text(listed).problem.unknowns == ("v", "u")


def test_time():
    source = """
equation = "u_tt = c**2*u_xx"
time = ["-1", "c"]
[domain]
interval = [0, 1]
[parameters]
c = 2
[conditions]
boundary = "u = sin(t)"
[initial]
u = "c*x"
u_t = 1
"""
    problem = read_text(source).problem
    assert problem.time == (-1.0, 2.0)
    assert problem.coordinates == ("x", "t")
    points = np.array([[0.5], [1.0]])
    assert problem.initial.values("u", points).tolist() == [1.0, 2.0]
    assert problem.initial.values("u_t", points).tolist() == [1.0, 1.0]


def test_one_initial_state_needs_no_name():
    source = 'equation = "u_t = u_xx"\ntime = [0, 1]\ninitial = "x*(1 - x)"\nexact = "x + t"\n'
    statement = read_text(f'{source}[domain]\ninterval = [0, 1]\n[conditions]\nboundary = "u = 0"')
    assert statement.problem.initial.values("u", np.array([[0.5]])) == 0.25
    assert statement.exact["u"](np.array([1.0, 2.0]), 3.0).tolist() == [4.0, 5.0]


def test_a_problem_in_time_is_solved():
    template = resources.files("sharpfront.problem_file") / "templates" / "time.toml"
    statement = read_text(template.read_text())
    solution = statement.solve()
    assert solution.converged
    assert statement.true_errors(solution)["u"] < 1e-4


class TestSettings:
    def test_options(self):
        source = f'{LAYER}[solve]\ntol = "1/1000"\nmax_kernels = 300\nseed = 7\n'
        options = read_text(source).options
        assert options == {"tol": 1e-3, "max_kernels": 300, "seed": 7}
        assert read_text(source).solve().tol == 1e-3
        assert read_text(source).solve(tol=1e-5, max_kernels=None).tol == 1e-5

    def test_guess_is_a_function_that_can_be_differentiated(self):
        statement = read_text(f'{LAYER}[solve]\nguess = "1 - 2*x"\n')
        guess = statement.options["guess"]["u"]
        assert guess(np.array([0.0, 1.0])).tolist() == [1.0, -1.0]
        symbol = statement.problem.symbols.stand_in("x")
        assert isinstance(guess(symbol), Expression)

    def test_guess_chooses_between_two_solutions(self):
        source = 'equation = "u_xx + exp(u) = 0"\n[domain]\ninterval = [0, 1]\n[conditions]\n'
        source += 'boundary = "u = 0"\n'
        assert read_text(source).solve()(0.5) == pytest.approx(0.1405, abs=1e-4)
        upper = read_text(f'{source}[solve]\nguess = "5*sin(pi*x)"\n').solve()
        assert upper(0.5) == pytest.approx(4.0915, abs=1e-4)

    def test_continuation_leads_to_the_value_in_use(self):
        source = """
equation = "-nu*u_xx + u*u_x + u = 0"
[domain]
interval = [0, 1]
[parameters]
nu = 1e-2
[conditions]
left = "u = 1"
right = "u = -0.5"
[solve]
continuation = { parameter = "nu", values = [1, "1/10", 1e-2, 1e-3] }
"""
        statement = read_text(source)
        assert statement.options["continuation"] == [1.0, 0.1, 0.01]
        assert statement.problem.is_linear is False
        assert repr(statement.family(0.1)).count("0.1") == 1
        solution = statement.solve(tol=1e-6)
        assert solution.converged
        direct = read_text(source.partition("[solve]")[0]).solve(tol=1e-6)
        x = np.linspace(0, 1, 33)
        assert np.max(np.abs(solution(x) - direct(x))) < 1e-5
        assert read_text(source, changed={"nu": 0.5}).options["continuation"] == [1.0, 0.5]

    @pytest.mark.parametrize(
        ("target", "values", "steps"),
        [
            (1e-3, [1e-1, 1e-2], [1e-1, 1e-2, 1e-3]),
            (1e-1, [1e-1, 1e-2], [1e-1]),
            (100.0, [10.0, 50.0, 200.0], [10.0, 50.0, 100.0]),
            (1.0, [], [1.0]),
            (1.0, [5.0], [5.0, 1.0]),
        ],
    )
    def test_steps(self, target, values, steps):
        assert steps_to(target, values) == steps


def test_parts_without_a_condition_are_told():
    source = LAYER.replace('right = "u = 1"\n', "")
    assert read_text(source).bare_parts == ("right",)
    assert read_text(LAYER).bare_parts == ()


def test_nothing_in_a_file_is_evaluated():
    for text in ("__import__('os').getcwd()", "().__class__", "open('x')", "[x for x in u]"):
        with pytest.raises(StatementError):
            read_text(LAYER.replace("u = 0", text.replace('"', "")))


@pytest.mark.parametrize("page", ["problem-files.md", "command-line.md"])
def test_every_file_in_the_documentation_states_a_problem_and_is_solved(page, tmp_path):
    text = (ROOT / "docs" / "how-to" / page).read_text()
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        if "part.stl" in block:
            trimesh = pytest.importorskip("trimesh")
            trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "part.stl")
        statement = read_text(block, folder=tmp_path)
        if "# not solved here" not in block:
            assert statement.solve().converged, statement.title
