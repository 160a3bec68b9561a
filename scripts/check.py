"""Run every check of the project: lint, format, types, import contracts, documentation, tests.

All of them run even if one fails, so that one call shows everything there is to repair.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable
TOOLS = Path(PYTHON).parent
# Whole stretches of files go to one process, so that what a file solves once is solved once.
SHARING = ["--dist", "worksteal"]
CHECKS = {
    "lint": [str(TOOLS / "ruff"), "check", "."],
    "format": [str(TOOLS / "ruff"), "format", "--check", "."],
    "types": [PYTHON, "-m", "mypy"],
    "imports": [str(TOOLS / "lint-imports")],
    # Not --quiet: what is not written down is not counted, and --strict counts what is.
    "docs": [PYTHON, "-m", "mkdocs", "build", "--strict"],
    "tests": [PYTHON, "-m", "pytest", "-n", "auto", "--maxprocesses", "8", *SHARING],
}


def main() -> int:
    """Return 0 if every check passed, else 1."""
    # One BLAS thread per process: the tests run in parallel and their matrices are small.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # Tests start this program hundreds of times, each time compiled anew if nothing is kept.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    # Advertisements of the theme are no warnings.
    environment["NO_MKDOCS_2_WARNING"] = "1"
    # The tests take longest: all else runs beside them, and is shown when it is done.
    *others, last = CHECKS
    running = {name: _started(CHECKS[name], environment) for name in others}
    failed = [] if _shown(last, _started(CHECKS[last], environment, shown=True)) else [last]
    failed += [name for name, check in running.items() if not _shown(name, check)]
    print(f"Failed: {', '.join(failed)}." if failed else "All checks passed.", flush=True)
    return 1 if failed else 0


def _started(
    command: list[str], environment: dict[str, str], shown: bool = False
) -> subprocess.Popen[str]:
    """Start a check, whose words are shown at once or kept."""
    kept = None if shown else subprocess.PIPE
    if shown:
        print(f"== {' '.join(command)}", flush=True)
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=kept, stderr=subprocess.STDOUT, text=True
    )


def _shown(name: str, check: subprocess.Popen[str]) -> bool:
    """Wait for a check, show what it kept and how it went; returns whether it passed."""
    words, _ = check.communicate()
    print(f"{words or ''}-- {name}: {'FAILED' if check.returncode else 'ok'}", flush=True)
    return check.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
