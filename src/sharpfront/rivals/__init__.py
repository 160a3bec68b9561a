"""Other methods behind one contract, and races between them."""

from sharpfront.rivals.compare_methods import compare

__all__ = ["compare"]
