"""Why the baseline gives a constant, and which.

Where constants satisfy the equation, kernels without gaps represent them at no cost, and only the
boundary rows u(0) = 0 and u(1) = 1 of weight one are left: the constant c costs c^2 + (1 - c)^2,
least at c = 1/2. Kernels with gaps between them leave a residual A c^2 when they imitate c, and
the least of A c^2 + c^2 + (1 - c)^2 is at c = 1 / (2 + A).
"""

from __future__ import annotations

import numpy as np

from sharpfront.adapt.contract import Proposal
from sharpfront.arrays import blas_threads, to_host
from sharpfront.kernels.assemble import assemble
from sharpfront.problem import Problem

# Heavy enough that the imitation is one at both ends to seven digits.
_PINNED = 1e4


def expected_level(problem: Problem, proposal: Proposal) -> float:
    """Return 1 / (2 + A), A being the squared residual of the best imitation of the constant 1."""
    ends = {condition.part for condition in problem.conditions}
    blocks = assemble(proposal.rows, proposal.bases, problem.coordinates).blocks
    inner = np.concatenate([to_host(block.matrix) for block in blocks if block.label not in ends])
    outer = np.concatenate([to_host(block.matrix) for block in blocks if block.label in ends])
    matrix = np.concatenate([inner, _PINNED * outer])
    target = np.concatenate([np.zeros(len(inner)), np.full(len(outer), _PINNED)])
    with blas_threads(1):
        weights = np.linalg.lstsq(matrix, target, rcond=None)[0]
    return 1 / (2 + float(np.sum((inner @ weights) ** 2)))
