"""A fit: the thickness of a layer that was measured at twenty places with noise."""

import numpy as np

import sharpfront as sf


def layer(nu):
    """Return the problem -nu u'' + u' = 0, u(0) = 0, u(1) = 1."""
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: -nu * u.dxx + u.dx,
        left=lambda u, x: u,
        right=lambda u, x: u - 1,
    )


def main() -> tuple[float, tuple[float, float]]:
    """Return the thickness that was found, and the interval that holds the true 0.01 at 95 %."""
    noise = np.random.default_rng(1).standard_normal(20)
    x = 1 - 0.01 * np.linspace(0, 4, 20)
    data = sf.Data(x=x, u=np.exp((x - 1) / 0.01) + 0.02 * noise, sigma=0.02)
    found = sf.fit(layer, data=data, nu=sf.Free(0.05, positive=True))
    print(found)
    return float(found.nu), found.interval("nu", 0.95)


if __name__ == "__main__":
    nu, (low, high) = main()
    print(f"nu = {nu:.5f}, between {low:.5f} and {high:.5f}")
