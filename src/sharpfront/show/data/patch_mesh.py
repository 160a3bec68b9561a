"""Meshes that follow patches: the nodes of each are spread over it as its functions are.

Patches side by side have nodes of their own, so that nothing has to match at hanging faces.
"""

from __future__ import annotations

import numpy as np

from sharpfront.bases.patch import Patch
from sharpfront.bases.patchwork import PatchworkBasis
from sharpfront.show.data.mesh import Mesh, box_mesh, clipped


def patch_mesh(basis: PatchworkBasis, nodes: int) -> Mesh:
    """Return a mesh with about so many nodes; every patch has two along each axis at least."""
    d = basis.dimension
    every = sum(int(np.prod(patch.functions)) for patch in basis.patches)
    finer = (nodes / every) ** (1.0 / d)
    meshes = [(p, _whole(p, finer)) for p in basis.patches if not p.is_empty]
    parts = [mesh if p.cut is None else clipped(mesh, p.has) for p, mesh in meshes]
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    cells = [part.cells + start for part, start in zip(parts, starts, strict=False)]
    return Mesh(np.concatenate([part.points for part in parts]), np.concatenate(cells))


def _whole(patch: Patch, finer: float) -> Mesh:
    """Return a mesh of all of a patch's box, in space."""
    counts = [max(2, round(finer * n)) for n in patch.functions]
    grid = box_mesh([np.linspace(-1.0, 1.0, n) for n in counts])
    at = [m.points(grid.points[:, a]) for a, m in enumerate(patch.maps)]
    return Mesh(patch.in_space(np.stack(at, axis=1)), grid.cells)
