"""What reproduces and what does not: each verdict is decided by the numbers of this very run."""

from __future__ import annotations

from sharpfront.paper.experiments import Results
from sharpfront.paper.findings import claims, notes
from sharpfront.paper.findings.finding import Finding, Verdict

__all__ = ["Finding", "Verdict", "find"]


def find(results: Results) -> list[Finding]:
    """Return every finding that the results allow, in the order of reading."""
    single, double = results.plan.cases
    found = [
        claims.single_baseline(results, single),
        notes.random_centres(results, single),
        claims.double_baseline(results, double),
        claims.adaptive(results, single),
        claims.adaptive(results, double),
        notes.measure(results),
        notes.rows(results),
        claims.mixture(results),
        notes.floor(results),
        claims.conditioning(results),
        claims.collapse(results),
        notes.sensitivity(results),
        notes.own_opinion(results),
        notes.own_methods(results),
    ]
    return [finding for finding in found if finding is not None]
