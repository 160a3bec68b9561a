"""Samplers of others on the density of a fit: the code of the page, where they are installed."""

import re
from pathlib import Path

import numpy as np
import pytest

import sharpfront as sf

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "fit.md"
BLOCKS = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def rod(k, a):
    return sf.Problem(
        sf.Interval(0, 1),
        lambda u, x: k * u.dxx + 2,
        left=lambda u, x: u - a,
        right=lambda u, x: u,
    )


@pytest.mark.parametrize("package", ["emcee", "pymc"])
def test_the_chain_has_the_deviations_of_the_fit(package):
    pytest.importorskip(package)
    x = np.linspace(0.1, 0.9, 9)
    u = x * (1 - x) / 0.5 + 0.1 * (1 - x) + 0.01 * np.cos(40 * x)
    free = {"k": sf.Free(1.0, positive=True), "a": sf.Free(0.0)}
    result = sf.fit(rod, data=sf.Data(x=x, u=u, sigma=0.02), **free)
    (block,) = (b for b in BLOCKS if f"import {package}" in b)
    names = {"result": result, "np": np}
    exec(block, names)
    chain, stderr = names["chain"], np.array(list(result.stderr.values()))
    assert np.all(np.abs(chain.mean(0) - list(result.values.values())) < stderr)
    assert np.all((0.5 * stderr < chain.std(0)) & (chain.std(0) < 2 * stderr))
