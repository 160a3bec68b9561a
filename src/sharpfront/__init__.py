"""sharpfront."""
