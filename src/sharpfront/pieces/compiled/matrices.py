"""Matrices of a step from tangents at the Gauss points, and what solves with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sharpfront.pieces.compiled.compiler import compiled
from sharpfront.pieces.compiled.elimination import banded, condensed, swept


@compiled
def assembled(
    found: Any,
    terms: Any,
    over: Any,
    speeds: Any,
    stretch: Any,
    scales: Any,
    across: Any,
    mixed: int,
    stage: int,
    out: Any,
) -> None:
    """Write d residual / d rates and / d levels by element, (2, N, q K, size K).

    Parameters
    ----------
    found
        Tangents, (terms, q N).
    terms
        Equation, unknown, order along x and along t of each, (terms, 4).
    over
        h^-k, (orders + 1, S, N).
    speeds, stretch
        Velocities of the Gauss points, (q, N), and how fast elements become longer, (N,).
    scales
        Of the functions, and their rates, (2, size, S, N) or, of what is still, (2, size, 1, N).
    across
        Functions at the Gauss points, (q, orders + 1, size).
    mixed
        Derivatives along x that a rate may have.
    stage
        At which of S moments.
    """
    q, orders, _ = across.shape
    count, elements = out.shape[2] // q, out.shape[1]
    at = min(stage, scales.shape[2] - 1)
    levels, rates = np.empty((count, count, orders)), np.empty((count, count, mixed + 1))
    for e in range(elements):
        for g in range(q):
            levels[:] = 0.0
            rates[:] = 0.0
            for n in range(len(terms)):
                row, unknown, space = terms[n, 0], terms[n, 1], terms[n, 2]
                own = found[n, g * elements + e] * over[space, stage, e]
                if terms[n, 3] == 0:
                    levels[row, unknown, space] += own
                    continue
                rates[row, unknown, space] += own
                levels[row, unknown, space + 1] -= own * speeds[g, e] * over[1, stage, e]
                levels[row, unknown, space] -= space * stretch[e] * over[1, stage, e] * own
            _put(levels, rates, across, g, scales, at, e, out)


@compiled
def _put(
    levels: Any, rates: Any, across: Any, g: int, scales: Any, moment: int, e: int, out: Any
) -> None:
    """Write the rows of Gauss point g of element e."""
    count, _, orders = levels.shape
    for j in range(across.shape[2]):
        for row in range(count):
            for unknown in range(count):
                held, stiff = 0.0, 0.0
                for o in range(rates.shape[2]):
                    held += rates[row, unknown, o] * across[g, o, j]
                for o in range(orders):
                    stiff += levels[row, unknown, o] * across[g, o, j]
                at = j * count + unknown
                out[0, e, g * count + row, at] = held * scales[0, j, moment, e]
                out[1, e, g * count + row, at] = (
                    stiff * scales[0, j, moment, e] + held * scales[1, j, moment, e]
                )


@compiled
def eliminated(
    shares: Any,
    blocks: Any,
    first: Any,
    last: Any,
    rows: Any,
    columns: Any,
    shape: Any,
    out: Any,
) -> bool:
    """Factor share * mass + stiff for each share; False if one is singular.

    Parameters
    ----------
    shares
        Real or complex, (P,).
    blocks
        Mass and stiffness by element, (2, N, q K, size K).
    first, last
        The same of the rows of both ends, (2, rows, size K).
    rows, columns
        Where what is left of an element is in the band of nodes: its first row, (N,), and columns,
        (N, 2 m K).
    shape
        Below, above and size of that band.
    out
        Written: factors of elements (P, N, q K, size K), of rows of ends (P, rows, size K), the
        order of rows (P, N, q K), the band by column (P, size, 2 below + above + 1), its pivots.
    """
    own, edges, order, band, pivots = out
    node, elements, begins = columns.shape[1] // 2, blocks.shape[1], first.shape[1]
    below, above = shape[0], shape[1]
    for p in range(len(shares)):
        share = shares[p]
        for e in range(elements):
            for r in range(blocks.shape[2]):
                for c in range(blocks.shape[3]):
                    own[p, e, r, c] = share * blocks[0, e, r, c] + blocks[1, e, r, c]
        edges[p, :begins] = share * first[0] + first[1]
        edges[p, begins:] = share * last[0] + last[1]
        for e in range(elements):
            start = 0 if e == 0 else begins
            stop = edges.shape[1] if e == elements - 1 else begins
            if not condensed(own[p, e], edges[p, start:stop], order[p, e], node):
                return False
            left = own[p, e, own.shape[2] - node :]
            _laid(band[p], below + above, above, rows[e], columns[e], left)
        _laid(band[p], below + above, above, 0, columns[0], edges[p, :begins])
        _laid(
            band[p], below + above, above, shape[2] - last.shape[1], columns[-1], edges[p, begins:]
        )
        if not banded(band[p], below, above, pivots[p]):
            return False
    return True


@compiled
def _laid(band: Any, middle: int, above: int, row: int, columns: Any, left: Any) -> None:
    """Put what is left of rows of an element into the band of nodes."""
    node = len(columns) // 2
    bubbles = left.shape[1] - 2 * node
    for r in range(len(left)):
        for i in range(2 * node):
            at = columns[i]
            value = left[r, i if i < node else bubbles + i]
            # Rows of ends hold what is zero to rounding farther off.
            if len(band[at]) > middle + row + r - at >= middle - above:
                band[at, middle + row + r - at] = value


@compiled
def substituted(
    factors: Any, p: int, rows: Any, columns: Any, shape: Any, begins: int, right: Any, out: Any
) -> None:
    """Solve system p, of rows (size,), into coefficients (size,); see `eliminated`."""
    own, edges, order = factors[0][p], factors[1][p], factors[2][p]
    (elements, block, _), node = own.shape, columns.shape[1] // 2
    bubbles = block - node
    work, nodal = np.empty((elements, block), right.dtype), np.zeros(shape[2], right.dtype)
    nodal[:begins] = right[:begins]
    ends = len(edges) - begins
    nodal[shape[2] - ends :] = right[len(right) - ends :]
    for e in range(elements):
        for r in range(block):
            value = right[begins + e * block + order[e, r]]
            for i in range(min(r, bubbles)):
                value -= own[e, r, node + i] * work[e, i]
            work[e, r] = value
        for r in range(node):
            nodal[rows[e] + r] = work[e, bubbles + r]
    for r in range(len(edges)):
        e, at = (0, r) if r < begins else (elements - 1, shape[2] - ends + r - begins)
        for i in range(bubbles):
            nodal[at] -= edges[r, node + i] * work[e, i]
    swept(factors[3][p], shape[0], shape[1], factors[4][p], nodal)
    for e in range(elements):
        start = e * block
        for r in range(node):
            out[start + r] = nodal[columns[e, r]]
            if start + block + r < len(out):
                out[start + block + r] = nodal[columns[e, node + r]]
        for i in range(bubbles - 1, -1, -1):
            value = work[e, i]
            for c in range(node):
                value -= own[e, i, c] * nodal[columns[e, c]]
                value -= own[e, i, block + c] * nodal[columns[e, node + c]]
            for c in range(i + 1, bubbles):
                value -= own[e, i, node + c] * out[start + node + c]
            out[start + node + i] = value * own[e, i, node + i]


@compiled
def implicit(
    real: Any, rows: Any, columns: Any, shape: Any, begins: int, right: Any, out: Any
) -> None:
    """Solve the real system for right-hand sides (n, size)."""
    for i in range(len(right)):
        substituted(real, 0, rows, columns, shape, begins, right[i], out[i])


@compiled
def factored(
    found: Any,
    terms: Any,
    over: Any,
    speeds: Any,
    stretch: Any,
    scales: Any,
    across: Any,
    mixed: int,
    stage: int,
    first: Any,
    last: Any,
    real: Any,
    pairs: Any,
    rows: Any,
    columns: Any,
    shape: Any,
) -> Any:
    """Return whether it went well, and factors for the real share and for complex ones.

    See `assembled` and `eliminated` for what is what.
    """
    q, _, size = across.shape
    count, elements = first.shape[3], len(rows)
    blocks = np.empty((2, elements, q * count, size * count))
    assembled(found, terms, over, speeds, stretch, scales, across, mixed, stage, blocks)
    begin = first.reshape(2, first.shape[1], size * count)
    end = last.reshape(2, last.shape[1], size * count)
    one, two = room(real, blocks, begin, end, shape), room(pairs, blocks, begin, end, shape)
    done = eliminated(real, blocks, begin, end, rows, columns, shape, one)
    done = done and eliminated(pairs, blocks, begin, end, rows, columns, shape, two)
    return done, one, two


@compiled
def room(shares: Any, blocks: Any, first: Any, last: Any, shape: Any) -> Any:
    """Return empty arrays for factors."""
    count, (_, elements, block, width) = len(shares), blocks.shape
    below, above, size = shape
    return (
        np.empty((count, elements, block, width), shares.dtype),
        np.empty((count, first.shape[1] + last.shape[1], width), shares.dtype),
        np.empty((count, elements, block), np.int64),
        np.zeros((count, size, 2 * below + above + 1), shares.dtype),
        np.empty((count, size), np.int64),
    )
