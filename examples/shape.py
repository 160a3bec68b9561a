"""A heated square plate with a hole: held at zero outside, cooled by air in the hole."""

import numpy as np

import sharpfront as sf


def main() -> tuple[float, float]:
    """Return the heat that leaves through all parts of the boundary, and the heat that is put in.

    -lap u = 1 on the plate; u = 0 on its right and left side, nothing passes its bottom and top,
    and u_n + 2 u = 0 around the hole, with the derivative along the outward normal.
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
    solution = sf.solve(problem, tol=1e-4)
    print(solution)
    lengths = {"left": 1, "right": 1, "bottom": 1, "top": 1, "hole": 2 * np.pi * 0.2}
    leaving = 0.0
    for part, length in lengths.items():
        on = plate.boundary(part, 2000)  # points spread evenly, and the normals there
        slopes = [solution.d("x")(*on.points.T), solution.d("y")(*on.points.T)]
        leaving -= length * float(np.mean(np.sum(np.stack(slopes, axis=1) * on.normals, axis=1)))
    return leaving, plate.measure


if __name__ == "__main__":
    leaving, entering = main()
    print(f"heat leaving {leaving:.5f}, entering {entering:.5f}")
