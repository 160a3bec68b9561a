"""Equations, traces and conditions as rows over patches."""
