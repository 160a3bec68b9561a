"""How far moments of traces reach: what varies fast along a face is gone at the next one."""

from __future__ import annotations

import numpy as np

from sharpfront.arrays import Flags, Ints
from sharpfront.bases.total_degree import is_joint, products
from sharpfront.rows.faces import Faces, others

# A moment stays near its face if its degrees, times how thick patches are there beside the length
# of the face along each axis, add up to so much; of cubes from the third degree on. On 64 equal and
# 64 graded cuboids with 1.5, 2.5 and 3.5 an iteration to 1e-10 took 133, 113 and 83 steps and 116,
# 94 and 82, with 0.5 to 0.7 and 1.2 to 1.7 times the moments that are left to the tree.
NEAR = 2.5


def near_moments(faces: Faces, counts: Ints, sizes: Ints, plain: Flags) -> Flags:
    """Tell which moments of traces stay near their face, those of one face after another, (n,).

    Parameters
    ----------
    faces
        The faces between patches.
    counts
        How many moments there are along the axes of each, (faces, d - 1).
    sizes
        How many moments each has in all.
    plain
        Which of them lie inside one chart with nothing that jumps across them. Nothing is said of
        others, of charts that are curved and of boxes that are cut.
    """
    boxes, d = faces.boxes, faces.boxes.maps.shape[1]
    known = plain & ~(boxes.charted | boxes.cut)[faces.pairs].any(axis=1)
    sides = boxes.sides[faces.pairs]
    depth = np.take_along_axis(sides.min(axis=1), faces.axis[:, None], axis=1)
    lengths = np.take_along_axis(sides.max(axis=1), others(d)[faces.axis], axis=1)
    out = np.zeros(int(sizes.sum()), dtype=bool)
    ends = np.cumsum(sizes)
    for k in np.flatnonzero(known).tolist():
        degrees = products(tuple(counts[k].tolist()), is_joint(d))
        near = (depth[k] / lengths[k]) @ degrees >= NEAR
        out[ends[k] - sizes[k] : ends[k]] = np.tile(near, int(sizes[k]) // len(near))
    return out
