"""What is no region, and what is no name, is refused with the reason."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.geometry.shape_cases import CUBE, SQUARE

from sharpfront.errors import DomainError
from sharpfront.geometry import Ball, Box, Combination, Disk, HalfSpace, Interval, restore_domain

HALF = HalfSpace((0, 0), (1, 0))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Disk((0, 0), 0), "radius: expected a positive, finite number, got 0"),
        (lambda: Ball((0, 0, 0), -1), "got -1"),
        (lambda: Disk((0, 0), np.nan), "got nan"),
        (lambda: Disk((0, 0), np.inf), "got inf"),
        (lambda: Disk((0, 0), "r"), "radius: expected a positive, finite number, got the text 'r'"),
        (lambda: Disk((0, np.nan), 1), "centre: expected a row of two finite numbers"),
        (lambda: Disk((0, 0, 0), 1), "two coordinates, got 3. Try Ball"),
        (lambda: Ball((0,), 1), "two finite numbers or more"),
        (lambda: Ball(0, 1), "row of two finite numbers"),
        (lambda: Ball("ab", 1), "row of two finite numbers"),
        (lambda: HalfSpace((0, 0), (0, 0)), "must not be zero"),
        (lambda: HalfSpace((0, 0), (0, 0, 1)), "got 2 and 3"),
        (lambda: HalfSpace((0,) * 4, (1,) * 4), "got 4 and 4"),
        (lambda: HALF.sample(5), "unbounded and cannot be sampled; cut it with &"),
        (lambda: HALF.boundary("surface", 5), "unbounded"),
        (lambda: (HALF | Disk((0, 0), 1)).sample(5), "unbounded and cannot be sampled"),
        (lambda: (HALF & HalfSpace((0, 0), (0, 1))).measure, "unbounded"),
        (lambda: SQUARE - SQUARE, "is empty: no point of the box"),
        (lambda: SQUARE & Disk((5, 5), 1), "is empty"),
        (lambda: SQUARE & Box((1, 2), (0, 1)), "is empty"),
        (lambda: Disk((0, 0), 1) & Disk((1.9, 1.9), 1), "is empty"),
        (lambda: CUBE - Ball((0.5, 0.5, 0.5), 2), "is empty"),
        (lambda: SQUARE - CUBE, "same dimension.*got Box.* in 2 and Box.* in 3"),
        (lambda: Interval(0, 1) | Interval(2, 3), "solve on each interval by itself"),
        (lambda: Combination("xor", SQUARE, Disk((0, 0), 1)), "got 'xor'"),
        (lambda: Box((0, 1), periodic=("y",)), "periodic, x, got \\('y',\\)"),
        (lambda: SQUARE.named("in flow"), "word that Python can use.*got 'in flow'"),
        (lambda: SQUARE.named("1st"), "got '1st'"),
        (lambda: SQUARE.named("class"), "got 'class'"),
        (lambda: SQUARE.named(3), "got 3"),
        (lambda: SQUARE.named("boundary"), "'boundary' has a meaning of its own"),
        (lambda: SQUARE.part("initial", lambda x, y: x < 1), "meaning of its own"),
        (lambda: SQUARE.part("left", lambda x, y: x < 0.1), "has a part 'left' already"),
        (lambda: SQUARE.part("lid", lambda x, y: y > 2), "true nowhere"),
        (lambda: SQUARE.part("lid", lambda x: x > 2), "arrays of x, y and return true"),
        (lambda: SQUARE.part("lid", lambda x, y: [True, False]), "true or false for each"),
        (lambda: Interval(0, 1).part("end", lambda x: x > 0.5), "names already, left and right"),
        (lambda: Disk((0, 0), 1).boundary("surfac"), "Did you mean 'surface'"),
        (lambda: Disk((0, 0), 1).boundary_measure("top"), "its parts are surface"),
        (lambda: Disk((0, 0), 1).sample(-1), "whole number, 0 or more, got -1"),
        (lambda: Disk((0, 0), 1).boundary("surface", -2), "whole number, 0 or more, got -2"),
        (lambda: Disk((0, 0), 1).sample(5, "sobol"), "'random', 'quasi' or 'grid', got 'sobol'"),
        (lambda: restore_domain({"kind": "torus"}), "no domain of the kind 'torus'"),
        (lambda: restore_domain({}), "kind None"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(DomainError, match=message):
        make()


def test_slivers_are_no_empty_regions():
    sliver = Disk((0, 0), 1) & Disk((1.9999, 0), 1)
    half = 5e-5
    angle = np.arccos(1 - half)
    assert sliver.measure == pytest.approx(2 * angle - np.sin(2 * angle), rel=1e-6)
    points = sliver.sample(20)
    assert sliver.contains(points).all()


def test_heavy_packages_wait_until_they_are_needed():
    check = (
        "import sys, sharpfront as sf; sf.Box((0, 1), (0, 1)) - sf.Disk((0, 0), 0.5); "
        "assert not {'shapely', 'trimesh', 'igl', 'contourpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True)
