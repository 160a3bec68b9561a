"""A page in the browser to explore problems: sliders, solutions, and how far to trust them.

Needs the extra ``web``. The server answers this machine alone; solves run in processes of their
own that can be cancelled and are limited in time and memory.
"""
