"""Boxes joined by traces, split and enriched where it is needed."""

from sharpfront.adapt.patchwork.adaptor import Patches
from sharpfront.adapt.patchwork.applicability import needs_patches, suits

__all__ = ["Patches", "needs_patches", "suits"]
