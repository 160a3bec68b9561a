"""Files that are either whole or not there: written to a temporary name, then renamed."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharpfront.errors import ProblemError

# The key under which the place of an array is written.
_ARRAY = "array of"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; the result should follow the user's umask.
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file at once."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def text_of(path: Path) -> str:
    """Return a text file of a user, or say why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text in UTF-8"
        raise ProblemError(f"Cannot read {path}: {why}.") from None


def plain(data: Any) -> Any:
    """Return nested data as JSON has them: NaN and infinities become null."""
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(value) for value in data]
    if isinstance(data, float | np.floating):
        return float(data) if math.isfinite(data) else None
    return int(data) if isinstance(data, np.integer) else data


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def flattened(state: Any, name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return nested words and numbers with every array put into `arrays` and its key in place."""
    if isinstance(state, np.ndarray):
        arrays[name] = state
        return {_ARRAY: name}
    if isinstance(state, Mapping):
        return {k: flattened(v, f"{name}.{k}", arrays) for k, v in state.items()}
    if isinstance(state, list | tuple):
        return [flattened(v, f"{name}.{i}", arrays) for i, v in enumerate(state)]
    return state.item() if isinstance(state, np.generic) else state


def unflattened(state: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return what `flattened` was given; tuples come back as lists."""
    if isinstance(state, Mapping):
        if set(state) == {_ARRAY}:
            return arrays[state[_ARRAY]]
        return {k: unflattened(v, arrays) for k, v in state.items()}
    return [unflattened(v, arrays) for v in state] if isinstance(state, list) else state
