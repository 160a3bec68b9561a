"""A run in products between two slabs as words and arrays, from which it goes on to the same bits.

Factored systems are not written: what they were made from is, and they are made again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.product import Product
from sharpfront.evolve.fingerprint import require_same
from sharpfront.evolve.patchwork.checkpoint import kept_steps
from sharpfront.evolve.patchwork.system import PlaneSystem
from sharpfront.evolve.plane.component_motion import ComponentShift, Rates
from sharpfront.evolve.plane.defect import error_system
from sharpfront.evolve.plane.galerkin import Galerkin
from sharpfront.evolve.plane.run import ProductState, functions_of
from sharpfront.evolve.plane.slab import SlabFactors, factored
from sharpfront.evolve.run_log import RunLog, packed_log, unpacked_log
from sharpfront.maps import MovingSquare, restored_square
from sharpfront.problem import Problem
from sharpfront.solution import Solution

# What of a state is a number or an array.
_PLAIN = ("t", "dt", "weights", "slope", "error", "lost", "limited")


def packed_products(log: RunLog, problem: Problem) -> dict[str, Any]:
    """Return a run as words and arrays."""
    return packed_log(log, problem) | {"in products": _words_of(log.state)}


def resumed_in_products(system: PlaneSystem, solution: Solution) -> RunLog:
    """Return the run that a solution has left behind."""
    saved = solution.checkpoint
    require_same(system.problem, saved)
    assert saved is not None and system.problem.time is not None
    state = _state_of(saved["in products"], system)
    return unpacked_log(solution, system.problem.time[1], state, kept_steps(solution))


def _words_of(march: ProductState) -> dict[str, Any]:
    words: dict[str, Any] = {name: getattr(march, name) for name in _PLAIN}
    words |= {
        "functions": _packed_functions(march.layout, march.product),
        "placed": [list(lean) for lean in march.placed],
        "rate": march.rate if np.isfinite(march.rate) else -1.0,
    }
    if march.before is not None:
        words["before"] = [[list(rates) for rates in march.before[0]], march.before[1]]
    if march.factors is not None:
        f = march.factors
        words["factors"] = [_packed_galerkin(f.galerkin), f.weights, f.rates, f.dt]
    if march.errors is not None:
        e = march.errors
        words["errors"] = [_packed_galerkin(e.galerkin), e.states, e.dt]
    return words


def _state_of(words: Mapping[str, Any], system: PlaneSystem) -> ProductState:
    layout, product = _functions(words["functions"])
    before, factors, errors = words.get("before"), words.get("factors"), words.get("errors")
    rate = float(words["rate"])
    kinds: dict[str, Callable[[Any], Any]] = {"limited": bool}
    kinds |= dict.fromkeys(("weights", "slope", "error"), _array)
    plain = {name: kinds.get(name, float)(words[name]) for name in _PLAIN}
    return ProductState(
        **plain,
        layout=layout,
        product=product,
        placed=(
            ComponentShift(*_arrays(words["placed"][0])),
            ComponentShift(*_arrays(words["placed"][1])),
        ),
        before=((Rates(*_arrays(before[0][0])), Rates(*_arrays(before[0][1]))), float(before[1]))
        if before
        else None,
        factors=_factors(factors, system) if factors else None,
        errors=error_system(_galerkin(errors[0], system), _array(errors[1]), float(errors[2]))
        if errors
        else None,
        rate=rate if rate >= 0 else np.inf,
    )


def _array(values: Any) -> FloatArray:
    return np.asarray(values, dtype=float)


def _arrays(values: Any) -> list[FloatArray]:
    return [_array(v) for v in values]


def _packed_galerkin(galerkin: Galerkin) -> list[Any]:
    square = galerkin.square
    return [galerkin.start, _packed_functions(square.layout, square.product)]


def _galerkin(words: Any, system: PlaneSystem) -> Galerkin:
    space = functions_of(system.problem.domain, *_functions(words[1]))
    return Galerkin(system, space, float(words[0]))


def _packed_functions(layout: MovingSquare, product: Product) -> dict[str, Any]:
    return {"square": layout.state(), "shape": list(product.shape)}


def _factors(words: Any, system: PlaneSystem) -> SlabFactors:
    weights, rates = _arrays(words[1:3])
    return factored(_galerkin(words[0], system), weights, rates, float(words[3]))


def _functions(words: Mapping[str, Any]) -> tuple[MovingSquare, Product]:
    first, second = words["shape"]
    return restored_square(words["square"]), Product((int(first), int(second)))
