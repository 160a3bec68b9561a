"""Tests, room by room as in src; helpers are imported by their full name."""
