"""Unknown functions of a coordinate."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError
from sharpfront.fit import free_functions
from sharpfront.fit.free_functions import Curve, Expanded, Process

LINE = sf.Interval(0, 1)


def rod(k, q=2.0):
    return sf.Problem(LINE, lambda u, x: (k(x) * u.dx).dx + q, boundary=lambda u, x: u)


def test_a_conductivity_with_a_band_that_is_wide_where_nothing_flows(monkeypatch, tmp_path):
    monkeypatch.setattr(free_functions, "LENGTHS", (0.3, 0.6))
    # With one so small the function can hardly change: its evidence is the least.
    monkeypatch.setattr(free_functions, "DEVIATIONS", (0.01, 1.0))
    # k = exp(x), u' = (c - 2 x) exp(-x), u = integral of it.
    c = 2 * (1 - 2 / np.e) / (1 - 1 / np.e)
    x = np.linspace(0.05, 0.95, 25)
    u = (2 * x + 2 - c) * np.exp(-x) + c - 2
    noisy = u + 1e-3 * np.random.default_rng(0).standard_normal(25)
    data = sf.Data(x=x, u=noisy, sigma=1e-3)
    result = sf.fit(rod, data=data, k=sf.FreeFunction(1.5, positive=True), curvature=False)
    at = np.linspace(0.1, 0.9, 9)
    assert result.converged and np.abs(result.k(at) / np.exp(at) - 1).max() < 0.1
    assert np.abs(result.k(at) - np.exp(at)).max() < 4 * result.k.band(at).max()
    still = c / 2  # there u' = 0 and data say nothing of k
    assert result.k.band(still) > 2 * result.k.band(0.1)
    above = np.count_nonzero(result.k.singular > 1)
    share = result.k.singular**2 / (1 + result.k.singular**2)
    assert 1 < above < 10 and result.k.seen == pytest.approx(share.sum())
    assert 1 < result.k.seen < 10 and "degrees of freedom" in str(result)
    assert result.k.informed(0.1) < 0.2 and result.k.best.curve.process.deviation == 1.0
    page = result.report(tmp_path / "k.html").read_text()
    assert "The function k with its 95 % band" in page and page.count("data:image/svg") == 3
    with pytest.raises(ProblemError, match=r"result\.k\.band"):
        result.interval("k")


@pytest.mark.parametrize("positive", [True, False])
def test_derivatives_of_a_curve_are_those_of_its_values(positive):
    rng = np.random.default_rng(1)
    process = Process(np.linspace(0, 2, 9), 0.5, 0.7)
    curve = Curve(process, 0.3, rng.standard_normal(process.size), positive)
    x, h = np.linspace(0.1, 1.9, 7), 1e-5
    for order in (0, 1):
        slope = (curve.values(x + h, order) - curve.values(x - h, order)) / (2 * h)
        assert curve.values(x, order + 1) == pytest.approx(slope, rel=1e-6, abs=1e-6)
    # A process of deviation 0.7 has that deviation everywhere between its centres.
    spread = np.sqrt((process.table(x) ** 2).sum(axis=1))
    assert spread == pytest.approx(0.7, rel=0.02)


def test_what_is_refused():
    with pytest.raises(ProblemError, match="give sigma="):
        sf.fit(rod, data=sf.Data(x=[0.5] * 60, u=[0.3] * 60), k=sf.FreeFunction())
    with pytest.raises(ProblemError, match="positive number"):
        sf.FreeFunction(-1.0, positive=True)
    with pytest.raises(ProblemError, match="an interval"):
        sf.FreeFunction(low=2.0, high=1.0)


def flux(k):  # the function stands in a condition too
    return sf.Problem(
        LINE,
        lambda u, x: (k(x) * u.dx).dx - 0.3 * k(x) + 2,
        left=lambda u, x: u,
        right=lambda u, x: k(x) * u.dx - 1,
    )


def mean(k):  # under an integral, where a row holds at no single place
    whole = sf.integral(lambda u, x: u - k(x), equals=0.2)
    return sf.Problem(LINE, lambda u, x: u.dx - k(x) * u, conditions=[whole])


def inside(k):  # of the unknown: no coordinate
    return sf.Problem(LINE, lambda u, x: u.dx + k(u), left=lambda u, x: u - 0.9)


@pytest.mark.parametrize("family", [rod, flux, mean, inside])
@pytest.mark.parametrize("positive", [True, False])
def test_derivatives_along_all_weights_at_once_are_those_along_each(family, positive):
    process = Process(np.linspace(0, 1, 9), 0.3, 0.5)
    whole = Expanded(family, ("k",), "k", process, positive)
    weights = np.random.default_rng(3).standard_normal(process.size)
    values = dict(zip(whole.own, (0.4 if positive else 3.0, *weights), strict=True))
    solution = sf.solve(whole, tol=1e-8, **values)
    found = solution.member.derivatives(solution, whole.own)
    x = np.linspace(0, 1, 21)
    for name, v in list(zip(whole.own, found, strict=True))[:2]:
        step = 1e-4
        above, below = (
            sf.solve(whole, tol=1e-9, **{**values, name: values[name] + h})(x)
            for h in (step, -step)
        )
        exact = (above - below) / (2 * step)
        assert np.abs(v.values("u", x[:, None], (0,)) - exact).max() < 1e-5 * max(
            1.0, np.abs(exact).max()
        )
