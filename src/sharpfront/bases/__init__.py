"""Functions on reference cells, and patches: functions o map."""
