"""Modules that tests load when they use them, so that collecting tests does not."""

import importlib


class Lazy:
    """A module by its name, imported with the first attribute that a test asks for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        # Pytest looks at everything for marks of its own.
        if attribute.startswith(("_", "pytest")):
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
