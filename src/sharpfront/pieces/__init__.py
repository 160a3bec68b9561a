"""Bases of what moves: elements on a line, products in the plane, slab after slab of time."""
