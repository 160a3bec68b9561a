"""A heated square plate with a hole: cold at two sides, insulated at two, cooled in the hole."""

import numpy as np

import sharpfront as sf


def main() -> tuple[float, float]:
    """Return the heat that leaves through the boundary, and the heat that is put in.

    -lap u = 1 on the plate; u = 0 on its left and right side; nothing passes its bottom and top;
    around the hole heat leaves at the rate 2 u, so that u_n + 2 u = 0 along the outward normal.
    """
    plate = sf.Box((0, 1), (0, 1)) - sf.Disk((0.5, 0.5), 0.2).named("hole")
    problem = sf.Problem(
        plate,
        lambda u, x, y: -sf.laplacian(u) - 1,
        boundary=lambda u, x, y: u,
        bottom=lambda u, x, y: u.dn,
        top=lambda u, x, y: u.dn,
        hole=lambda u, x, y: u.dn + 2 * u,
    )
    solution = sf.solve(problem, tol=1e-3)
    print(solution)
    y = (np.arange(400) + 0.5) / 400
    sides = np.mean(solution.d("x")(0.0, y) - solution.d("x")(1.0, y))
    rim = plate.boundary("hole", 400).points  # spread evenly
    hole = 2 * np.pi * 0.2 * np.mean(2 * solution(*rim.T))
    return float(sides + hole), plate.measure


if __name__ == "__main__":
    leaving, entering = main()
    print(f"heat leaving {leaving:.5f}, entering {entering:.5f}")
