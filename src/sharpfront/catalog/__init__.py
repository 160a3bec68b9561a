"""Named problems with exact solutions and published figures.

Each is a name here too: ``catalog.TWIN_LAYER`` is ``catalog.named("twin-layer")``.
"""

from sharpfront.catalog.entry import Entry, listing, named

__all__ = ["Entry", "listing", "named"]


def __getattr__(name: str) -> Entry:
    """Return an entry by its name in capitals."""
    entry = listing().get(name.lower().replace("_", "-")) if name.isupper() else None
    if entry is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return entry
