"""The lines of a page that repeat a run are Python, for every domain and every function."""

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from tests.geometry.shape_cases import CASES, SQUARE, ring

import sharpfront as sf
from sharpfront.equation.text import to_text
from sharpfront.problem_file import read
from sharpfront.show.statement.code import Code
from sharpfront.show.statement.recorded import source_of
from sharpfront.show.statement.script import domain_code, script
from sharpfront.show.statement.typeset import problem_markup

OTHERS = {
    "interval": lambda: sf.Interval(-0.1, 2 / 3),
    "periodic interval": lambda: sf.Interval(-1, 1, periodic=True),
    "periodic box": lambda: sf.Box((0, 1), (-2, 2.5), periodic=("x",)),
    "channel": lambda: sf.Box((0, 2), (0, 1), periodic=("x",)) - sf.Disk((1, 0.5), 0.2),
    "four dimensions": lambda: sf.Box((0, 1), (0, 1), (0, 1), (0, 0.1)),
    "equality": lambda: SQUARE.part("wall", lambda x, y: (x == 0) & (y > 0.5)),
    "close": lambda: SQUARE.part("wall", lambda x, y: np.isclose(x, 1) | (y < 0.1)),
    "not": lambda: sf.Disk((0, 0), 1).part("rest", lambda x, y: ~(x > 0.3)),
    "small polygon": lambda: sf.Polygon(
        [(0, 0), (1, 0), (0.1, 1 / 3)], [[(0.1, 0.05), (0.2, 0.05), (0.1, 0.1)]]
    ),
    "named part of a union": lambda: (
        (sf.Disk((0, 0), 1).named("inner") | sf.Disk((1.5, 0), 1))
        .named("skin")
        .part("right", lambda x, y: x > 1)
    ),
    "many corners": lambda: sf.Polygon(ring(50) * (1 + 0.1 * np.cos(np.arange(50)))[:, None]),
}
# What takes long to be made differs from others in its number of coordinates only.
DOMAINS = {case.name: case.make for case in CASES if case.name != "cloud in space"} | OTHERS


def repeated(problem, **given):
    """Return the problem that the lines of a page make, and what these lines say is missing."""
    code, missing = script(SimpleNamespace(problem=problem, tol=1e-6), given)
    asked = []
    names = {}
    solve = sf.solve
    try:
        sf.solve = lambda problem, **options: asked.append((problem, options))
        exec(compile(code, "page", "exec"), names)
    finally:
        sf.solve = solve
    ((again, options),) = asked
    assert options["tol"] == 1e-6
    return again, missing, code


def same_values(a, b):
    """Tell whether two states of domains hold the same, to rounding."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(same_values(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple) and a and not isinstance(a[0], int | float):
        return len(a) == len(b) and all(map(same_values, a, b))
    if isinstance(a, str) or a is None:
        return a == b
    return np.allclose(a, b, rtol=1e-15, atol=1e-14)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_problem_on_every_domain_is_stated_again(name):
    domain = DOMAINS[name]()
    problem = sf.Problem(domain, _poisson(domain), **_conditions(domain))
    again, missing, code = repeated(problem)
    assert missing == []
    assert "..." not in code
    # A function that was traced has no name of its own; otherwise they read the same.
    plain = re.compile(r"Implicit\([\w<>]+,")
    assert plain.sub("Implicit(", repr(again)) == plain.sub("Implicit(", repr(problem))
    assert again.domain.parts == domain.parts
    assert same_values(again.domain.state(), domain.state())
    # Its formulas are typeset, too.
    markup = problem_markup(problem)
    assert len(ET.fromstring(markup.replace("<wbr>", "<wbr/>"))) > 1
    assert not re.search(r"<code>|\bsf\.|lambda|Implicit|Combination", markup)


def _poisson(domain):
    names = domain.coordinates
    return eval(f"lambda u, {', '.join(names)}: -sf.laplacian(u) - {names[0]}", {"sf": sf})


def _conditions(domain):
    """Return a condition of its own for every part."""
    start = f"lambda u, {', '.join(domain.coordinates)}:"
    residuals = [f"u.dn + {i} * u - 0.1" if i % 2 else f"u - {i}" for i in range(len(domain.parts))]
    return {p: eval(f"{start} {r}") for p, r in zip(domain.parts, residuals, strict=True)}


def rows(domain):
    problem = sf.Problem(domain, _poisson(domain), **_conditions(domain))
    root = ET.fromstring(problem_markup(problem).replace("<wbr>", "<wbr/>"))
    return ["".join(item.itertext()).replace("\u2061", "").strip() for item in root]


def test_shapes_read_as_in_a_book():
    assert rows(sf.Disk((0.5, -2), 0.2))[1] == "(x−0.5)2+(y+2)2<0.04"
    assert rows(sf.Ball((0, 0, 0), 2))[1] == "x2+y2+z2<4"
    plate = rows(SQUARE - sf.Disk((0.5, 0.5), 0.2).named("hole"))
    assert plate[1:4] == [
        "(x,y)∈A∖B",
        "A: 0<x<1, 0<y<1",
        "B: (x−0.5)2+(y−0.5)2<0.04 its boundary is called hole",
    ]
    half = rows(sf.Disk((0, 0), 1) & sf.HalfSpace((0, 0.5), (0, 1)))
    assert half[1:4] == ["(x,y)∈A∩B", "A: x2+y2<1", "B: y<0.5"]
    level = rows(sf.Implicit(lambda x, y: x**2 + 4 * y**2 - 1, ((-2, 2), (-2, 2))))
    assert level[1] == "x2+4y2−1<0"
    marked = rows(SQUARE.part("inflow", lambda x, y: (x < 0.1) & (y > 0.3)))
    assert marked[2] == "x<0.1∧y>0.3 is where the boundary is called inflow"
    corners = rows(sf.Polygon([(0, 0), (2, 0), (0, 1)]))[1]
    assert corners.startswith("(x,y) in the polygon with the corners (")


# Functions


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x**2 + y**2 - 1,
        lambda x, y: -((x - 1) ** 2) / (2 - y) - (3 - (x - y)),
        lambda x, y: 2**-x * (-x) ** 2 + abs(y),
        lambda x, y: np.where((x > 0.2) & ~(y <= 0.1), np.exp(-x), special.erf(y)),
        lambda x, y: np.interp(x, [0, 0.5, 1], np.array([0.0, 1.0, 0.25])),
        lambda x, y: np.hypot(x, y) - 0.3 * np.cos(5 * np.arctan2(y, x)),
        lambda x, y: np.maximum(x, y) % 0.3,
        lambda x, y: 0.5,
        lambda y, x: y - 2 * x,
        np.hypot,
    ],
)
def test_functions_of_arrays_are_written_down(function):
    points = np.random.default_rng(1).uniform(-1, 1, (50, 2))
    code = source_of(function, ("x", "y"), points)
    assert code is not None
    again = eval(code, {"np": np, "scipy": scipy})
    x, y = points.T
    by_name = function is not np.hypot
    wanted = function(x=x, y=y) if by_name else function(x, y)
    assert np.array_equal(np.broadcast_to(again(x, y), 50), np.broadcast_to(wanted, 50))


@settings(max_examples=80, derandomize=True, deadline=None)
@given(st.data())
def test_random_formulas_are_written_down(data):
    def grown(depth):
        if depth == 0 or data.draw(st.booleans()):
            return data.draw(st.sampled_from(["x", "y", "2.0", "-0.5", "3", "1e-7"]))
        kind = data.draw(st.sampled_from(["+", "-", "*", "/", "**", "neg", "sin", "where"]))
        a, b = grown(depth - 1), grown(depth - 1)
        return {
            "neg": f"(-({a}))",
            "sin": f"np.sin({a})",
            "where": f"np.where(({a}) < ({b}), {a}, {b})",
            "**": f"(np.abs({a}) + 1) ** ({b})",
        }.get(kind, f"(({a}) {kind} ({b}))")

    text = grown(4)
    if "x" not in text and "y" not in text:
        text = f"({text}) * x"
    function = eval(f"lambda x, y: {text}", {"np": np})
    points = np.random.default_rng(2).uniform(0.1, 1, (20, 2))
    with np.errstate(all="ignore"):
        assert source_of(function, ("x", "y"), points) is not None


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.vectorize(lambda a: 1.0 if a > 0 else 2.0)(x),
        lambda x, y: np.array([float(a) for a in x]),
        lambda x, y: x if np.all(x > 0) else y,
        lambda x, y: np.interp(x, np.linspace(0, 1, 5000), np.linspace(0, 1, 5000)),
        # Something else for arrays than for stand-ins: what was recorded is not what it does.
        lambda x, y: x + (1 if isinstance(x, np.ndarray) else 0),
    ],
)
def test_what_cannot_be_written_down_is_not(function):
    assert source_of(function, ("x", "y"), np.random.default_rng(1).uniform(-1, 1, (50, 2))) is None


def test_functions_that_a_page_cannot_hold_have_to_be_supplied():
    table = sf.function(lambda x: np.interp(x, [0, 1], [1, 2]))
    hidden = np.vectorize(lambda x, y: x * x + y * y - 1.0)
    problem = sf.Problem(
        sf.Implicit(hidden, ((-2, 2), (-2, 2))),
        lambda u, x, y: -sf.laplacian(u) - table(x) * u,
        boundary=lambda u, x, y: u.dn - table(y),
    )
    code, missing = script(SimpleNamespace(problem=problem, tol=1e-6), {})
    assert len(missing) == 2
    assert any("level function" in words for words in missing)
    assert any("function in the equation" in words for words in missing)
    names = {}
    with pytest.raises(NotImplementedError, match="has to be supplied"):
        exec(code, names)
    # With what is missing put in, it is the same problem.
    body = re.compile(r"(def (\w+)\([^)]*\):\n)    \"\"\".*\n    raise .*\n")
    opened = body.sub(r"\1    return \2_given(x, y)\n", code)
    first, second = re.findall(r"def (\w+)\(", code)
    opened = opened.replace(f"{second}_given(x, y)", f"{second}_given(x)")
    given = {
        f"{first}_given": hidden,
        f"{second}_given": lambda x: np.interp(x, [0, 1], [1, 2]),
    }
    solve, asked = sf.solve, []
    try:
        sf.solve = lambda problem, **options: asked.append(problem)
        exec(opened, given)
    finally:
        sf.solve = solve
    (stated,) = asked
    assert stated.domain.parts == problem.domain.parts
    assert np.isclose(stated.domain.measure, problem.domain.measure)
    assert len(stated.equations) == 1


def test_derivatives_of_such_functions_are_asked_for_too():
    bent = sf.function(lambda u: u**3, derivative=lambda u: 3 * u**2)
    problem = sf.Problem(
        sf.Interval(0, 1), lambda u, x: -u.dxx + bent(u), boundary=lambda u, x: u - 1
    )
    code, missing = script(SimpleNamespace(problem=problem, tol=1e-6), {})
    assert len(missing) == 2
    assert re.search(r"sf\.function\(\w+, \(\w+,\)\)", code)


# Problems


def texts(problem):
    stated = [*problem.conditions, *problem.further]
    return [to_text(r) for r in problem.equations], [
        [to_text(r) for r in each.residuals] for each in stated
    ]


PROBLEMS = {
    "unknowns in their order, one without a derivative": lambda: sf.Problem(
        sf.Interval(0, 1),
        lambda v, u, x: (v - u.dx, -v.dx + u - np.sin(x)),
        boundary=lambda v, u, x: u,
    ),
    "special functions": lambda: sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -u.dxx + special.erf(x) * u - np.where(x < 0.3, special.j0(x), 1e-9),
        left=lambda u, x: (u, u.dx),
    ),
    "a text with parameters": lambda: sf.Problem(
        sf.Interval(0, 1),
        "-nu*u_xx + diff(k*u, x) = exp(x)",
        left="u = 0",
        right="u_n = k",
        parameters={"nu": 1e-3, "k": 2.5},
    ),
    "further conditions": lambda: sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u.dn,
        conditions=[
            sf.integral(lambda u, x, y: u * x, equals=0.5),
            sf.at((0.5, 0.25), lambda u, x, y: u - 1),
        ],
    ),
    "normals of a product": lambda: sf.Problem(
        SQUARE,
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: ((1 + x) * u).dn + 3 * u.dn - y,
    ),
    "a flux with parts used twice": lambda: sf.Problem(
        SQUARE,
        lambda u, x, y: sf.div(
            (1 + np.exp(np.sin(3 * x) * np.cos(2 * y) + x * y)) * sf.grad(u) * u
        ),
        boundary=lambda u, x, y: u - x,
    ),
    "second order in time": lambda: sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dtt - u.dxx,
        boundary=lambda u, x, t: u - t * 0,
        initial=(lambda x: np.sin(np.pi * x), lambda x: np.interp(x, [0, 1], [0, 1])),
        time=(0, 1),
    ),
    "a start as a text and a number": lambda: sf.Problem(
        sf.Interval(0, 1),
        lambda u, v, x, t: (u.dt - u.dxx + v, v.dt - u),
        boundary=lambda u, v, x, t: u,
        initial={"u": "sin(pi*x)", "v": 0.25},
        time=(0.5, 1),
    ),
    "one function for two states, in the plane": lambda: sf.Problem(
        SQUARE,
        lambda u, v, x, y, t: (u.dt - sf.laplacian(u), v.dt + u),
        boundary=lambda u, v, x, y, t: u,
        initial=lambda x, y: (x * y, np.tanh((x - 0.2) / 0.02)),
        time=(0, 1),
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_stated_again(name):
    problem = PROBLEMS[name]()
    again, missing, _ = repeated(problem)
    assert missing == []
    assert again.unknowns == problem.unknowns and again.coordinates == problem.coordinates
    assert texts(again) == texts(problem)
    assert again.time == problem.time
    if problem.initial is not None:
        points = problem.domain.sample(30)
        for state in problem.initial.states:
            wanted = problem.initial.values(state, points)
            assert np.array_equal(again.initial.values(state, points), wanted)


def test_parts_named_in_a_problem_file_are_written_down(tmp_path):
    path = tmp_path / "part.toml"
    path.write_text(
        'equation = "-laplacian(u) = 1"\n[domain]\ndisk = { centre = [0, 0], radius = 1 }\n'
        'parts = { east = "x > 0.1 and y < 0.5" }\n'
        '[conditions]\nsurface = "u = 0"\neast = "u = 1"\n'
    )
    problem = read(path).problem
    again, missing, code = repeated(problem)
    assert missing == [] and again.domain.parts == problem.domain.parts
    assert "np.logical_and(x > 0.1, y < 0.5)" in code


def test_large_arrays_are_packed_and_huge_ones_left_out():
    code = Code([])
    words = domain_code(DOMAINS["cloud"](), code)
    assert words == "sf.Cloud(points, normals)" and not code.missing
    assert sum(map(len, code.setup)) < 10_000
    assert code.array(np.random.default_rng(0).normal(size=(200_000, 3)), "vertices") == "vertices"
    assert code.missing == ["vertices, an array of shape (200000, 3)"]
