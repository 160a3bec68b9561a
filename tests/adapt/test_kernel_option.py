"""``sf.solve(..., kernel=)``: every profile of the table, and one from outside, solves."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.errors import ProblemError, SharpfrontError
from sharpfront.kernels import Gaussian
from sharpfront.kernels.profiles import KERNELS


def wave(k):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: u.dxx + k**2 * np.sin(k * x),
        boundary=lambda u, x: u - np.sin(k * x),
    )


class Broad:
    """A Gaussian twice as wide, by another name: the contract is all that is asked for."""

    name = "broad"

    def matrix(self, points, centres, shapes, orders):
        return Gaussian().matrix(points, centres, shapes / 2, orders)


@pytest.mark.parametrize("k", [3.0, 5.0])
@pytest.mark.parametrize("kernel", [*KERNELS, Broad()], ids=lambda kernel: kernel.name)
def test_every_profile_solves_a_smooth_problem(kernel, k):
    solution = sf.solve(wave(k), kernel=kernel, max_kernels=60)
    x = np.linspace(0, 1, 201)
    assert np.max(np.abs(solution(x) - np.sin(k * x))) < 1e-3
    (basis,) = solution.approximation.bases.values()
    assert basis.kernel is kernel and basis.kernels == 60


def test_by_name_with_the_paper_and_saved(tmp_path):
    small = sf.Paper(kernels=40, components=2, iterations=1, collocation=200)
    solution = sf.solve(wave(3.0), kernel="inverse-multiquadric", adaptor=small)
    solution.save(tmp_path / "wave.npz")
    again = sf.load(tmp_path / "wave.npz")
    assert again(0.3) == solution(0.3)
    assert again.approximation.bases["u"].kernel.name == "inverse-multiquadric"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "gausian"}, "There is no kernel called 'gausian'; known: gaussian"),
        ({"kernel": 3}, "kernel: expected a kernel"),
        (
            {"kernel": "inverse-multiquadric", "adaptor": sf.Resolve()},
            "Resolve makes its functions from",
        ),
    ],
)
def test_refused(options, words):
    with pytest.raises(SharpfrontError, match=words):
        sf.solve(wave(3.0), **options)


def test_not_in_time():
    heat = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x, t: u.dt - u.dxx,
        boundary=lambda u, x, t: u,
        initial=lambda x: np.sin(np.pi * x),
        time=(0, 1),
    )
    with pytest.raises(ProblemError, match="kernel= has no meaning for a problem in time"):
        sf.solve(heat, kernel="inverse-multiquadric")
