"""Formulas at arrays of other libraries have the values that NumPy gives them."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.equation.on_device import evaluated, is_known
from sharpfront.equation.values import environment


def source_of(formula):
    """The source of an equation as a graph."""
    problem = sf.Problem(
        sf.Box((0, 1), (0, 1)),
        lambda u, x, y: sf.laplacian(u) - formula(x, y),
        boundary=lambda u, x, y: u,
    )
    return problem.forms[0].source


KNOWN = [
    lambda x, y: np.exp(x) * (6 * np.cos(3 * x + 2 * y) - 12 * np.sin(y)) / (2 - x),
    lambda x, y: (x + 0.5) ** 3 - y**-0.5 + 2.0 ** (x - 1),
    lambda x, y: np.tanh(40 * (x - y)) + np.log1p(x) * np.arctan(y) - abs(x - 0.3) - np.sqrt(y),
]


@pytest.mark.parametrize("library", ["numpy", "torch", "array_api_strict"])
@pytest.mark.parametrize("formula", KNOWN)
def test_formulas_of_common_functions(library, formula):
    xp = pytest.importorskip(library)
    graph = source_of(formula)
    assert is_known(graph)
    points = 0.1 + 0.8 * np.random.default_rng(0).random((50, 2))
    leaves = environment(("x", "y"), points)
    found = evaluated(graph, {key: xp.asarray(v.copy()) for key, v in leaves.items()})
    np.testing.assert_allclose(np.asarray(found), -formula(*points.T), rtol=1e-13)


@pytest.mark.parametrize(
    "formula",
    [lambda x, y: np.where(x < y, 1.0, 2.0), lambda x, y: np.maximum(x, y)],
)
def test_what_other_libraries_may_not_have_is_left_to_the_processor(formula):
    assert not is_known(source_of(formula))
