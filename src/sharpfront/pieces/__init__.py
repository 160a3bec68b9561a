"""Bases of what moves: elements on a line, slab after slab of time."""
