"""Strips along curves, for layers at the boundary and for data that jump or are narrow inside."""
