"""Solutions in files: arrays, and words as JSON beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.bases.levels import LevelsInTime
from sharpfront.bases.sum_basis import JoinedBasis, states_of_parts
from sharpfront.checks import explained, file_path
from sharpfront.errors import Outcome, OutcomeKind, SolutionFileError
from sharpfront.files import flattened, replacing, unflattened
from sharpfront.geometry import restore_domain
from sharpfront.history import packed_record, unpacked_record
from sharpfront.kernels.basis import Basis, restore
from sharpfront.solution.approximation import Approximation
from sharpfront.solution.field import Estimate
from sharpfront.solution.solution import Solution

_FORMAT = "sharpfront solution 4"


def write(path: Path, solution: Any) -> None:
    """Write everything needed to evaluate a solution, under a temporary name first."""
    arrays, meta = _packed(solution)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, meta=np.array(json.dumps(meta)), **arrays)


def _packed(solution: Any) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    arrays: dict[str, FloatArray] = {}
    bases: dict[str, dict[str, Any]] = {}
    for unknown, basis in solution.approximation.bases.items():
        words = basis.state()
        for key in [k for k, v in words.items() if isinstance(v, np.ndarray)]:
            arrays[f"basis.{unknown}.{key}"] = words.pop(key)
        arrays[f"weights.{unknown}"] = solution.approximation.weights[unknown]
        bases[unknown] = words
    meta = {
        "format": _FORMAT,
        "coordinates": solution.approximation.coordinates,
        "bases": bases,
        "domain": flattened(solution.domain.state(), "domain", arrays),
        "statement": repr(solution.problem) if solution.problem else "",
        "estimate": asdict(solution.estimate),
        "outcome": astuple(solution.outcome),
        "tol": solution.tol,
        "diagnostics": dict(solution.diagnostics),
        "checkpoint": flattened(dict(solution.checkpoint or {}), "checkpoint", arrays),
        "history": [packed_record(record) for record in solution.history],
    }
    return arrays, meta


def read(path: Path) -> tuple[dict[str, FloatArray], dict[str, Any]]:
    """Return the arrays and words of a solution."""
    if not path.exists() and path.with_name(path.name + ".npz").exists():
        path = path.with_name(path.name + ".npz")
    if not path.exists():
        raise SolutionFileError(f"There is no file {path}.")
    if not is_zipfile(path):
        raise SolutionFileError(f"{path} is not a solution file, as solution.save writes them.")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files if name != "meta"}
            meta = json.loads(str(file["meta"]))
    except Exception as error:
        raise SolutionFileError(f"{path} is not a solution file: {error}.") from error
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        found = meta.get("format") if isinstance(meta, dict) else None
        raise SolutionFileError(f"{path} has the format {found!r}; this version reads {_FORMAT!r}.")
    return arrays, meta


@explained('sf.load("layer.npz")')
def load(path: str | Path) -> Solution:
    """Read a solution that `Solution.save` wrote; needs none of the user's code."""
    file = file_path(path, "path", SolutionFileError)
    arrays, meta = read(file)
    try:
        return _unpacked(arrays, meta)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SolutionFileError(
            f"{file} is a damaged solution file: {type(error).__name__}: {error}. "
            "Save the solution again, or solve the problem again."
        ) from error


def _unpacked(arrays: dict[str, FloatArray], meta: dict[str, Any]) -> Solution:
    bases, weights = {}, {}
    for unknown, words in meta["bases"].items():
        prefix = f"basis.{unknown}."
        own = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        bases[unknown] = _restored(words | own)
        weights[unknown] = arrays[f"weights.{unknown}"]
    return Solution(
        Approximation(tuple(meta["coordinates"]), bases, weights),
        restore_domain(unflattened(meta["domain"], arrays)),
        Estimate(**meta["estimate"]),
        Outcome(OutcomeKind(meta["outcome"][0]), *meta["outcome"][1:]),
        float(meta["tol"]),
        tuple(unpacked_record(words) for words in meta["history"]),
        meta["diagnostics"],
        checkpoint=unflattened(meta["checkpoint"], arrays) or None,
    )


def _restored(state: dict[str, Any]) -> Basis:
    if state["type"] == "joined":
        return JoinedBasis(tuple(_restored(part) for part in states_of_parts(state)))
    if state["type"] == "levels":
        parts = tuple(_restored(part) for part in states_of_parts(state))
        return LevelsInTime(np.asarray(state["times"]), parts, np.asarray(state["degrees"]))
    # Loaded when a file is read.
    from sharpfront.bases.in_time import restore_in_time
    from sharpfront.bases.line_basis import restore_line
    from sharpfront.bases.patchwork import restore_patchwork
    from sharpfront.pieces.slabs import restore_slabs

    makers: dict[str, Callable[[dict[str, Any]], Basis]]
    makers = {"pieces": restore_line, "patchwork": restore_patchwork}
    makers |= {"patchwork in time": restore_in_time, "slabs": restore_slabs}
    return makers.get(state["type"], restore)(state)
