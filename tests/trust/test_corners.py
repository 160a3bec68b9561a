"""What no number of kernels resolves is called by its name."""

import math

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.trust.corners import contradicting_sides

SQUARE = sf.Box((0, 1), (0, 1))


@pytest.mark.parametrize("domain", [SQUARE, SQUARE - sf.Box((0.4, 1), (0.6, 1))])
@pytest.mark.parametrize(("part", "jump"), [("left", 1.0), ("bottom", -3e-2)])
def test_data_that_contradict_each_other_are_named_with_their_values(domain, part, jump):
    problem = sf.Problem(
        domain,
        # Where unknowns meet in lower terms only, functions jump with them.
        lambda u, v, x, y: (-sf.laplacian(u) + 0.2 * v.dxx, -sf.laplacian(v) - 1),
        boundary=lambda u, v, x, y: (u - x * y, v),
        **{part: lambda u, v, x, y: (u - x * y - jump, v)},
    )
    solution = sf.solve(problem, tol=1e-3)
    assert solution.outcome.kind == "contradicting data"
    assert f"on {part} gives" in solution.outcome.detail
    assert "max_kernels" not in str(solution.outcome)


def test_data_that_agree_where_they_meet_are_no_contradiction():
    problem = sf.Problem(
        SQUARE,
        sf.laplacian,
        boundary=lambda u, x, y: u - x,
        left=lambda u, x, y: u - 0.1 * np.sin(np.pi * y),
    )
    assert sf.solve(problem, tol=1e-2).converged


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dimension", [3, 4])
def test_on_a_box_with_more_axes_they_are_named_too(dimension, seed):
    """One side of a drawn box is off by a jump; sides that agree along their edges are not."""
    rng = np.random.default_rng([dimension, seed])
    box = sf.Box(*[(float(a), float(a + b)) for a, b in rng.uniform(0.5, 1.5, (dimension, 2))])
    part, rates = str(rng.choice(list(box.parts))), rng.uniform(-1, 1, dimension)

    def stated(jump):
        def data(x):
            return np.sin(sum(r * c for r, c in zip(rates, x, strict=True)))

        def bump(x):
            """Nothing on the edges of the side, up to one inside it."""
            ends = zip(x, *box.bounds, strict=True)
            shares = [np.sin(np.pi * (c - a) / (b - a)) for c, a, b in ends]
            del shares[list(box.parts).index(part) // 2]
            return math.prod(shares)

        conditions = dict.fromkeys(box.parts, lambda u, *x: u - data(x))
        conditions[part] = lambda u, *x: u - data(x) - jump - bump(x)
        return sf.Problem(box, lambda u, *x: sf.laplacian(u), **conditions)

    found = contradicting_sides(stated(rng.choice([-1, 1]) * rng.uniform(0.02, 1)), 1e-3)
    assert found is not None and f"on {part} gives" in found.detail
    assert contradicting_sides(stated(0.0), 1e-9) is None
    assert contradicting_sides(stated(1e-3), 1e-3) is None
