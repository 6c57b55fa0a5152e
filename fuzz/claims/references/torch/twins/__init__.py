"""Runs a reference with a set beside each of its numbers: the exact value in float64, and a radius."""
