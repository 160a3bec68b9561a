"""A rod heated in its middle tenth, cooled by air at its right end."""

import numpy as np

import sharpfront as sf


def main() -> tuple[float, float]:
    """Return the heat that leaves through both ends, and the heat that is put in.

    -u'' = 100 for 0.4 < x < 0.5 and 0 elsewhere; u(0) = 0; u'(1) = -8 u(1).
    """
    heated = sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -u.dxx - np.where((x > 0.4) & (x < 0.5), 100, 0),
        left=lambda u, x: u,
        right=lambda u, x: u.dn + 8 * u,
    )
    solution = sf.solve(heated)
    print(solution)
    slope = solution.d("x")
    return float(slope(0.0) - slope(1.0)), 100 * 0.1


if __name__ == "__main__":
    leaving, entering = main()
    print(f"heat leaving {leaving:.9f}, entering {entering:.9f}")
