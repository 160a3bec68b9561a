"""Published problems in the plane with straight sides, as rows for ``engine.py``."""
