"""Solutions in files: arrays, and words as JSON beside them."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

import numpy as np

from sharpfront.arrays import FloatArray
from sharpfront.errors import SolutionFileError
from sharpfront.files import flattened, replacing
from sharpfront.history import packed_record

_FORMAT = "sharpfront solution 2"


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
