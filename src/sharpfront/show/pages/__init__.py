"""Pages that need nothing but themselves: of one solution, and of experiments."""
