"""Figures; each draws exactly what a summary returns."""
