"""Interfaces: a wall of brick and insulation, with a gap between them that resists the heat."""

import numpy as np

import sharpfront as sf


def main() -> tuple[float, float]:
    """Return the heat that passes the wall, and what its resistances in a row let pass.

    (k u')' = 0 with k = 1 in brick, 0.04 in insulation; the temperature falls by 0.5 times the
    flux across the gap at x = 0.7.
    """
    brick, insulation, gap = 1.0, 0.04, 0.5
    wall = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: (np.where(x < 0.7, brick, insulation) * u.dx).dx,
        left=lambda u, x: u - 20,
        right=lambda u, x: u,
        # What the jump equals is taken from above, where there is insulation.
        conditions=[sf.jump(lambda u, x: u, x=0.7, equals=lambda u, x: gap * insulation * u.dx)],
    )
    solution = sf.solve(wall)
    print(solution)
    passing = -brick * float(solution.d("x")(0.2))
    return passing, 20 / (0.7 / brick + gap + 0.3 / insulation)


if __name__ == "__main__":
    found, expected = main()
    print(f"heat that passes: {found:.9f}, by resistances in a row {expected:.9f}")
