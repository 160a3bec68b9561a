"""Fits with known truths: values, intervals, and what is said against them."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.lazy import Lazy

import sharpfront as sf
from sharpfront.errors import DomainError, ProblemError
from sharpfront.fit import profile
from sharpfront.fit.report import draw_fit
from sharpfront.fit.statistics import spread, unseen_words

drawing = Lazy("matplotlib.figure")

LINE = sf.Interval(0, 1)


def layer(nu, c=1.0):
    return sf.Problem(
        LINE, lambda u, x: -nu * u.dxx + c * u.dx, left=lambda u, x: u, right=lambda u, x: u - 1
    )


def layer_data(nu, seed, sigma=0.02, count=20):
    x = 1 - nu * np.linspace(0, 4, count)
    noise = np.random.default_rng(seed).standard_normal(count)
    return x, np.exp((x - 1) / nu) + sigma * noise


@pytest.mark.parametrize(("nu", "start", "seed"), [(1e-2, 5.0, 1), (3e-3, 0.3, 2), (5e-2, 0.2, 3)])
def test_a_layer_from_afar(nu, start, seed):
    x, u = layer_data(nu, seed)
    result = sf.fit(
        layer, data=sf.Data(x=x, u=u, sigma=0.02), nu=sf.Free(start * nu, positive=True)
    )
    assert result.converged and result.identifiable and result.solves <= 8
    # The least of the sum of squares over exact solutions.
    near = result.nu * np.linspace(0.97, 1.03, 2001)
    misfit = [np.sum((np.exp((x - 1) / v) - u) ** 2) for v in near]
    assert abs(result.nu - near[np.argmin(misfit)]) < 0.02 * result.stderr["nu"]
    rate = np.exp((x - 1) / result.nu) * (1 - x) / result.nu**2 / 0.02
    assert result.stderr["nu"] == pytest.approx(1 / np.linalg.norm(rate), rel=0.02)
    assert result.share < 0.05 and result.solution.converged
    low, high = result.interval("nu")
    assert low < result.nu < high and abs(nu - result.nu) < 4 * result.stderr["nu"]
    assert tuple(result.profile("nu")) == pytest.approx((low, high), rel=0.05)
    assert "95 %" in str(result)


@pytest.mark.parametrize("sigma", [1e-2, 1e-9])
def test_solves_are_as_fine_as_the_data(sigma):
    x, u = layer_data(1e-2, 1, sigma)
    result = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=sigma), nu=sf.Free(0.02, positive=True))
    assert result.share < 0.05 and (result.found.tol < 1e-3) == (sigma < 1e-3)
    assert abs(result.nu - 1e-2) < 4 * result.stderr["nu"]


def two_layers(nu, c, r):
    return sf.Problem(
        LINE, lambda u, x: -nu * u.dxx + c * u.dx + r * u - 1, boundary=lambda u, x: u
    )


@pytest.mark.parametrize("off", [(10, 4, 2), (0.1, 4, 2), (10, 10, 10), (0.1, 0.1, 0.1)])
def test_three_parameters_from_afar_where_one_is_hardly_seen_on_the_way(off):
    truth = {"nu": 1e-3, "c": 0.05, "r": 1.0}
    x, noise = np.linspace(0.01, 0.99, 40), np.random.default_rng(2).standard_normal(40)
    data = sf.Data(x=x, u=sf.solve(two_layers, **truth)(x) + 0.02 * noise, sigma=0.02)
    free = {n: sf.Free(v * f, positive=True) for (n, v), f in zip(truth.items(), off, strict=True)}
    result = sf.fit(two_layers, data=data, curvature=False, **free)
    assert result.converged and result.p_value > 1e-3 and result.solves <= 8
    assert all(abs(result.values[n] - v) < 4 * result.stderr[n] for n, v in truth.items())


@pytest.mark.parametrize("count", [1, 3])
def test_measurements_against_the_fit_are_drawn_beside_the_line_where_both_agree(count):
    flux = sf.Data(x=0.0, observe=lambda u, x: u.dx, values=np.full(count, 2.1), sigma=0.05)
    measured = sf.Data(x=[0.2, 0.5], u=[0.32, 0.5], sigma=0.01)
    result = sf.fit(rod, data=[measured, flux], k=sf.Free(1.0, positive=True))
    axes = drawing.Figure().subplots()
    draw_fit(result, 1, axes)
    line = axes.lines[0].get_xydata()
    assert np.ptp(line[:, 0]) > 0.05 and np.array_equal(line[:, 0], line[:, 1])


def test_a_report_is_one_page(tmp_path):
    x, u = layer_data(1e-2, 9)
    result = sf.fit(layer, data=sf.Data(x=x, u=u), nu=sf.Free(0.02, positive=True))
    text = result.report(tmp_path / "layer.html").read_text()
    assert text.count("data:image/svg") == 3 and "intervals" in text and "http:" not in text
    short = result.report(tmp_path / "short.html", profiles=False).read_text()
    assert text.count("Profiles") == 1 and "Profiles" not in short
    figure = drawing.Figure()
    axes = figure.subplots()
    assert result.plot(axes=axes) is axes and len(axes.lines[0].get_xdata()) > 300
    assert len(result.plot("residuals", axes=figure.subplots()).lines[0].get_xdata()) == 20
    profile = result.profile("nu")
    allowed, *ends = profile.plot(figure.subplots()).lines[2:]
    assert [line.get_xdata()[0] for line in ends] == pytest.approx(list(profile))
    assert allowed.get_ydata()[0] == pytest.approx(profile.rises[-1], rel=0.05)


def test_a_direction_that_data_do_not_see_is_named_and_has_no_error_bar():
    x, u = layer_data(1e-2, 4)
    free = {"nu": sf.Free(2e-2, positive=True), "c": sf.Free(2.0, positive=True)}
    result = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=0.02), **free)
    assert not result.identifiable and np.isinf(list(result.stderr.values())).all()
    assert "only the ratio nu/c" in str(result) and "(0.71, 0.71)" in str(result)
    assert result.nu / result.c == pytest.approx(1e-2, rel=0.1)
    assert result.interval("nu") == (0.0, np.inf)
    free["c"] = sf.Free(1.1, positive=True, prior=sf.Prior(1.0, 0.05))
    held = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=0.02), **free)
    assert held.identifiable and held.stderr["c"] == pytest.approx(0.05, rel=0.1)
    assert held.correlation[0, 1] > 0.5


@pytest.mark.parametrize(("nu", "seed"), [(1e-2, 4), (3e-2, 5)])
def test_what_data_tell_of_the_curve_does_not_hang_on_a_direction_they_do_not_see(nu, seed):
    x, u = layer_data(nu, seed)
    data, free = sf.Data(x=x, u=u, sigma=0.02), sf.Free(2 * nu, positive=True)
    both = sf.fit(layer, data=data, nu=free, c=sf.Free(2.0, positive=True))
    alone = sf.fit(layer, data=data, nu=free)
    assert both.band(x) == pytest.approx(alone.band(x), rel=1e-2)
    assert np.isnan(both.correlation).all() and np.isinf(np.diag(both.covariance)).all()


@pytest.mark.parametrize("place", [0.6, 0.8])
def test_the_band_is_infinite_where_the_curve_depends_on_what_is_not_seen(place):
    def halves(a, b):  # data left of the middle know nothing of the load right of it
        left = sf.at(0.5, lambda u, x: u - a)
        source = lambda u, x: u.dxx + 1e5 * b * np.maximum(x - 0.5, 0.0) ** 3  # noqa: E731
        return sf.Problem(LINE, source, left=lambda u, x: u, conditions=[left])

    x = np.linspace(0.1, 0.45, 6)
    result = sf.fit(halves, data=sf.Data(x=x, u=2 * x, sigma=0.01), a=sf.Free(0.5), b=sf.Free(1.0))
    assert not result.identifiable and np.isinf(result.stderr["b"])
    assert np.isfinite(result.stderr["a"]) and np.isfinite(result.band(0.3))
    assert np.isinf(result.band(place))


@pytest.mark.parametrize("shape", [(20, 1), (1,), ()])
@pytest.mark.parametrize("what", ["values", "sigma"])
def test_no_measurement_is_made_up_by_broadcasting(what, shape):
    x, u = layer_data(1e-2, 4)
    sigma = 0.02
    if what == "values":
        u = np.resize(u, shape)
    elif shape == (20, 1):
        sigma = np.full(shape, 0.02)
    else:
        x, u, sigma = 0.99, np.resize(u, shape), [0.02, 0.03]
    with pytest.raises(ProblemError, match="give one for each"):
        sf.fit(layer, data=sf.Data(x=x, u=u, sigma=sigma), nu=sf.Free(0.02))


def test_noise_by_the_name_of_each_unknown():
    x = np.linspace(0.1, 1, 12)
    noise = np.random.default_rng(3).standard_normal((2, 12))
    u, w = np.sin(x) + 0.01 * noise[0], np.cos(x) + 0.1 * noise[1]
    free = {"k": sf.Free(1.0), "w0": sf.Free(1.0)}
    one = sf.Data(x=x, u=u, w=w, sigma={"u": 0.01, "w": np.full(12, 0.1)})
    two = [sf.Data(x=x, u=u, sigma=0.01), sf.Data(x=x, w=w, sigma=0.1)]
    found, wanted = (sf.fit(chain, data=d, **free) for d in (one, two))
    assert found.k == pytest.approx(wanted.k) and found.stderr == pytest.approx(wanted.stderr)
    with pytest.raises(ProblemError, match="one for each of u, w"):
        sf.fit(chain, data=sf.Data(x=x, u=u, w=w, sigma={"u": 0.1}), **free)


def test_a_fit_without_spare_data_is_not_tested():
    result = sf.fit(rod, data=sf.Data(x=0.5, u=0.3, sigma=1e-3), k=sf.Free(1.0, positive=True))
    assert result.dof == 0 and result.p_value is None and not result.notes
    assert "no degrees of freedom are left" in str(result)


def test_a_derivative_that_is_not_known_is_not_taken_for_one_that_data_do_not_see():
    errors = np.array([1e-6, 20.0])
    found = spread(np.array([[3.0, 0.0], [0.0, 5.0], [1.0, 2.0]]), 1.0, errors)
    assert np.isinf(found.deviations[1]) and found.doubtful.all()
    free = {"k": sf.Free(1.0), "T": sf.Free(1.0)}
    words = unseen_words(found.unseen[0], free, True)
    assert "not known well enough" in words and "Data say nothing" not in words
    # What is known exactly, such as a prior, counts however large errors elsewhere are.
    apart = spread(np.array([[3e6, 0.0], [0.0, 1.0]]), 1.0, np.array([10.0, 1e-9]))
    assert np.isfinite(apart.deviations).all()


def test_noise_that_is_not_known_is_estimated_and_intervals_are_students():
    x, u = layer_data(1e-2, 5)
    known = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=0.02), nu=sf.Free(0.02, positive=True))
    found = sf.fit(layer, data=sf.Data(x=x, u=u), nu=sf.Free(0.02, positive=True))
    assert found.nu == pytest.approx(known.nu, rel=1e-3) and known.sigma is None
    assert found.sigma == pytest.approx(0.02 * np.sqrt(known.chi2 / known.dof), rel=1e-3)
    ratio = np.log(np.divide(*found.interval("nu")[::-1])) / np.log(
        np.divide(*known.interval("nu")[::-1])
    )
    assert ratio == pytest.approx(found.sigma / 0.02 * 2.093 / 1.960, rel=1e-2)


def rod(k, a=0.0):
    return sf.Problem(
        LINE, lambda u, x: k * u.dxx + 2, left=lambda u, x: u - a, right=lambda u, x: u
    )


def test_boundary_values_derivatives_and_integrals_to_many_digits():
    # u = (1 - x) (a + x / k): u'(0) = 1/k - a, the integral is a/2 + 1/(6 k).
    k, a = 0.7, 0.2
    sets = [
        sf.Data(x=[0.0], observe=lambda u, x: u.dx, values=[1 / k - a], sigma=1e-6),
        sf.Data(integral=lambda u, x: u, values=a / 2 + 1 / (6 * k), sigma=1e-6),
        sf.Data(x=0.5, u=0.5 * (a + 0.5 / k), sigma=np.array([1e-6])),
    ]
    result = sf.fit(rod, data=sets, k=(1.5, 0.1, 10.0), a=sf.Free(0.0))
    assert (result.k, result.a) == pytest.approx((k, a), abs=1e-6) and result.share < 0.05


def heated(a):
    disk = sf.Disk((0.2, -0.1), 1.0)
    return sf.Problem(disk, lambda u, x, y: -sf.laplacian(u) - a, boundary=lambda u, x, y: u)


def diffused(a):
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) + a * np.sin(np.pi * x) * np.sin(np.pi * y),
        boundary=lambda u, x, y: u - 1,
    )


@pytest.mark.parametrize(
    ("family", "a", "integral", "value"),
    [
        # u = a (1 - r^2) / 4, and 1 - c sin sin with c = a / (2 pi^2).
        (heated, 3.0, lambda u, x, y: u, lambda a, c: a * np.pi / 8),
        (diffused, 1.6, lambda u, x, y: u**2, lambda a, c: 1 - 8 * c / np.pi**2 + c**2 / 4),
    ],
)
def test_integrals_over_the_plane(family, a, integral, value):
    data = sf.Data(integral=integral, values=value(a, a / (2 * np.pi**2)), sigma=1e-5)
    result = sf.fit(family, data=data, curvature=False, a=sf.Free(0.8 * a, positive=True))
    assert result.converged and result.a == pytest.approx(a, rel=1e-4)


def test_every_measurement_counts_by_its_own_sigma():
    x = np.linspace(0.1, 0.9, 9)
    u = (1 - x) * x / 0.5
    u[4] += 1.0
    sigma = np.where(np.arange(9) == 4, 1e3, 1e-3)
    assert sf.fit(rod, data=sf.Data(x=x, u=u, sigma=sigma), k=sf.Free(1.0)).k == pytest.approx(0.5)


def test_bounds_hold_and_are_told():
    x = np.linspace(0.1, 0.9, 9)
    data = sf.Data(x=x, u=(1 - x) * x / 0.5, sigma=0.01)
    result = sf.fit(rod, data=data, k=sf.Free(1.0, low=0.8, high=2.0))
    assert result.k == pytest.approx(0.8) and "at a bound" in str(result) and result.converged
    assert "too large for the given noise" in str(result)


def test_a_wrong_model_is_seen_in_the_residuals():
    x = np.linspace(0.02, 0.98, 40)
    result = sf.fit(rod, data=sf.Data(x=x, u=np.sin(np.pi * x) ** 3), k=sf.Free(1.0))
    assert result.runs_p_value < 0.01 and "keep their sign" in str(result)


def wave(k):
    slope = sf.at(0.0, lambda u, x: u.dx - k)
    return sf.Problem(LINE, lambda u, x: u.dxx + k**2 * u, left=lambda u, x: u, conditions=[slope])


@pytest.mark.parametrize(("k", "start"), [(17.0, 5.0), (11.0, 30.0)])
def test_of_several_starts_the_least_misfit_is_taken_and_from_one_more_are_advised(k, start):
    x, noise = np.linspace(0.05, 1, 25), np.random.default_rng(0).standard_normal(25)
    data, free = sf.Data(x=x, u=np.sin(k * x) + 0.05 * noise, sigma=0.05), sf.Free(start, 3, 33)
    alone = sf.fit(wave, data=data, k=free, curvature=False)
    assert abs(alone.k - k) > 1 and "try starts=8" in str(alone)
    result = sf.fit(wave, data=data, k=free, curvature=False, starts=6)
    assert abs(result.k - k) < 4 * result.stderr["k"] and result.p_value > 1e-3
    assert result.minima[0].chi2 < 1e-2 * result.minima[1].chi2 and not result.notes


def even(a, b=0.0):
    return sf.Problem(LINE, lambda u, x: u.dxx + 2 * a**2 + b, boundary=lambda u, x: u)


def test_a_minimum_that_fits_as_well_is_named():
    x = np.linspace(0.1, 0.9, 9)
    data = sf.Data(x=x, u=2.25 * x * (1 - x), sigma=0.01)
    starts = [{"a": 1.0}, {"a": -0.9}, {"a": 2.0}]
    result = sf.fit(even, data=data, a=sf.Free(1.0), starts=starts)
    assert [m.starts for m in result.minima] in ([2, 1], [1, 2])
    assert {round(m.values["a"], 2) for m in result.minima} == {1.5, -1.5}
    assert "fit as well at a = " in str(result)
    for bad in ([{"c": 1.0}], [{"a": np.inf}], [], "many", 0):
        with pytest.raises(ProblemError, match="starts"):
            sf.fit(even, data=data, a=sf.Free(1.0), starts=bad)


def length(a):
    return sf.Problem(sf.Interval(0, a), lambda u, x: u.dxx + 2, boundary=lambda u, x: u)


def test_the_length_of_a_domain_is_fitted_and_never_shorter_than_where_data_are():
    x = np.linspace(0.1, 0.9, 9)
    u = x * (0.95 - x) + 1e-3 * np.random.default_rng(3).standard_normal(9)
    result = sf.fit(length, data=sf.Data(x=x, u=u, sigma=1e-3), a=sf.Free(1.6))
    least = np.sum(x * (u + x**2)) / np.sum(x**2)  # u = x (a - x) is linear in a
    assert result.a == pytest.approx(least, abs=0.02 * result.stderr["a"])
    assert result.stderr["a"] == pytest.approx(1e-3 / np.linalg.norm(x), rel=1e-2)
    assert result.model.at(np.array([0.8 / 1.6]), 1e-3) is None


def chain(k, w0=1.0):
    return sf.Problem(
        LINE, lambda u, w, x: (u.dx - k * w, w.dx + k * u), left=lambda u, w, x: (u, w - w0)
    )


def test_several_unknowns_and_sets_and_tables():
    pandas = pytest.importorskip("pandas")
    x, noise = np.linspace(0, 1, 15), np.random.default_rng(6).standard_normal((2, 15))
    u, w = 1.5 * np.sin(2 * x) + 0.01 * noise[0], 1.5 * np.cos(2 * x) + 0.01 * noise[1]
    table = pandas.DataFrame({"x": x, "u": u, "w": w, "sigma": 0.01})
    free = {"k": sf.Free(1.0, positive=True), "w0": sf.Free(1.0)}
    one = sf.fit(chain, data=sf.Data(table), **free)
    sets = [sf.Data(x=x, u=u, sigma=0.01), sf.Data(x=x, w=w, sigma=0.01)]
    two = sf.fit(chain, data=sets, **free)
    grid = table.set_index("x").to_xarray()
    assert one.values == pytest.approx(two.values) and one.dof == 28
    for bare in (table, grid, grid.u):
        with pytest.raises(ProblemError, match=r"a table \((pandas|xarray) .*Try sf.Data\(table"):
            sf.fit(chain, data=bare, **free)
    assert sf.fit(chain, data=sf.Data(grid), **free).values == pytest.approx(one.values)
    assert abs(one.k - 2.0) < 4 * one.stderr["k"] and abs(one.w0 - 1.5) < 4 * one.stderr["w0"]
    assert one.band(0.5, unknown="w") < 0.01


def fading(k, a=1.0):
    return sf.Problem(
        LINE,
        lambda u, x, t: u.dt - k * u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: a * np.sin(np.pi * x),
        time=(0, 0.3),
    )


def test_in_time():
    rng = np.random.default_rng(7)
    x, t = rng.uniform(0.1, 0.9, 40), rng.uniform(0, 0.3, 40)
    u = 2 * np.exp(-0.4 * np.pi**2 * t) * np.sin(np.pi * x) + 0.01 * rng.standard_normal(40)
    data = sf.Data(x=x, t=t, u=u, sigma=0.01)
    free = {"k": sf.Free(0.3, positive=True), "a": sf.Free(1.5)}
    result = sf.fit(fading, data=data, curvature=False, **free)
    assert result.converged and result.solves <= 8
    assert abs(result.k - 0.4) < 4 * result.stderr["k"] and result.stderr["k"] < 0.02
    assert abs(result.a - 2.0) < 4 * result.stderr["a"]
    curve = np.exp(-result.k * np.pi**2 * t) * np.sin(np.pi * x)
    jacobian = np.stack([-result.a * np.pi**2 * t * curve, curve], axis=1) / 0.01
    assert result.covariance == pytest.approx(np.linalg.inv(jacobian.T @ jacobian), rel=1e-2)


def plate(q):
    return sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: -sf.laplacian(u) - 20 * q * np.sin(np.pi * x) * np.sin(np.pi * y),
        boundary=lambda u, x, y: u,
    )


def test_in_the_plane():
    x, y = np.meshgrid([0.2, 0.5, 0.8], [0.3, 0.6])
    u = 10 / np.pi**2 * 1.3 * np.sin(np.pi * x) * np.sin(np.pi * y)
    result = sf.fit(plate, data=sf.Data(x=x, y=y, u=u, sigma=0.01), q=sf.Free(1.0))
    assert result.q == pytest.approx(1.3, abs=1e-3 * result.stderr["q"] + 1e-4)
    assert result.stderr["q"] == pytest.approx(0.01 / np.linalg.norm(u / 1.3), rel=1e-3)


def decay(k):
    return sf.Problem(LINE, lambda u, x: u.dx + k * u, left=lambda u, x: u - 1)


def test_a_profile_says_where_there_is_no_bound():
    # Far beyond the decay nothing is left but noise: any faster one would do.
    data = sf.Data(x=[0.8, 0.9, 1.0], u=[0.001, -0.002, 0.001], sigma=0.01)
    result = sf.fit(decay, data=data, k=sf.Free(5.0, positive=True))
    profile = result.profile("k")
    assert np.isinf(profile.high) and 3.0 < profile.low < 7.0
    assert "no upper bound" in str(profile)


def made_up(monkeypatch, least, deviation=1.0):
    """Return a profile of one parameter, zero with a standard error, from made-up fits."""
    monkeypatch.setattr(profile, "minimised", least)
    model = SimpleNamespace(
        names=("k",),
        free={"k": sf.Free(1.0)},
        noise_known=True,
        spare=9,
        bounds=np.array([[-np.inf], [np.inf]]),
    )
    found = SimpleNamespace(z=np.zeros(1), chi2=0.0, tol=1e-3, point=None)
    spread = SimpleNamespace(deviations=np.array([deviation]))
    return profile.profiled(model, found, spread, 1.0, 0, 0.95)


@pytest.mark.parametrize("reach", [0.7, 1.5])
def test_a_profile_says_where_nothing_could_be_solved(monkeypatch, reach):
    def least(model, z, *rest):
        if z[0] > reach:
            raise sf.SharpfrontError("too far")
        return SimpleNamespace(z=z, chi2=z[0] ** 2, point=None, converged=True)

    found = made_up(monkeypatch, least)
    assert found.low == pytest.approx(-1.96, abs=0.05)
    assert reach <= found.high < 1.96 and len(found.notes) == 1
    assert "could not be solved: it may be longer" in str(found)


@pytest.mark.parametrize("again", [True, False])
def test_a_profile_does_not_trust_fits_that_did_not_end(monkeypatch, again):
    seen = []

    def least(model, z, *rest):
        seen.append(z[0])
        # The first try at a place ends too early, with twice the misfit.
        early = seen.count(z[0]) % 2 == 1 or not again
        return SimpleNamespace(z=z, chi2=(1 + early) * z[0] ** 2, point=None, converged=not early)

    found = made_up(monkeypatch, least)
    if again:
        assert tuple(found) == pytest.approx((-1.96, 1.96), abs=0.05) and not found.notes
    else:
        assert "were not fitted to the end: it may be longer" in str(found)


@pytest.mark.parametrize(("sd", "half"), [(0.01, 2.0), (0.01, 5.0), (0.05, 2.0)])
@pytest.mark.parametrize("top", [1.9, 2.0, 3.0])
def test_a_rise_that_levels_off_slowly_is_followed_to_its_end(monkeypatch, sd, half, top):
    # The root of the rise goes to `top` like z / (z + half), in standard errors.
    def root(z):
        return top * abs(z) / sd / (abs(z) / sd + half)

    def least(model, z, *rest):
        return SimpleNamespace(z=z, chi2=root(z[0]) ** 2, point=None, converged=True)

    low, high = made_up(monkeypatch, least, sd)
    if top < 1.95:
        assert np.isinf([low, high]).all()
    else:
        assert np.isfinite([low, high]).all() and -low == pytest.approx(high)
        assert root(high) == pytest.approx(1.96, abs=0.03)


def test_densities_for_samplers_have_the_right_gradient():
    x, u = layer_data(1e-2, 8)
    result = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=0.02), nu=sf.Free(0.02, positive=True))
    at, slope = result.logp_and_grad({"nu": 1.1e-2})
    above, below = (result.logp_and_grad([1.1e-2 * (1 + h)])[0] for h in (1e-4, -1e-4))
    assert slope[0] == pytest.approx((above - below) / 2.2e-6, rel=1e-3)
    assert result.logp_and_grad([-1.0])[0] == -np.inf and at < 0


@pytest.mark.parametrize("sums", [False, True])
def test_gradients_with_priors_and_several_kinds_of_data(sums):
    # With integrals there is no transposed system, and the gradient comes from all derivatives.
    x = np.linspace(0.1, 0.9, 6)
    sets = [
        sf.Data(x=x, u=(1 - x) * (0.2 + 1.4 * x), sigma=0.02),
        sf.Data(x=x, observe=lambda u, x: u * u.dx, values=0.3 - 0.6 * x, sigma=0.1),
        *([sf.Data(integral=lambda u, x: u, values=0.3, sigma=0.1)] if sums else []),
    ]
    known = sf.Free(0.6, positive=True, prior=sf.Prior(0.7, 0.1))
    result = sf.fit(rod, data=sets, curvature=False, k=known, a=sf.Free(0.1))
    at = np.array([0.8, 0.25])
    _, slope = result.logp_and_grad(at)
    for i, h in enumerate(1e-4 * np.eye(2)):
        above, below = (result.logp_and_grad(at + s * h)[0] for s in (1, -1))
        assert slope[i] == pytest.approx((above - below) / 2e-4, rel=1e-4)


def unused(nu, q):
    return layer(nu)


def observed(**given):
    data = sf.Data(x=0.5, values=[1.0, 1.1], sigma=0.1, **given)
    return sf.fit(layer, data=data, nu=sf.Free(0.1))


def blown(nu):
    if isinstance(nu, float) and nu < 1 and CALLS.append(nu) is None and len(CALLS) > 1:
        raise ProblemError("too thin for us")
    return layer(nu)


CALLS: list[float] = []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda d: sf.fit(layer, data=d, nu=0.1), "Nothing is free"),
        (lambda d: sf.fit(layer, data=d, mu=sf.Free(0.1)), "'mu' is neither"),
        (lambda d: sf.fit(unused, data=d, nu=0.1, q=sf.Free(1.0)), "No residual contains.*'q'"),
        (lambda d: sf.fit(lambda share: layer(share), data=d, share=sf.Free(1.0)), "rename"),
        (lambda d: sf.fit(layer, data=[d, 3], nu=sf.Free(0.1)), "sf.Data"),
        (lambda d: sf.fit(layer, data=sf.Data(x=[0.5], u=[1.0]), nu=sf.Free(0.1)), "do not deter"),
        (lambda d: sf.fit(layer, data=sf.Data(x=[0.5], v=[1.0]), nu=sf.Free(0.1)), "column 'v'"),
        (lambda d: sf.Data(x=[0.5, np.nan], u=[1.0, 1.0]), "is nan at row 1"),
        (lambda d: sf.Data(x=[0.5], observe=lambda u: u), "values="),
        (lambda d: sf.Free(-1.0, positive=True), "start of a free parameter"),
        (lambda d: sf.fit(rod, data=sf.Data(x=0.5, u=0.1, sigma=-1), k=sf.Free(0.1)), "sigma"),
        (lambda d: sf.fit(rod, data=sf.Data(x=0.5, u=0.1, sigma="a"), k=sf.Free(0.1)), "'sigma'"),
        (lambda d: sf.fit(layer, data=[], nu=sf.Free(0.1)), "sf.Data"),
        (lambda d: sf.fit(layer, data=d, nu=(0.1, 0.2)), r"sf.Free\(value, low, high\)"),
        (lambda d: sf.Data(x=[0.5], u=[1.0 + 1j]), "expected numbers"),
        (lambda d: sf.Free(1.0, prior=(1.0, 0.1)), "sf.Prior"),
        (lambda d: observed(observe=lambda u, x: x), "contains no unknown"),
        (lambda d: observed(observe=lambda u, x: u.dx, u=0.1), "column 'u'.*beside observe="),
        (lambda d: observed(integral=lambda u, x: u), "column 'x'.*beside integral="),
        (lambda d: sf.fit(layer, data=d, nu=sf.Free(0.1), options={"tol": 1e-8}), "tol= itself"),
        (
            lambda d: sf.fit(layer, data=d, nu=sf.Free(0.1), options={"toll": 1}),
            "'toll' is neither",
        ),
        (lambda d: sf.fit(blown, data=d, nu=sf.Free(0.1)), "too thin for us"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises((ProblemError, TypeError), match=words):
        call(sf.Data(x=[0.5, 0.9], u=[0.0, 0.1], sigma=0.1))


def test_questions_to_a_fit_that_have_no_answer_are_refused():
    x, u = layer_data(1e-2, 4)
    result = sf.fit(layer, data=sf.Data(x=x, u=u, sigma=0.02), nu=sf.Free(0.02, positive=True))
    for values in ([1, 2], {"c": 2.0}, 0.01, {}):
        with pytest.raises(ProblemError, match="numbers for nu"):
            result.logp_and_grad(values)
    with pytest.raises(DomainError, match="outside"):
        result.band(2.0)
    with pytest.raises(ProblemError, match="below 1"):
        result.plot(data=7)
    with pytest.raises(ProblemError, match="Try name='nu'"):
        result.profile("c")


def test_data_outside_the_domain_are_refused():
    with pytest.raises(DomainError, match=r"outside the domain at \(1\.5\)"):
        sf.fit(layer, data=sf.Data(x=[0.5, 1.5], u=[0.0, 0.1]), nu=sf.Free(0.1))
