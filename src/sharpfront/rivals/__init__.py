"""Other methods behind one contract, and races between them."""

from sharpfront.rivals.comparing import compare

__all__ = ["compare"]
