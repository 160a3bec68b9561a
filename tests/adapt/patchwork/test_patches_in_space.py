"""Patches in space: joint degrees, layers, edges that point inwards, materials, systems."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.adapt.patchwork.comparison import compared_points
from sharpfront.bases.legendre import gauss
from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.bases.solid_cut_cells import SolidRegion
from sharpfront.bases.total_degree import products
from sharpfront.maps import AxisMap
from sharpfront.measure import max_error
from sharpfront.place.patches.cuts import Cell, at_corners
from sharpfront.place.tiling.tiling import tiling_of
from sharpfront.rows.form_values import FormValues, InChart
from sharpfront.rows.moments import projected, weighed_rows, weighed_source
from sharpfront.rows.side_quadrature import form_matrix

CUBE = sf.Box((0, 1), (0, 1), (0, 1))


def error_of(solution, exact, unknown=None):
    """Return the largest error inside every patch, relative to max(1, max|u|)."""
    name = unknown or solution.unknowns[0]
    points = compared_points(solution.approximation.bases[name].patches)
    return max_error(solution.approximation.values(name, points, (0, 0, 0)), exact, points)


def patch(functions, low=(0.2, -1.0, 3.0), sides=(0.7, 2.0, 0.1)):
    ends = zip(low, np.add(low, sides), strict=True)
    return Patch(tuple(AxisMap(float(a), float(b)) for a, b in ends), functions)


class TestProducts:
    @pytest.mark.parametrize("functions", [(5, 5, 5), (9, 4, 6), (7, 1, 3)])
    def test_joint_degrees_are_closed_under_derivatives(self, functions):
        kept = set(map(tuple, products(functions, True).T.tolist()))
        assert all(
            tuple(np.eye(3, dtype=int)[a] * (p - 1)) in kept for a, p in enumerate(functions)
        )
        lower = {tuple(k - (b == a) for b, k in enumerate(key)) for key in kept for a in range(3)}
        assert {key for key in lower if min(key) >= 0} <= kept

    def test_values_are_those_of_the_matrix(self):
        basis = PatchworkBasis((patch((5, 4, 6)), patch((4, 6, 5), low=(0.9, -1.0, 3.0))))
        random = np.random.default_rng(3)
        weights = random.standard_normal(basis.size)
        points = np.array([0.2, -1.0, 3.0]) + random.random((40, 3)) * [1.4, 2.0, 0.1]
        for orders in ((0, 0, 0), (1, 0, 1), (0, 2, 0)):
            values = basis.values(weights, points, orders)
            assert np.allclose(basis.matrix(points, orders) @ weights, values, rtol=1e-11)
        assert len(basis.centres) == basis.size

    @pytest.mark.parametrize("varying", [False, True])
    def test_rows_are_moments_of_the_residual(self, varying):
        own = patch((5, 4, 6))
        counts = tuple(p + 1 for p in own.functions)
        points, weights = own.gauss_points(counts)
        x, y, z = points.T
        one = np.ones(len(x))
        a, b = (1 + x * y, np.sin(z + y)) if varying else (2.0 * one, -3.0 * one)
        terms = [InChart("u", (2, 0, 0)), InChart("u", (0, 1, 0))]
        form = FormValues(terms, [a, b], np.cos(x + 2 * y - z))
        tables, scale = own.gauss_tables(counts, 2), 0.1 + (z if varying else one)
        found = weighed_rows(form, scale, weights, tables, ["u"])
        every = form_matrix(form, scale, tables, ["u"])
        chosen = tuple(products(counts, True))
        expected = np.stack([projected(column, counts)[chosen] for column in every.T], axis=1)
        assert np.allclose(found, expected, atol=1e-11 * np.abs(every).max())
        assert np.allclose(gauss(counts[0])[1].sum(), 1.0)
        source = weighed_source(form.rhs * scale, weights, counts)
        assert np.allclose(source, projected(form.rhs * scale, counts)[chosen])


class TestTilings:
    @pytest.mark.parametrize("shift", [0.0, 0.3])
    def test_a_cube_without_an_octant(self, shift):
        whole = sf.Box(*[(shift - 1, shift + 1)] * 3)
        tiling = tiling_of(whole - sf.Box(*[(shift, shift + 2)] * 3))
        (block,) = tiling.blocks
        assert all(np.allclose(x, [shift - 1, shift, shift + 1]) for x in block.lines)
        assert len(block.boxes(block.lines)) == 7
        assert len(block.walls) == 24
        names = {wall[4] for wall in block.walls}
        assert names == {*whole.parts, "left2", "bottom2", "back2"}
        inner = [line for line in tiling.corners if np.sum(line == shift) == 2]
        assert len(inner) == 3

    def test_a_curved_face_cuts_boxes(self):
        tiling = tiling_of(CUBE - sf.Ball((0.5, 0.5, 0.5), 0.2))
        assert isinstance(tiling.blocks[0].region, SolidRegion)

    def test_cells_at_edges_and_vertices(self):
        lines = tiling_of(CUBE).corners
        halves = [AxisMap(0.0, 0.5), AxisMap(0.5, 1.0)]
        whole = AxisMap(0.0, 1.0)
        thin = AxisMap(0.3, 0.6)
        boxes = [(halves[0], halves[1], halves[0]), (halves[0], halves[1], thin)]
        boxes += [(whole, halves[0], thin), (thin, thin, halves[0])]
        cells = [Cell(Patch(maps, (4, 4, 4))) for maps in boxes]
        assert at_corners(cells, lines) == [(0, 1, 0), (0, 1, -1), None, None]


class TestSolutions:
    @pytest.mark.parametrize("angle", [0.2, 1.1])
    def test_variable_coefficients_and_all_conditions(self, angle):
        c, s = np.cos(angle), np.sin(angle)

        def exact(x, y, z):
            return np.sin(c * x + 2 * y) * np.exp(s * z)

        def slope(x, y, z):
            return c * np.cos(c * x + 2 * y) * np.exp(s * z)

        def equation(u, x, y, z):
            lap = (s**2 - c**2 - 4) * exact(x, y, z)
            return (
                (2 + x * z) * (sf.laplacian(u) - lap)
                + y * (u.dx - slope(x, y, z))
                - u
                + exact(x, y, z)
            )

        problem = sf.Problem(
            sf.Box((0, 1), (0.2, 1), (-0.5, 0.3)),
            equation,
            left=lambda u, x, y, z: u.dn + slope(x, y, z),
            right=lambda u, x, y, z: u.dn + 2 * u - slope(x, y, z) - 2 * exact(x, y, z),
            boundary=lambda u, x, y, z: u - exact(x, y, z),
        )
        solution = sf.solve(problem, tol=1e-6)
        assert solution.converged
        error = error_of(solution, exact)
        assert error <= 3 * solution.error_estimate <= 3e-6
        assert solution.kernels < 1500

    @pytest.mark.parametrize(("axis", "eps"), [(0, 1e-2), (2, 1e-4)])
    def test_a_layer_at_an_outflow(self, axis, eps):
        def exact(*x):
            rest = [c for a, c in enumerate(x) if a != axis]
            return (x[axis] - np.exp((x[axis] - 1) / eps)) * np.cos(rest[0] - rest[1])

        def equation(u, x, y, z):
            flow, u_s = exact(x, y, z), (u.dx, u.dy, u.dz)[axis]
            beside = [c for a, c in enumerate((x, y, z)) if a != axis]
            source = np.cos(beside[0] - beside[1]) + 2 * eps * flow
            return -eps * sf.laplacian(u) + u_s - source

        problem = sf.Problem(CUBE, equation, boundary=lambda u, x, y, z: u - exact(x, y, z))
        solution = sf.solve(problem, tol=1e-3)
        assert solution.converged
        assert error_of(solution, exact) <= 3 * solution.error_estimate <= 3e-3

    @pytest.mark.slow
    def test_an_edge_that_points_inwards(self):
        prism = sf.Box((-1, 1), (0, 1), (-1, 1)) - sf.Box((0, 2), (-1, 2), (-2, 0))

        def exact(x, y, z):
            angle = np.arctan2(-z, -x) + np.pi
            return np.hypot(x, z) ** (2 / 3) * np.sin(2 * angle / 3)

        data = sf.function(exact)
        problem = sf.Problem(
            prism, lambda u, x, y, z: sf.laplacian(u), boundary=lambda u, x, y, z: u - data(x, y, z)
        )
        solution = sf.solve(problem, tol=3e-2)
        assert solution.converged
        assert error_of(solution, exact) <= 3e-2

    @pytest.mark.parametrize(("place", "ratio"), [(0.3, 1e3), (0.6, 1e-2)])
    def test_two_materials(self, place, ratio, tmp_path):
        def exact(x, y, z):
            depth = np.where(x < place, x, place + (x - place) / ratio)
            return depth * np.cos(y) * np.exp(z)

        problem = sf.Problem(
            CUBE,
            lambda u, x, y, z: sf.div(np.where(x < place, 1.0, ratio) * sf.grad(u)),
            boundary=lambda u, x, y, z: u - exact(x, y, z),
        )
        solution = sf.solve(problem, tol=1e-7)
        assert solution.converged
        assert error_of(solution, exact) < 1e-7
        solution.save(tmp_path / "cube.npz")
        again = sf.load(tmp_path / "cube.npz")
        assert again(0.2, 0.4, 0.9) == solution(0.2, 0.4, 0.9)

    def test_stokes(self):
        problem = sf.Problem(
            CUBE,
            lambda u, v, w, p, x, y, z: [
                -sf.laplacian(u) + p.dx - np.sin(y) * z - y,
                -sf.laplacian(v) + p.dy - np.cos(z) * x - x,
                -sf.laplacian(w) + p.dz + np.exp(x) * y - 2 * z,
                u.dx + v.dy + w.dz,
            ],
            boundary=lambda u, v, w, p, x, y, z: [
                u - np.sin(y) * z,
                v - np.cos(z) * x,
                w - np.exp(x) * y,
            ],
            conditions=[
                sf.at((0.5, 0.5, 0.5), lambda u, v, w, p, x, y, z: p - x * y - z**2),
            ],
        )
        solution = sf.solve(problem, tol=1e-4)
        assert solution.converged
        assert error_of(solution, lambda x, y, z: np.exp(x) * y, "w") < 1e-4
        assert error_of(solution, lambda x, y, z: x * y + z**2, "p") < 1e-4
