"""Matrices of a step, eliminated element by element.

The columns of an element are those of its first node, its bubbles and those of its last node. Only
its own rows hold its bubbles, and those of an end beside it: they are eliminated first, with pivots
among its own rows. What is left of the rows couples nodes, and is a narrow band.
"""

from __future__ import annotations

from typing import Any

from sharpfront.pieces.compiled.compiler import compiled


@compiled
def condensed(block: Any, edge: Any, order: Any, node: int) -> bool:
    """Eliminate the bubbles of an element in place; False if they are singular.

    Parameters
    ----------
    block
        Its rows, (q K, size K): afterwards factors, and what is left of the last rows.
    edge
        Rows of an end beside it, (rows, size K), among which is no pivot.
    order
        Which row comes where, (q K,); written here.
    node
        Columns of a node.
    """
    rows, columns = block.shape
    for i in range(rows):
        order[i] = i
    for i in range(rows - node):
        at = node + i
        best, chosen = magnitude(block[i, at]), i
        for r in range(i + 1, rows):
            size = magnitude(block[r, at])
            if size > best:
                best, chosen = size, r
        if not best > 0.0:
            return False
        if chosen != i:
            order[i], order[chosen] = order[chosen], order[i]
            for c in range(columns):
                kept = block[i, c]
                block[i, c] = block[chosen, c]
                block[chosen, c] = kept
        over = 1.0 / block[i, at]
        _cleared(block, block, i + 1, i, node, over)
        _cleared(block, edge, 0, i, node, over)
        block[i, at] = over
    return True


@compiled
def magnitude(value: Any) -> Any:
    """Return how large a number is, real or complex, without a root."""
    return abs(value.real) + abs(value.imag)


@compiled
def _cleared(block: Any, others: Any, start: int, i: int, node: int, over: Any) -> None:
    """Take row i of an element off other rows, by its bubble."""
    columns, at = block.shape[1], node + i
    for r in range(start, len(others)):
        share = others[r, at] * over
        others[r, at] = share
        for c in range(node):
            others[r, c] -= share * block[i, c]
        for c in range(at + 1, columns):
            others[r, c] -= share * block[i, c]


@compiled
def banded(band: Any, below: int, above: int, pivots: Any) -> bool:
    """Factor a band in place, (size, 2 below + above + 1) by column; False if it is singular."""
    size, middle, last = len(band), below + above, 0
    for j in range(size):
        left = min(below, size - 1 - j)
        best, chosen = magnitude(band[j, middle]), 0
        for i in range(1, left + 1):
            if magnitude(band[j, middle + i]) > best:
                best, chosen = magnitude(band[j, middle + i]), i
        if not best > 0.0:
            return False
        pivots[j] = chosen
        last = max(last, min(j + above + chosen, size - 1))
        if chosen:
            for c in range(j, last + 1):
                at = middle + j - c
                kept = band[c, at]
                band[c, at] = band[c, at + chosen]
                band[c, at + chosen] = kept
        over = 1.0 / band[j, middle]
        band[j, middle] = over
        for i in range(middle + 1, middle + left + 1):
            band[j, i] *= over
        for c in range(j + 1, last + 1):
            at = middle + j - c
            share = band[c, at]
            if share != 0.0:
                for i in range(1, left + 1):
                    band[c, at + i] -= share * band[j, middle + i]
    return True


@compiled
def swept(band: Any, below: int, above: int, pivots: Any, right: Any) -> None:
    """Solve by the factors of a band, in place."""
    size, middle = len(band), below + above
    for j in range(size):
        at = j + pivots[j]
        share = right[at]
        if at != j:
            right[at] = right[j]
            right[j] = share
        for i in range(1, min(below, size - 1 - j) + 1):
            right[j + i] -= share * band[j, middle + i]
    for j in range(size - 1, -1, -1):
        share = right[j] * band[j, middle]
        right[j] = share
        for i in range(max(0, j - middle), j):
            right[i] -= share * band[j, middle - j + i]
