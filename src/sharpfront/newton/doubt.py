"""What speaks against a solution of Newton's method, in its terms."""

from __future__ import annotations

from sharpfront.errors import Outcome, OutcomeKind


def explained(refusal: Outcome | None) -> Outcome | None:
    """Return a near-singular outcome in terms of a nonlinear problem."""
    if refusal is None or refusal.kind is not OutcomeKind.NEAR_SINGULAR:
        return refusal
    return Outcome(
        refusal.kind,
        f"{refusal.detail} This is the linearisation about the solution that Newton's method "
        "found: it stands at a fold, or holds a layer whose position the data do not determine.",
    )
