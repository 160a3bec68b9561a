"""A problem as mathematics on a page, and as the Python that states it again."""
