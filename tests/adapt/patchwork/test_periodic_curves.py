"""Periodic boxes with curves inside: strips along these are no periods of the box."""

import numpy as np
import pytest

import sharpfront as sf
from sharpfront.rows.neighbours import faces_of


def _inside(x, y, centre):
    return (x - centre) ** 2 + (y - 0.35) ** 2 < 0.04


def _loaded(centre, periodic):
    held = {"bottom": lambda u, x, y: u, "top": lambda u, x, y: u - 1}
    return sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=periodic),
        lambda u, x, y: (
            -1e-2 * sf.laplacian(u)
            + u.dx
            + 0.3 * u.dy
            + u
            - np.where(_inside(x, y, centre), 1.0, 0.0)
        ),
        **({} if "y" in periodic else held),
    )


def _composite(centre, periodic):
    held = {"bottom": lambda u, x, y: u, "top": lambda u, x, y: u - 1}
    reaction = 1.0 if "y" in periodic else 0.0
    return sf.Problem(
        sf.Box((0, 1), (0, 1), periodic=periodic),
        lambda u, x, y: (
            -sf.div(np.where(_inside(x, y, centre), 10.0, 1.0) * sf.grad(u))
            + reaction * (u - np.sin(2 * np.pi * y))
        ),
        **({} if "y" in periodic else held),
    )


def _middle(patch, contact):
    at = np.empty(2)
    at[contact.axis] = (patch.high if contact.end else patch.low)[contact.axis]
    at[list(contact.rest)] = 0.5 * (np.array(contact.low) + np.array(contact.high))
    return patch.in_space(at[None])[0]


@pytest.mark.parametrize("periodic", [("x",), ("x", "y")])
def test_patches_that_are_joined_touch_up_to_a_period(periodic):
    state = sf.Patches().start(_loaded(0.4, periodic), 1e-2, 0)
    patches = [cell.patch for cell in state.cells]
    faces, _ = faces_of(patches, state.tiling.periods)
    for face in faces:
        if not face.is_oblique:
            gap = np.subtract(*(_middle(patches[c.patch], c) for c in face.contacts))
            assert np.abs(gap - np.round(gap)).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("stated", [_loaded, _composite])
@pytest.mark.parametrize("periodic", [("x",), ("x", "y")])
def test_a_shift_changes_nothing(stated, periodic):
    here, there = (sf.solve(stated(c, periodic), tol=1e-2) for c in (0.5, 0.7))
    x, y = np.meshgrid(np.linspace(0, 0.99, 60), np.linspace(0, 1, 60))
    assert here.converged and there.converged
    assert max(here.kernels, there.kernels) < 6000
    gap = np.abs(here(x, y) - there((x + 0.2) % 1, y)).max()
    assert gap < 2 * (here.error_estimate + there.error_estimate)
