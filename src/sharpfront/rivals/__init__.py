"""Other methods behind one contract, and races between them."""

from sharpfront.rivals.comparison import compare

__all__ = ["compare"]
