"""A march between two slabs as words and arrays, from which it goes on to the same bits.

Factored systems are not written: what they were made from is, and they are made again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.evolve.plane.defect import error_system
from sharpfront.evolve.plane.follow import Lean, Rates
from sharpfront.evolve.plane.galerkin import Galerkin
from sharpfront.evolve.plane.look import AxesLayout
from sharpfront.evolve.plane.march import March, functions_of
from sharpfront.evolve.plane.slab import SlabFactors, factored
from sharpfront.evolve.plane.statement import Statement
from sharpfront.pieces.plane.moving import AxisMap, components
from sharpfront.pieces.plane.product import Orders, Product

Statements = Mapping[Orders, Statement]


def packed(march: March) -> dict[str, Any]:
    """Return a march as words and arrays."""
    words: dict[str, Any] = {
        "t": march.t,
        "dt": march.dt,
        "functions": _packed_functions(march.layout, march.product),
        "weights": march.weights,
        "slope": march.slope,
        "error": march.error,
        "lost": march.lost,
        "placed": [list(lean) for lean in march.placed],
        "size": march.size,
        "since": march.since,
        "rate": march.rate if np.isfinite(march.rate) else -1.0,
    }
    if march.before is not None:
        words["before"] = [[list(rates) for rates in march.before[0]], march.before[1]]
    if march.factors is not None:
        f = march.factors
        made_from = [_packed_galerkin(f.galerkin), f.weights, f.rates, f.dt]
        words["factors"] = made_from
    if march.errors is not None:
        e = march.errors
        words["errors"] = [_packed_galerkin(e.galerkin), e.states, e.dt]
    return words


def unpacked(words: Mapping[str, Any], statements: Statements) -> March:
    """Return the march that `packed` was given."""
    layout, product = _functions(words["functions"])
    before, factors, errors = words.get("before"), words.get("factors"), words.get("errors")
    rate = float(words["rate"])
    return March(
        float(words["t"]),
        float(words["dt"]),
        layout,
        product,
        np.asarray(words["weights"]),
        np.asarray(words["slope"]),
        np.asarray(words["error"]),
        float(words["lost"]),
        (Lean(*_arrays(words["placed"][0])), Lean(*_arrays(words["placed"][1]))),
        int(words["size"]),
        float(words["since"]),
        ((Rates(*_arrays(before[0][0])), Rates(*_arrays(before[0][1]))), float(before[1]))
        if before
        else None,
        _factors(factors, statements) if factors else None,
        error_system(_galerkin(errors[0], statements), np.asarray(errors[1]), float(errors[2]))
        if errors
        else None,
        rate if rate >= 0 else np.inf,
    )


def _arrays(values: Any) -> list[FloatArray]:
    return [np.asarray(v, dtype=float) for v in values]


def _packed_galerkin(galerkin: Galerkin) -> list[Any]:
    square = galerkin.square
    return [galerkin.start, _packed_functions(AxesLayout(square.axes, square.maps), square.product)]


def _galerkin(words: Any, statements: Statements) -> Galerkin:
    layout, product = _functions(words[1])
    stated = statements[layout.axes]
    space = functions_of(stated.problem.domain, layout, product)
    return Galerkin(stated, space, float(words[0]))


def _packed_functions(layout: AxesLayout, product: Product) -> dict[str, Any]:
    return {
        "axes": list(layout.axes),
        "shape": list(product.shape),
        "stretches": [[m.low, m.high, m.pivot] for m in layout.maps],
        "components": [m.moving.table() for m in layout.maps],
    }


def _factors(words: Any, statements: Statements) -> SlabFactors:
    weights, rates = _arrays(words[1:3])
    return factored(_galerkin(words[0], statements), weights, rates, float(words[3]))


def _functions(words: Mapping[str, Any]) -> tuple[AxesLayout, Product]:
    maps = [
        AxisMap(float(ends[0]), float(ends[1]), float(ends[2]), components(np.asarray(table)))
        for ends, table in zip(words["stretches"], words["components"], strict=True)
    ]
    axes, shape = ((int(v[0]), int(v[1])) for v in (words["axes"], words["shape"]))
    return AxesLayout(axes, (maps[0], maps[1])), Product(shape)
