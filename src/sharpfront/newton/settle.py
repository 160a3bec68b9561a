"""How Newton's method goes on the kernels there are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sharpfront.errors import Outcome, OutcomeKind

# Newton steps on one set of kernels.
MOST = 12
# A correction that shrinks by less than this no longer converges as Newton's method does.
SLOW = 0.5
# Corrections below this that no longer shrink are rounding.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Progress:
    """Newton's corrections so far.

    Parameters
    ----------
    changes
        Relative sizes of the corrections on the kernels of now.
    steps
        All corrections.
    """

    changes: tuple[float, ...] = ()
    steps: int = 0

    @property
    def last(self) -> float:
        """The last correction."""
        return self.changes[-1] if self.changes else float("inf")

    def after(self, change: float) -> Progress:
        """Return the progress with one more correction."""
        return Progress((*self.changes, change), self.steps + 1)

    def renewed(self) -> Progress:
        """Return the progress on other kernels."""
        return replace(self, changes=())

    def stuck(self) -> Outcome | None:
        """Return why another step on the same kernels is of no use; None if it is."""
        slow = [b > SLOW * a for a, b in zip(self.changes, self.changes[1:], strict=False)]
        if len(self.changes) < MOST and not all(slow[-2:] or [False]):
            return None
        shown = ", ".join(f"{c:.1e}" for c in self.changes[-6:])
        if self.last < ROUNDING:
            return Outcome(OutcomeKind.STALLED, f"Newton's last corrections were {shown}.")
        if len(self.changes) < MOST:
            return None
        return Outcome(OutcomeKind.NEWTON, f"The last corrections were {shown}.")
