"""Run every check of the project: lint, format, types, import contracts, documentation, tests.

All of them run even if one fails, so that one call shows everything there is to repair.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
    "docs": [PYTHON, "-m", "mkdocs", "build", "--strict", "--quiet"],
    "tests": [PYTHON, "-m", "pytest", "-n", "auto", "--maxprocesses", "8", *SHARING],
}


def main() -> int:
    """Return 0 if every check passed, else 1."""
    # One BLAS thread per process: the tests run in parallel and their matrices are small.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    # Advertisements of the theme are no warnings.
    environment["NO_MKDOCS_2_WARNING"] = "1"
    failed = []
    for name, command in CHECKS.items():
        print(f"== {name}: {' '.join(command)}", flush=True)
        started = time.monotonic()
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        print(f"-- {name}: {'ok' if code == 0 else 'FAILED'}, {time.monotonic() - started:.0f} s\n")
        if code:
            failed.append(name)
    print(f"Failed: {', '.join(failed)}." if failed else "All checks passed.", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
