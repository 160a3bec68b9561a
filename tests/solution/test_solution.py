"""Solutions: evaluation, derivatives, files, pictures."""

import json

import numpy as np
import pytest
from tests.lazy import Lazy

import sharpfront as sf
from sharpfront.errors import DomainError, ProblemError, SolutionFileError
from sharpfront.solution.approximation import Approximation

plt = Lazy("matplotlib.pyplot")


@pytest.fixture(scope="module")
def solution():
    problem = sf.Problem(
        sf.Interval(0, 2),
        lambda u, x: u.dxx + u - np.exp(x),
        left=lambda u, x: u - 1,
        right=lambda u, x: u.dx,
    )
    adaptor = sf.Paper(
        kernels=50, overlap=5, components=3, iterations=1, scaling=6, collocation=250, penalty=100
    )
    return sf.solve(problem, adaptor=adaptor, tol=1e-6)


def test_arguments_broadcast_and_scalars_stay_scalars(solution):
    assert isinstance(solution(0.5), float)
    assert solution(np.zeros((3, 1, 2))).shape == (3, 1, 2)
    assert solution([0.1, 0.2]).shape == (2,)
    assert solution(np.zeros(0)).shape == (0,)


def test_derivatives_agree_with_differences(solution):
    x, h = np.linspace(0.1, 1.9, 50), 1e-4
    slope = (solution(x + h) - solution(x - h)) / (2 * h)
    assert np.max(np.abs(slope - solution.d("x")(x))) < 1e-5
    curvature = (solution(x + h) - 2 * solution(x) + solution(x - h)) / h**2
    assert np.max(np.abs(curvature - solution.d("x", 2)(x))) < 1e-3
    assert np.array_equal(solution.d("x").d("x")(x), solution.d("x", 2)(x))


def test_the_residual_is_what_the_equation_leaves(solution):
    x = np.linspace(0, 2, 11)
    expected = solution.d("x", 2)(x) + solution(x) - np.exp(x)
    assert np.max(np.abs(solution.residual(x) - expected)) < 1e-9


def test_points_outside_are_refused_unless_asked_for(solution):
    with pytest.raises(DomainError, match=r"The point \(2.5\) lies outside"):
        solution([1.0, 2.5])
    with pytest.raises(DomainError, match="NaN"):
        solution(np.nan)
    assert np.isfinite(solution(2.5, extrapolate=True))
    assert np.isfinite(solution(2 + 4e-16))


def test_wrong_coordinates_are_named(solution):
    with pytest.raises(TypeError, match=r"Expected 1 coordinate\(s\) \(x\), got 2"):
        solution(0.1, 0.2)
    with pytest.raises(ProblemError, match="coordinate: expected one of 'x', got the text 'y'"):
        solution.d("y")
    with pytest.raises(AttributeError, match="no attribute 'w'"):
        solution.w  # noqa: B018


def test_saved_and_loaded_solutions_are_the_same_to_the_bit(solution, tmp_path):
    path = solution.save(tmp_path / "layer")
    assert path == tmp_path / "layer.npz"
    loaded = sf.load(path)
    x = np.linspace(0, 2, 201)
    assert np.array_equal(loaded(x), solution(x))
    assert np.array_equal(loaded.d("x", 2)(x), solution.d("x", 2)(x))
    assert loaded.error_estimate == solution.error_estimate
    assert loaded.estimate == solution.estimate
    assert loaded.outcome == solution.outcome
    assert loaded.tol == solution.tol
    assert loaded.diagnostics == dict(solution.diagnostics)
    assert len(loaded.history) == len(solution.history)
    assert np.array_equal(loaded.history[-1].mixture.means, solution.history[-1].mixture.means)
    assert loaded.history[0].mixture is None
    with pytest.raises(DomainError):
        loaded(3.0)
    with pytest.raises(ProblemError, match="does not know its equation"):
        loaded.residual(x)


def test_a_failed_save_leaves_the_old_file(solution, tmp_path, monkeypatch):
    path = solution.save(tmp_path / "a.npz")
    before = path.read_bytes()

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(KeyboardInterrupt):
        solution.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_no_solutions_are_refused(tmp_path):
    with pytest.raises(SolutionFileError, match="There is no file"):
        sf.load(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(SolutionFileError, match="not a solution file, as"):
        sf.load(tmp_path / "text.npz")
    np.savez(tmp_path / "new.npz", meta=np.array(json.dumps({"format": "sharpfront solution 99"})))
    with pytest.raises(SolutionFileError, match="this version reads"):
        sf.load(tmp_path / "new.npz")


def test_the_estimate_says_what_it_is(solution):
    assert "residual" in solution.estimate.meaning
    assert solution.error_estimate == solution.estimate.value


def test_one_line_says_the_essential(solution):
    text = repr(solution)
    assert "\n" not in text
    for part in ("estimated error", "50 kernels", "2 solves", str(solution.outcome.kind)):
        assert part in text


def test_plot_draws_the_solution_where_the_kernels_are(solution):
    axes = solution.plot()
    x, y = axes.lines[0].get_data()
    assert np.allclose(y, solution(x))
    assert len(x) > 1001
    assert axes.get_xlim() == (0, 2)
    assert solution.plot(axes) is axes
    plt.close("all")


def test_many_points_are_evaluated_in_pieces(solution, monkeypatch):
    x = np.linspace(0, 2, 1000)
    whole = solution(x)
    monkeypatch.setattr("sharpfront.kernels.basis._CHUNK", 700)
    assert np.allclose(solution(x), whole, rtol=0, atol=1e-13 * np.max(np.abs(whole)) + 1e-9)
    assert isinstance(solution.approximation, Approximation)


def test_small_slips_are_named(solution, tmp_path):
    for times in (-1, 1.5):
        with pytest.raises(ProblemError, match="The order of a derivative"):
            solution.d("x", times)
    with pytest.raises(DomainError, match="lies outside"):
        solution.residual(2.5)
    solution.save(tmp_path / "short")
    assert sf.load(tmp_path / "short").tol == solution.tol


def test_a_periodic_interval_stays_periodic_in_a_file(tmp_path):
    problem = sf.Problem(sf.Interval(0, 1, periodic=True), lambda u, x: u.dxx - u - x * (1 - x))
    sf.solve(problem).save(tmp_path / "ring.npz")
    assert sf.load(tmp_path / "ring.npz").domain == sf.Interval(0, 1, periodic=True)


def test_derivatives_are_no_attributes_and_that_is_said():
    rod = sf.Problem(sf.Interval(0, 1), lambda u, x: u.dxx - 1, boundary=lambda u, x: u)
    with pytest.raises(AttributeError, match=r'solution\.d\("x", 2\)'):
        _ = sf.solve(rod).dxx
