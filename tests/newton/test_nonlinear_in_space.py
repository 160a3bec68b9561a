"""Drawn nonlinear problems in space with exact solutions: none is called solved and is not."""

import numpy as np
import pytest
from tests.adapt.patchwork.test_solids_drawn import BOX, Drawn, bitten, error_of, pierced

import sharpfront as sf
from sharpfront.bases.patchwork import PatchworkBasis

TOL = 1e-4


def box(rng):
    return sf.Box(*[(float(a), float(a + b)) for a, b in rng.uniform(0.2, 0.9, (3, 2))])


def prism(rng):
    """An edge points inwards, and the solution is smooth all the same."""
    return BOX - sf.Box(
        (float(rng.uniform(0.3, 0.7)), 2), (-1, 2), (float(rng.uniform(0.3, 0.6)), 2)
    )


def ball(rng):
    return sf.Ball(tuple(rng.uniform(-0.3, 0.3, 3)), float(rng.uniform(0.4, 0.8)))


def level(rng):
    a, b, c = rng.uniform(1, 4, 3)
    return sf.Implicit(lambda x, y, z: a * x**2 + b * y**2 + c * z**2 - 1, ((-1.5, 1.5),) * 3)


class Small(Drawn):
    """The drawn solutions, a third as large: exp of them is no wall."""

    def __call__(self, x, y, z):
        return super().__call__(x, y, z) / 3

    def slopes(self, x, y, z):
        return tuple(s / 3 for s in super().slopes(x, y, z))

    def laplacian(self, x, y, z):
        return super().laplacian(x, y, z) / 3


def cubic(v, u, x, y, z):
    return -sf.laplacian(v) + v**3 + u.laplacian(x, y, z) - u(x, y, z) ** 3


def exponential(v, u, x, y, z):
    return -sf.laplacian(v) + np.exp(v) + u.laplacian(x, y, z) - np.exp(u(x, y, z))


def carried(v, u, x, y, z):
    flow = u(x, y, z) * u.slopes(x, y, z)[0]
    return -sf.laplacian(v) + v * v.dx + u.laplacian(x, y, z) - flow


def conducted(v, u, x, y, z):
    value, slopes = u(x, y, z), u.slopes(x, y, z)
    source = (1 + value**2) * u.laplacian(x, y, z) + 2 * value * sum(s * s for s in slopes)
    return -sf.div((1 + v**2) * sf.grad(v)) + source


CASES = [
    (box, cubic),
    (box, exponential),
    (box, carried),
    (box, conducted),
    (prism, carried),
    (ball, cubic),
    (ball, conducted),
    (level, exponential),
    (pierced, cubic),
    (bitten, carried),
]


def stated(domain, equation, u):
    return sf.Problem(
        domain,
        lambda v, x, y, z: equation(v, u, x, y, z),
        **dict.fromkeys(domain.parts, lambda v, x, y, z: v - u(x, y, z)),
    )


# Of these solids a quicker one has the other equations too.
LONG = {level, pierced, bitten}


@pytest.mark.parametrize(
    ("solid", "equation"),
    [pytest.param(*c, marks=[pytest.mark.slow] * (c[0] in LONG)) for c in CASES],
    ids=lambda f: f.__name__,
)
def test_a_smooth_solution_is_found_and_its_error_told(solid, equation):
    rng = np.random.default_rng([41, CASES.index((solid, equation))])
    u = Small(rng)
    solution = sf.solve(stated(solid(rng), equation, u), tol=TOL)
    assert isinstance(solution.approximation.bases["v"], PatchworkBasis)
    assert solution.converged, solution.outcome
    error = error_of(solution, u)
    assert error < TOL
    assert error < 3 * solution.error_estimate


@pytest.mark.parametrize("seed", [1])
def test_a_front_within_few_functions_is_not_called_solved(seed):
    """tanh across the axes with -d^2 lap u + u^3 - u = f: what is too thin is said to be."""
    rng = np.random.default_rng([42, seed])
    width, way = float(10 ** rng.uniform(-0.9, -0.6)), rng.uniform(0.3, 1, 3)

    def u(x, y, z):
        return np.tanh((way[0] * x + way[1] * y + way[2] * z - 0.5 * way.sum()) / width)

    def equation(v, x, y, z):
        t = u(x, y, z)
        bent = -2 * t * (1 - t * t) * float(way @ way)
        return -(width**2) * sf.laplacian(v) + v**3 - v + bent - t**3 + t

    domain = sf.Box((0, 1), (0, 1), (0, 1))
    problem = sf.Problem(domain, equation, boundary=lambda v, x, y, z: v - u(x, y, z))
    solution = sf.solve(problem, tol=1e-6, max_kernels=700)
    assert not solution.converged
    assert error_of(solution, u) < 3 * solution.error_estimate


def test_an_iterate_is_not_integrated_like_a_singular_source(monkeypatch):
    """Only what is stated is halved to find its means; else a step takes minutes."""
    from sharpfront.rows import equation_rows

    seen = []
    known = equation_rows.resolved_sources

    def counted(patches, values, source):
        points = []
        out = known(patches, values, lambda x: points.append(len(x)) or source(x))
        seen.append(sum(points))
        return out

    monkeypatch.setattr(equation_rows, "resolved_sources", counted)
    rng = np.random.default_rng(43)
    solution = sf.solve(stated(box(rng), conducted, Drawn(rng)), tol=1e-3)
    assert solution.converged and sum(seen) < 1e6
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1), (0, 1)),
        lambda v, x, y, z: -sf.laplacian(v) + 9 * v**5 - 30,
        boundary=lambda v, x, y, z: v,
    )
    seen.clear()
    sf.solve(problem, tol=0.3, max_kernels=900)
    assert not any(seen)
