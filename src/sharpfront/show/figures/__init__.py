"""Pictures and films by matplotlib."""
