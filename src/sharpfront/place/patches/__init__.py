"""Patches: the first ones, how their weights fall, where they are split or given more functions."""
